// Runs the agent as a child, and another version of it in its place when the agent asks for that. The launcher itself is
// always the installed one, so that a broken version can be taken back in any case.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";
import { compareVersions, UpdateResult } from "../../../protocol/index.ts";
import type { Clock } from "../base/clock.ts";
import { readBook, versionFolder, writeBook, type LastUpdate, type Unpacked } from "./book.ts";

/** Marks the process of an agent that a launcher has started, and carries the end of the last update to it. */
export const LAUNCHED = "BERTH_AGENT_LAUNCHED";
const TRIAL_MS = 180_000;
const KILL_AFTER_MS = 15_000;

/** Messages of the agent to its launcher. */
const Note = Type.Union([
  /** The server has acknowledged a report: this version works. */
  Type.Object({ kind: Type.Literal("reported") }),
  Type.Object({
    kind: Type.Literal("start_next"),
    next: Type.Object({ version: Type.String(), sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }) }),
  }),
  Type.Object({
    kind: Type.Literal("refused"),
    last: Type.Object({ result: UpdateResult, sha256: Type.String() }),
  }),
]);
export type Note = Static<typeof Note>;
const schema = Compile(Note);

export type LaunchInput = {
  readonly stateDir: string;
  /** Root of the installed Berth, and its version. */
  readonly installed: { readonly root: string; readonly version: string };
  readonly args: readonly string[];
  readonly clock: Clock;
  /** How long a new version may take until its first report is acknowledged. */
  readonly trialMs?: number;
  readonly tell: (line: string) => void;
  readonly onSignal: (listener: (signal: NodeJS.Signals) => void) => void;
};

type Ended =
  | { readonly kind: "ended"; readonly code: number }
  | { readonly kind: "next"; readonly next: Unpacked }
  | { readonly kind: "failed"; readonly problem: string };

/** Runs the agent until it ends by itself or is told to stop; returns its exit code. */
export async function launch(input: LaunchInput): Promise<number> {
  const { stateDir, installed, tell } = input;
  let child: ChildProcess | undefined;
  let isStopping = false;
  input.onSignal((signal) => {
    isStopping = true;
    child?.kill(signal);
  });
  const run = (version: Unpacked | undefined, isTrial: boolean) =>
    runOnce({ input, version, isTrial, isStopping: () => isStopping, started: (now) => (child = now) });
  let current = choose(input);
  let ended = await run(current, false);
  while (ended.kind === "next" && !isStopping) {
    const { next } = ended;
    ended = await run(next, true);
    if (ended.kind === "failed") {
      const { problem } = ended;
      tell(`the agent ${next.version} failed, so ${current?.version ?? installed.version} goes on: ${problem}`);
      const result = { version: next.version, outcome: "rolled_back" as const, problem };
      writeBook(stateDir, { ...readBook(stateDir), last: { result, sha256: next.sha256 } });
      ended = await run(current, false);
    } else {
      current = readBook(stateDir).current ?? current;
    }
  }
  return ended.kind === "ended" ? ended.code : 0;
}

/** The version that was confirmed last, unless the installed one is as new: its operator has brought it here by hand. */
function choose({ stateDir, installed }: LaunchInput): Unpacked | undefined {
  const { current } = readBook(stateDir);
  // A folder that somebody has removed must not keep the machine away for ever.
  if (current === undefined || !existsSync(versionFolder(stateDir, current))) return undefined;
  return compareVersions(current.version, installed.version) > 0 ? current : undefined;
}

type Run = {
  readonly input: LaunchInput;
  /** The version to run; undefined for the installed one. */
  readonly version: Unpacked | undefined;
  readonly isTrial: boolean;
  readonly isStopping: () => boolean;
  readonly started: (child: ChildProcess) => void;
};

async function runOnce({ input, version, isTrial, isStopping, started }: Run): Promise<Ended> {
  const { stateDir, installed, args, clock, trialMs = TRIAL_MS } = input;
  const root = version === undefined ? installed.root : versionFolder(stateDir, version);
  const last = readBook(stateDir).last;
  const child = spawn(process.execPath, [...process.execArgv, path.join(root, "agent/src/main.ts"), ...args], {
    env: { ...process.env, [LAUNCHED]: JSON.stringify(last ?? null), BERTH_AGENT_ENDS_WITH_STDIN: "1" },
    stdio: ["pipe", "inherit", "inherit", "ipc"],
  });
  started(child);
  const trial = new AbortController();
  let isConfirmed = !isTrial;
  let next: Unpacked | undefined;
  let problem: string | undefined;
  child.on("message", (value) => {
    if (!schema.Check(value)) return;
    if (value.kind === "refused") writeBook(stateDir, { ...readBook(stateDir), last: value.last });
    if (value.kind === "start_next") {
      next = value.next;
      child.kill("SIGTERM");
      void killLate(child, clock);
    }
    if (value.kind !== "reported" || isConfirmed || version === undefined) return;
    isConfirmed = true;
    trial.abort();
    confirm(stateDir, version);
  });
  if (isTrial) {
    void clock.sleep(trialMs, trial.signal).then(() => {
      if (isConfirmed || child.exitCode !== null) return;
      problem = `it had no report acknowledged within ${Math.round(trialMs / 1000)} s`;
      child.kill("SIGKILL");
    });
  }
  const code = await new Promise<number>((resolve) => {
    child.once("error", () => resolve(1));
    child.once("exit", (status) => resolve(status ?? 1));
  });
  trial.abort();
  if (next !== undefined && isConfirmed) return { kind: "next", next };
  if (isConfirmed || isStopping()) return { kind: "ended", code };
  return { kind: "failed", problem: problem ?? `it ended with exit code ${code} before it had reported` };
}

/** An agent that does not end keeps the machine's place at the server. */
async function killLate(child: ChildProcess, clock: Clock): Promise<void> {
  await clock.sleep(KILL_AFTER_MS);
  if (child.exitCode === null) child.kill("SIGKILL");
}

/** From now on this version runs; the one before it stays on the disk, and those before that go. */
function confirm(stateDir: string, version: Unpacked): void {
  const before = readBook(stateDir).current;
  const result = { version: version.version, outcome: "done" as const, problem: "" };
  const last: LastUpdate = { result, sha256: version.sha256 };
  writeBook(stateDir, { current: version, last });
  const kept = [version.sha256, before?.sha256];
  const folder = path.dirname(versionFolder(stateDir, version));
  for (const name of readdirSync(folder)) {
    if (!kept.includes(name)) rmSync(path.join(folder, name), { recursive: true, force: true });
  }
}
