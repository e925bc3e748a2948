// Seeded renters and hosts that cheat: does anybody gain by it? Any number of seeds, for as long as wanted.
import { randomInt } from "node:crypto";
import { runCheats, type CheatsReport } from "../test/simulation/cheats/run.ts";
import { CheatsWorld, type Scope } from "../test/simulation/cheats/world.ts";
import { readNumbers } from "./support/arguments.ts";

/** `ahead`: by how many seconds the clock of the second server is ahead of the first one's. */
const DEFAULTS = { seeds: 500, minutes: 0, seed: randomInt(1e8), batch: 50, ahead: 0 };
const MINUTE_MS = 60_000;
/** After this number of seeds the database is new: repeated settlements and audits stay small. */
const SEEDS_PER_DATABASE = 1_000;

type Options = Readonly<Record<keyof typeof DEFAULTS, number>>;

/** Plays seeds and tells of them; returns each story of a failure and each row of the books that differs. */
export async function playCheats(options: Options, print: (line: string) => void): Promise<readonly string[]> {
  const { seeds, minutes, seed, batch, ahead } = options;
  const beganMs = performance.now();
  const isOver = (count: number) => (minutes > 0 ? performance.now() - beganMs > minutes * MINUTE_MS : count >= seeds);
  const problems: string[] = [];
  const deeds = new Map<string, number>();
  let count = 0;
  while (!isOver(count)) {
    const before = count;
    let toldCount = 0;
    const report = await withWorld(ahead * 1000, (world) =>
      runCheats(world, {
        firstSeed: seed + before,
        batch,
        goesOn: (played) => !isOver(before + played) && played < SEEDS_PER_DATABASE,
        tell: (played, failures) => {
          // A long run may be ended before its end: what it found is told at once.
          for (const { story } of failures.slice(toldCount)) print(`\n${story}\n`);
          toldCount = failures.length;
          print(progressOf(before + played, problems.length + failures.length, beganMs));
        },
      }),
    );
    count += report.seedCount;
    for (const [kind, times] of report.deeds) deeds.set(kind, (deeds.get(kind) ?? 0) + times);
    problems.push(...problemsOf(report));
  }
  const told = [...deeds].toSorted(([, a], [, b]) => b - a).map(([kind, times]) => `${kind} ${times}`);
  print(`\nDeeds: ${told.join(", ")}`);
  return problems;
}

export async function run(args: readonly string[]): Promise<void> {
  const options = readNumbers(args, DEFAULTS);
  const length = options.minutes > 0 ? `${options.minutes} minutes` : `${options.seeds} seeds`;
  console.log(
    `${length} of a market of cheats, from seed ${options.seed} on (--seeds, --minutes, --seed, --batch, --ahead)\n`,
  );
  const problems = await playCheats(options, (line) => console.log(line));
  if (problems.length === 0) return console.log("Nobody gained by cheating, and the books agree.");
  console.log(`${problems.length} things are wrong:\n\n${problems.join("\n\n")}`);
  process.exitCode = 1;
}

async function withWorld(aheadMs: number, work: (world: CheatsWorld) => Promise<CheatsReport>): Promise<CheatsReport> {
  const hooks: (() => unknown)[] = [];
  const scope = { after: (hook: () => unknown) => void hooks.push(hook) } as Scope;
  try {
    return await work(await CheatsWorld.begin(scope, { aheadMs }));
  } finally {
    for (const hook of hooks) await hook();
  }
}

function problemsOf({ failures, differences }: CheatsReport): readonly string[] {
  return [...failures.map(({ story }) => story), ...differences.map((row) => `The books differ: ${row}`)];
}

function progressOf(count: number, problemCount: number, beganMs: number): string {
  const seconds = (performance.now() - beganMs) / 1000;
  return `${count} seeds in ${seconds.toFixed(0)} s, ${((seconds * 1000) / count).toFixed(0)} ms each, ${problemCount} failed`;
}
