// Stories of the market of cheats as lines of deeds: who does what, and how much time passes.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import type { Args } from "./case.ts";
import { playScripts, type Step } from "./play.ts";
import { storyOf } from "./story.ts";
import { CheatsWorld, type Scope } from "./world.ts";

export const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1_000, 60_000, 3_600_000];

/** A deed with its arguments, or so many milliseconds that pass. */
export type Line = readonly [kind: string, args: Args] | number;

export const joinsAt = (prices: Args): Line => [
  "join",
  { host: "Hugo", gpu: 3, traffic: 0.01, disk: 0.1, volume: 0.1, ...prices },
];
export const relistsAt = (gpu: number): Line => [
  "relist",
  { host: "Hugo", gpu, traffic: 0.01, disk: 0.1, volume: 0.1 },
];
export const pays = (who: string, amount: number): Line => ["pay", { who, amount }];
export const looks = (who: string): Line => ["look", { who, host: "Hugo" }];
export const rents = (who: string, size = 1): Line => ["rent", { who, offer: `Hugo ${size}`, disk: 10 }];

/** Within a describe block: plays the lines in a world of the block; the rental that line 4 makes is called #4. */
export function tellerOfStories(): (...lines: readonly Line[]) => Promise<void> {
  let world: CheatsWorld;
  const cleanups: (() => unknown)[] = [];
  before(async () => {
    world = await CheatsWorld.begin({ after: (hook: unknown) => void cleanups.push(hook as () => unknown) } as Scope);
  });
  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });
  return async (...lines) => {
    const steps = lines.map((line, index): Step => {
      if (typeof line === "number") return { deeds: [], passMs: line };
      const [kind, args] = line;
      return { deeds: [{ kind, label: `#${index + 1}`, args }], passMs: SECOND_MS };
    });
    const [play] = await playScripts(world, [steps]);
    assert.ok(play);
    if (play.broken !== undefined) assert.fail(storyOf("scripted", play));
  };
}
