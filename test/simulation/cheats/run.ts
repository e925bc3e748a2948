// Plays batch after batch of seeds and tells what each that failed did.
import type { Case } from "./case.ts";
import { playSeeds, type Outcome } from "./play.ts";
import { shrink } from "./shrink.ts";
import { storyOf } from "./story.ts";
import type { CheatsWorld } from "./world.ts";

/** The most failures that are shrunk, which takes some seconds each; of further ones only the seed is told. */
const SHRUNK_MAX = 3;

export type CheatsOptions = {
  readonly firstSeed: number;
  /** How many seeds are played side by side. */
  readonly batch: number;
  /** True when another batch is played after this number of seeds. */
  readonly goesOn: (seedCount: number) => boolean;
  /** The kinds of deeds that people do; all of them unless given. */
  readonly kinds?: readonly string[];
  /** Called after each batch. */
  readonly tell?: (seedCount: number, failures: readonly Failure[]) => void;
};

export type Failure = { readonly seed: string; readonly invariant: string; readonly story: string };

export type CheatsReport = {
  readonly seedCount: number;
  /** How often each kind of deed was done. */
  readonly deeds: ReadonlyMap<string, number>;
  readonly failures: readonly Failure[];
  /** Rows that differ, as the audit names them. */
  readonly differences: readonly string[];
};

export async function runCheats(world: CheatsWorld, options: CheatsOptions): Promise<CheatsReport> {
  const { firstSeed, batch, goesOn, kinds, tell } = options;
  const failures: Failure[] = [];
  const deeds = new Map<string, number>();
  let seedCount = 0;
  do {
    const seeds = Array.from({ length: batch }, (_, index) => firstSeed + seedCount + index);
    const outcomes = await playSeeds(world, seeds, kinds);
    seedCount += batch;
    for (const { play } of outcomes) for (const { kind } of play.done) deeds.set(kind, (deeds.get(kind) ?? 0) + 1);
    failures.push(...(await failuresOf(world, outcomes, failures)));
    tell?.(seedCount, failures);
  } while (goesOn(seedCount));
  return { seedCount, deeds, failures, differences: await auditOf(world) };
}

async function failuresOf(
  world: CheatsWorld,
  outcomes: readonly Outcome[],
  before: readonly Failure[],
): Promise<readonly Failure[]> {
  const found: Failure[] = [];
  for (const { play, script } of outcomes) {
    const { broken, name } = play;
    if (broken === undefined) continue;
    const isKnown = [...before, ...found].some(({ invariant }) => invariant === broken.invariant);
    const isShrunk = !isKnown && before.length + found.length < SHRUNK_MAX;
    const told: Case = (isShrunk ? await shrink(world, script, broken.invariant) : undefined) ?? play;
    const story = isKnown ? `Seed ${name}: ${broken.invariant}: ${broken.figures}` : storyOf(name, told);
    found.push({ seed: name, invariant: broken.invariant, story });
  }
  return found;
}

async function auditOf(world: CheatsWorld): Promise<readonly string[]> {
  const { checks } = await world.audit();
  return checks.flatMap(({ name, differences }) => differences.map((one) => `${name}: ${JSON.stringify(one)}`));
}
