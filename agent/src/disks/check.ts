import { readFile, readlink } from "node:fs/promises";
import { programRunner, type RunProgram } from "../base/programs.ts";
import type { Clock } from "../base/clock.ts";

const LOOK_TIMEOUT_MS = 10_000;
const PROGRAMS = { mount: "mount", umount: "mount", "mkfs.ext4": "e2fsprogs", e2fsck: "e2fsprogs" } as const;
const ENGINE_PID_FILES = ["/run/docker.pid", "/var/run/docker.pid"] as const;

/** A sentence for the operator on why this host cannot make disks that hold their size; undefined when it can. */
export async function checkDisks(input: {
  readonly clock: Clock;
  readonly run?: RunProgram;
}): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "Disks of a fixed size need mounts: run the agent as root.";
  const run = input.run ?? programRunner(input.clock);
  for (const [program, source] of Object.entries(PROGRAMS)) {
    const { code } = await run(program, ["-V"], LOOK_TIMEOUT_MS);
    if (code === 127) return `The program ${program} is missing: install the package ${source}.`;
  }
  return findForeignMounts();
}

/**
 * The problem of an engine that does not see the agent's mounts, on which disks would not be held to their size;
 * undefined when it sees them, or when that is unknown.
 */
async function findForeignMounts(): Promise<string | undefined> {
  for (const file of ENGINE_PID_FILES) {
    try {
      const pid = Number((await readFile(file, "utf8")).trim());
      const [engine, own] = await Promise.all([readlink(`/proc/${pid}/ns/mnt`), readlink("/proc/self/ns/mnt")]);
      if (engine === own) return undefined;
      return "The agent and Docker Engine see different mounts: run both in the host's own mount namespace.";
    } catch {
      // No such file or process: the engine keeps its number elsewhere, and nothing can be said.
      continue;
    }
  }
  return undefined;
}
