import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loopsOf, mountsBelow, unmountBelow } from "../../test/support/hosts/mounts.ts";

/** A folder for one test of mounts, and what is left in it. */
export type Scratch = {
  readonly path: string;
  /** Mount points at or below the folder, and elsewhere those of its images. */
  mounts(): Promise<readonly string[]>;
  /** Loop devices that show a file of the folder. */
  loops(): Promise<readonly string[]>;
  /** Takes everything away, with mounts that a failed test left. */
  remove(): Promise<void>;
};

export async function makeScratch(name: string): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), `berth-${name}-`));
  return {
    path,
    mounts: () => mountsBelow(path),
    loops: () => loopsOf(path),
    async remove() {
      await unmountBelow(path);
      await rm(path, { recursive: true, force: true });
    },
  };
}
