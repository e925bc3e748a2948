import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

/** What stays the same on one machine over boots, new disks and moved folders, and differs on another. */
export type FingerprintFacts = {
  /** Of the installed system. */
  readonly machine_id: string;
  /** Of the board or the virtual machine; only root may read them. */
  readonly product_uuid: string;
  readonly board_serial: string;
  /** Goes in only where nothing better is known. */
  readonly hostname: string;
};

/** What boards say that were never given a number of their own. */
const MEANS_NOTHING = /^(|0+|f+|none|default string|not specified|to be filled by o\.?e\.?m\.?|system serial number)$/i;

/** The same for the same machine. Facts that say nothing are left out, so that many boards do not share one. */
export function fingerprintOf(facts: FingerprintFacts): string {
  const { machine_id, product_uuid, board_serial } = facts;
  const telling = Object.entries({ machine_id, product_uuid, board_serial })
    .map(([name, value]) => [name, value.trim().toLowerCase()] as const)
    .filter(([, value]) => !MEANS_NOTHING.test(value.replaceAll("-", "")));
  const named = telling.length > 0 ? telling : [["hostname", facts.hostname]];
  const text = named.map(([name, value]) => `${name}=${value}`).join("\n");
  return createHash("sha256").update(`berth machine\n${text}`).digest("hex");
}

/**
 * Reads the facts below `root`. `is_root` says whether to look at what only root may read: an agent that sometimes runs
 * as root and sometimes not would otherwise be two machines.
 */
export function readFingerprintFacts({ root, is_root }: { root: string; is_root: boolean }): FingerprintFacts {
  const dmi = (name: string) => (is_root ? readFirst(join(root, "sys/class/dmi/id", name)) : "");
  return {
    machine_id: readFirst(join(root, "etc/machine-id")),
    product_uuid: dmi("product_uuid"),
    board_serial: dmi("board_serial"),
    hostname: hostname(),
  };
}

/** Empty where there is no such file, or it may not be read. */
export function readFirst(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // Not every system has the file; the caller has something else to go by.
    return "";
  }
}
