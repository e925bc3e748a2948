// Takes away from a script what its failure does not need.
import type { Case, Deed } from "./case.ts";
import { playScripts, type Script } from "./play.ts";
import type { CheatsWorld } from "./world.ts";

/** How many shorter scripts are tried side by side. */
const SIDE_BY_SIDE = 12;
const SHORT_MS = 1_000;

/** The shortest case found that breaks the same invariant; undefined when it does not break it again. */
export async function shrink(world: CheatsWorld, script: Script, invariant: string): Promise<Case | undefined> {
  const breaks = (play: Case) => play.broken?.invariant === invariant;
  const [again] = await playScripts(world, [script]);
  if (again === undefined || !breaks(again)) return undefined;
  let [best, story] = [upToTheEnd(script, again), again];
  for (let size = Math.ceil(countOf(best) / 2); size >= 1;) {
    const found = await firstThatBreaks(world, without(best, size), breaks);
    if (found === undefined) size = size === 1 ? 0 : Math.ceil(size / 2);
    else [best, story] = found;
  }
  for (const [index] of best.entries()) {
    const shorter = best.map((step, place) => (place === index ? { ...step, passMs: SHORT_MS } : step));
    if (best[index]?.passMs === SHORT_MS) continue;
    const found = await firstThatBreaks(world, [shorter], breaks);
    if (found !== undefined) [best, story] = found;
  }
  return story;
}

async function firstThatBreaks(
  world: CheatsWorld,
  candidates: readonly Script[],
  breaks: (play: Case) => boolean,
): Promise<[Script, Case] | undefined> {
  for (let from = 0; from < candidates.length; from += SIDE_BY_SIDE) {
    const tried = candidates.slice(from, from + SIDE_BY_SIDE);
    const cases = await playScripts(world, tried);
    const place = cases.findIndex(breaks);
    const [script, play] = [tried[place], cases[place]];
    if (script !== undefined && play !== undefined) return [script, play];
  }
  return undefined;
}

/** The script without each run of so many deeds. */
function without(script: Script, size: number): readonly Script[] {
  const all = script.flatMap(({ deeds }) => deeds);
  const chunks: Deed[][] = [];
  for (let from = 0; from < all.length; from += size) chunks.push(all.slice(from, from + size));
  return chunks.map((chunk) =>
    script.map((step) => ({ ...step, deeds: step.deeds.filter((deed) => !chunk.includes(deed)) })),
  );
}

/** The script up to the failure: later steps play no part in it. */
function upToTheEnd(script: Script, { done }: Case): Script {
  const last = script.findLastIndex(({ deeds }) => deeds.some((deed) => done.includes(deed)));
  return script.slice(0, last + 1);
}

function countOf(script: Script): number {
  return script.reduce((sum, { deeds }) => sum + deeds.length, 0);
}
