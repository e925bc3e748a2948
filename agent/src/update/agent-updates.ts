import path from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import { systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Membership } from "../link/membership.ts";
import type { Options } from "../options.ts";
import { readBook } from "./book.ts";
import { launch, LAUNCHED, type Note } from "./launcher.ts";
import { ReleaseKey } from "./release-key.ts";
import type { SessionUpdates } from "./session-updates.ts";
import { Updater } from "./updater.ts";

const ROOT = path.join(import.meta.dirname, "../../..");
const TRIAL_SECONDS = /^\d{1,4}$/;

/** True for the first process of an agent whose host wants newer versions; an agent that a server starts has its version. */
export function wantsLauncher({ updatesItself, token, isJoinOnly }: Options): boolean {
  return updatesItself && token === undefined && !isJoinOnly && process.env[LAUNCHED] === undefined;
}

/** Runs the agent, and its newer versions, as children of this process. */
export async function launchAgent({ stateDir }: Options): Promise<void> {
  const seconds = process.env["BERTH_AGENT_TRIAL_SECONDS"] ?? "";
  const signals = ["SIGTERM", "SIGINT"] as const;
  process.exitCode = await launch({
    stateDir: path.resolve(stateDir),
    installed: { root: ROOT, version: manifest.version },
    args: process.argv.slice(2),
    clock: systemClock,
    ...(TRIAL_SECONDS.test(seconds) ? { trialMs: Number(seconds) * 1000 } : {}),
    tell: (line) => void process.stderr.write(`${line}\n`),
    onSignal: (listener) => signals.forEach((signal) => process.on(signal, listener)),
  });
}

type Means = {
  readonly log: Log;
  /** Called when a release was refused, so that the server is told. */
  readonly onRefused: () => void;
};

/** The updates of an agent that runs below a launcher; undefined for any other. */
export function updatesOf(
  options: Pick<Options, "stateDir"> & Pick<Membership, "servers">,
  { log, onRefused }: Means,
): SessionUpdates | undefined {
  if (process.env[LAUNCHED] === undefined || process.send === undefined) return undefined;
  const tell = (note: Note) => void process.send?.(note);
  const stateDir = path.resolve(options.stateDir);
  const updater = new Updater({
    stateDir,
    ownVersion: manifest.version,
    key: new ReleaseKey(stateDir, options.servers.home.apiUrl),
    last: readBook(stateDir).last,
    log,
    ...{ fetch, clock: systemClock },
    startNext: (next) => tell({ kind: "start_next", next }),
    refused: (last) => {
      tell({ kind: "refused", last });
      onRefused();
    },
  });
  let hasReported = false;
  return {
    get result() {
      return updater.result;
    },
    offer: (offer) => updater.offer(offer),
    reported() {
      if (!hasReported) tell({ kind: "reported" });
      hasReported = true;
    },
  };
}
