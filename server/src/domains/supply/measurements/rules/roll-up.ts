import { encodeBlock, type Block } from "./block.ts";
import { Grid } from "./grid.ts";
import { readSample } from "./sample.ts";
import type { Subject } from "./series.ts";
import { QUARTER_S, TIERS } from "./tiers.ts";

/**
 * The blocks of one quarter of an hour, in every resolution, from the samples of one machine. All of them come from the
 * samples themselves, so that means and maxima are exact and a reading counts once in each resolution.
 */
export function rollUp(
  beginsS: number,
  samples: readonly { readonly takenAtMs: number; readonly content: Buffer }[],
): readonly (Block & { readonly subject: Subject })[] {
  const bySubject = new Map<string, { readonly subject: Subject; readonly grids: readonly Grid[] }>();
  for (const { takenAtMs, content } of samples) {
    readSample(content, (subject, key, value) => {
      const name = `${subject.kind} ${subject.id}`;
      let found = bySubject.get(name);
      if (found === undefined) {
        const grids = TIERS.map(({ stepS }) => new Grid({ fromS: beginsS, stepS, count: QUARTER_S / stepS }));
        found = { subject, grids };
        bySubject.set(name, found);
      }
      for (const grid of found.grids) grid.note(key, takenAtMs / 1000, value);
    });
  }
  return [...bySubject.values()].flatMap(({ subject, grids }) =>
    grids.flatMap((grid, index) => {
      if (grid.isEmpty) return [];
      const content = encodeBlock(grid, { hasMaxima: TIERS[index]?.hasMaxima ?? true });
      return [{ subject, beginsS, stepS: grid.stepS, content }];
    }),
  );
}
