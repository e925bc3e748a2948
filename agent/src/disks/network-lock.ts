import { createHash } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { fail, succeed, type Result } from "../engine/engine.ts";
import { ignoreMissing } from "./image.ts";

/**
 * A file beside an image on shared storage that names the one host that may mount it: two kernels that write one file
 * system at once destroy it. The control plane sees to that too; this holds when it is wrong or cannot be asked.
 */
export type Lock = { readonly path: string; readonly holder: string };

/** Takes the lock; succeeds when the host has it already, such as from before a reboot. */
export async function takeLock({ path, holder }: Lock): Promise<Result<void>> {
  // A file written beside it is linked to its name, so that the lock appears with its holder's name, on network disks
  // too.
  const draft = `${path}.${createHash("sha256").update(holder).digest("hex").slice(0, 16)}`;
  await writeFile(draft, holder, { mode: 0o600 });
  try {
    await link(draft, path);
    return succeed(undefined);
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "EEXIST")) throw cause;
    const present = await readFile(path, "utf8");
    return present === holder ? succeed(undefined) : fail("conflict", heldBy(present, path));
  } finally {
    await rm(draft, { force: true });
  }
}

/** Gives the lock back; the lock of another host stays. */
export async function releaseLock({ path, holder }: Lock): Promise<void> {
  const present = await readFile(path, "utf8").catch(ignoreMissing);
  if (present === holder) await rm(path, { force: true });
}

function heldBy(holder: string, path: string): string {
  const name = JSON.stringify(holder.slice(0, 128));
  return `the volume is mounted by another host (${name}): destroy the instance there; if that host is gone for good, delete ${path}`;
}
