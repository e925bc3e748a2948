import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

/** Facts that stay the same on one machine over boots, new disks and moved folders, and differ on another. */
export type FingerprintFacts = {
  /** The id of the installed system. */
  readonly machineId: string;
  /** The ids of the board or the virtual machine; only root may read them. */
  readonly productUuid: string;
  readonly boardSerial: string;
  /** Used only without any of the facts above. */
  readonly hostname: string;
};

/** Placeholders that boards have in place of an id of their own. */
const MEANS_NOTHING = /^(|0+|f+|none|default string|not specified|to be filled by o\.?e\.?m\.?|system serial number)$/i;

/**
 * The digest of a machine's facts. Placeholders of boards are left out, so that many boards do not share one digest.
 */
export function fingerprintOf(facts: FingerprintFacts): string {
  const { machineId, productUuid, boardSerial } = facts;
  const telling = Object.entries({ machine_id: machineId, product_uuid: productUuid, board_serial: boardSerial })
    .map(([name, value]) => [name, value.trim().toLowerCase()] as const)
    .filter(([, value]) => !MEANS_NOTHING.test(value.replaceAll("-", "")));
  const named = telling.length > 0 ? telling : [["hostname", facts.hostname]];
  const text = named.map(([name, value]) => `${name}=${value}`).join("\n");
  return createHash("sha256").update(`berth machine\n${text}`).digest("hex");
}

/**
 * Reads the facts below `root`, and with `isRoot` those that only root may read: an agent that sometimes runs as root
 * and sometimes not would otherwise be two machines.
 */
export function readFingerprintFacts({ root, isRoot }: { root: string; isRoot: boolean }): FingerprintFacts {
  const dmi = (name: string) => (isRoot ? readFirst(join(root, "sys/class/dmi/id", name)) : "");
  return {
    machineId: readFirst(join(root, "etc/machine-id")),
    productUuid: dmi("product_uuid"),
    boardSerial: dmi("board_serial"),
    hostname: hostname(),
  };
}

/** The text of a file; empty when there is none, or it may not be read. */
export function readFirst(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // Not every system has the file; callers have other facts.
    return "";
  }
}
