import { spawn } from "node:child_process";
import type { Clock } from "../../base/clock.ts";
import { postgresEnvironment, type Account } from "./account.ts";

const FAST_SHUTDOWN_LIMIT_MS = 30_000;
const QUIT_LIMIT_MS = 5_000;

export type Exit = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The reason why PostgreSQL could not even be started. */
  readonly problem?: string;
};

export type Postmaster = {
  readonly exited: Promise<Exit>;
  /** Lets our process end while PostgreSQL runs; the kernel then ends PostgreSQL too. */
  unref(): void;
  stop(): Promise<void>;
};

/**
 * Starts the server process in a session of its own, so that a Ctrl-C in the terminal reaches us alone and requests can
 * drain first. The death signal is SIGINT, PostgreSQL's fast shutdown.
 */
export function spawnPostmaster(command: readonly string[], account: Account, logFd: number, clock: Clock): Postmaster {
  const [program = "", ...args] = [...account.prefix, "setpriv", "--pdeathsig", "INT", ...command];
  const child = spawn(program, args, {
    ...account.spawnAs,
    cwd: "/",
    detached: true,
    env: postgresEnvironment(),
    stdio: ["ignore", logFd, logFd],
  });
  const exited = new Promise<Exit>((resolve) => {
    child.on("error", (error) => resolve({ code: null, signal: null, problem: explainSpawn(error, program) }));
    child.on("exit", (code, signal) => resolve({ code, signal }));
  });
  return {
    exited,
    unref: () => child.unref(),
    async stop() {
      child.ref();
      const steps = [
        { signal: "SIGINT", limitMs: FAST_SHUTDOWN_LIMIT_MS },
        { signal: "SIGQUIT", limitMs: QUIT_LIMIT_MS },
        { signal: "SIGKILL", limitMs: QUIT_LIMIT_MS },
      ] as const;
      for (const { signal, limitMs } of steps) {
        if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) child.kill(signal);
        if (await endsWithin(exited, limitMs, clock)) return;
      }
    },
  };
}

async function endsWithin(exited: Promise<Exit>, limitMs: number, clock: Clock): Promise<boolean> {
  const waiting = new AbortController();
  const ended = await Promise.race([exited.then(() => true), clock.sleep(limitMs, waiting.signal).then(() => false)]);
  waiting.abort();
  return ended;
}

function explainSpawn(error: Error, program: string): string {
  return `${error.message} (Berth needs \`${program}\` of the package util-linux)`;
}
