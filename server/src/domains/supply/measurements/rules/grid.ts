import type { SeriesKey } from "./series.ts";

/** Means and maxima of one series in equal steps of time; not a number where nothing is known. */
export type Points = { readonly means: Float64Array; readonly maxima: Float64Array };

/**
 * Collects values of one subject in equal steps of time. Each value is noted once; the mean of a step is that of its
 * noted values.
 */
export class Grid {
  readonly fromS: number;
  readonly stepS: number;
  readonly count: number;
  readonly #series = new Map<SeriesKey, { sums: Float64Array; counts: Uint32Array; maxima: Float64Array }>();

  constructor({ fromS, stepS, count }: Pick<Grid, "fromS" | "stepS" | "count">) {
    this.fromS = fromS;
    this.stepS = stepS;
    this.count = count;
  }

  /** Notes a value, or the mean and the maximum of several; a time outside of the grid changes nothing. */
  note(key: SeriesKey, atS: number, mean: number, maximum: number = mean): void {
    const place = Math.floor((atS - this.fromS) / this.stepS);
    if (place < 0 || place >= this.count || Number.isNaN(mean)) return;
    let series = this.#series.get(key);
    if (series === undefined) {
      const { count } = this;
      const maxima = new Float64Array(count).fill(Number.NaN);
      series = { sums: new Float64Array(count), counts: new Uint32Array(count), maxima };
      this.#series.set(key, series);
    }
    const { sums, counts, maxima } = series;
    sums[place] = (sums[place] ?? 0) + mean;
    counts[place] = (counts[place] ?? 0) + 1;
    const before = maxima[place] ?? Number.NaN;
    maxima[place] = Number.isNaN(before) ? maximum : Math.max(before, maximum);
  }

  /** Notes all points of a finer grid. */
  noteAll(finer: Grid): void {
    for (const [key, { means, maxima }] of finer.series()) {
      for (const [place, mean] of means.entries()) {
        this.note(key, finer.fromS + place * finer.stepS, mean, maxima[place]);
      }
    }
  }

  get isEmpty(): boolean {
    return this.#series.size === 0;
  }

  /** The series with at least one known value, in the order of their keys. */
  series(): readonly (readonly [SeriesKey, Points])[] {
    return [...this.#series]
      .toSorted(([a], [b]) => a - b)
      .map(([key, { sums, counts, maxima }]) => {
        const means = sums.map((sum, place) => (counts[place] === 0 ? Number.NaN : sum / (counts[place] ?? 1)));
        return [key, { means, maxima }] as const;
      });
  }
}
