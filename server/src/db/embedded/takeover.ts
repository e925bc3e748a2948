import { readdir, readFile, readlink, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import { EmbeddedPostgresError, errorCode } from "./failure.ts";
import type { EmbeddedLog } from "./log-file.ts";

const POLL_MS = 10;
const LOG_AFTER_MS = 1_000;

/** Signals for the processes of an orphan, in order, and the time that each gets. */
const STEPS = [
  { signal: "SIGINT", to: "postmaster", waitMs: 20_000 },
  { signal: "SIGQUIT", to: "all", waitMs: 5_000 },
  { signal: "SIGKILL", to: "all", waitMs: 5_000 },
] as const;

/**
 * Makes the cluster free for a new start after its last owner was killed. PostgreSQL itself trusts `postmaster.pid`,
 * which outlives a `kill -9`, names zombies, and after a reboot names strangers. Here the processes themselves are asked:
 * each one of a cluster has the cluster directory as its working directory. None left: the file is stale and goes. Some
 * left: it is an orphan, since the caller holds the lock of the data directory; it ends first, gently and then not.
 */
export async function takeOver(cluster: string, { clock, log }: { clock: Clock; log: EmbeddedLog }): Promise<void> {
  const postmasterPid = await readPostmasterPid(cluster);
  if (postmasterPid === undefined) return;
  for (const step of STEPS) {
    const running = await listProcesses(cluster);
    const targets = step.to === "all" ? running : running.filter((pid) => pid === postmasterPid);
    for (const pid of targets) sendSignal(pid, step.signal);
    if (await waitUntilGone(cluster, step.waitMs, { clock, log })) {
      // Only now: while a process of the cluster lives, the file is what keeps a second server away.
      await rm(path.join(cluster, "postmaster.pid"), { force: true });
      return;
    }
  }
  const left = await listProcesses(cluster);
  throw new EmbeddedPostgresError(
    `Processes of an earlier PostgreSQL still use ${cluster} and do not end (${left.join(", ")}): stop them, then start again.`,
  );
}

/** The postmaster's process id: the first line of its file. */
async function readPostmasterPid(cluster: string): Promise<number | undefined> {
  try {
    return Number.parseInt(await readFile(path.join(cluster, "postmaster.pid"), "utf8"), 10);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function waitUntilGone(
  cluster: string,
  waitMs: number,
  { clock, log }: { clock: Clock; log: EmbeddedLog },
): Promise<boolean> {
  const start = clock.monotonicMs();
  let isLogged = false;
  while ((await listProcesses(cluster)).length > 0) {
    const elapsed = clock.monotonicMs() - start;
    if (elapsed > waitMs) return false;
    if (elapsed > LOG_AFTER_MS && !isLogged) {
      log.info("waiting for the PostgreSQL of an earlier run to end");
      isLogged = true;
    }
    await clock.sleep(POLL_MS);
  }
  return true;
}

/** The live PostgreSQL processes that work in the directory. A zombie has no working directory and does not count. */
export async function listProcesses(cluster: string): Promise<readonly number[]> {
  const wanted = await stat(cluster);
  const found: number[] = [];
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const where = await stat(`/proc/${entry}/cwd`);
      if (where.dev !== wanted.dev || where.ino !== wanted.ino) continue;
      const program = path.basename(await readlink(`/proc/${entry}/exe`));
      if (program === "postgres" || program === "postgres (deleted)") found.push(Number(entry));
    } catch (error) {
      // Ended meanwhile, or somebody else's process, which cannot be one of ours.
      const code = errorCode(error);
      if (code !== "ENOENT" && code !== "ESRCH" && code !== "EACCES" && code !== "EPERM") throw error;
    }
  }
  return found;
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
