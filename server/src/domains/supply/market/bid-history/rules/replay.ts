/** The lowest bid that ran, from a time on; undefined when no new bid ran. */
export type FloorChange = { readonly atMs: number; readonly floorNanos: bigint | undefined };

/** A time in which somebody looked at the market. */
export type Watch = { readonly fromMs: number; readonly untilMs: number };

/** A time in which the lowest bid that ran was the same. */
export type FloorStretch = Watch & { readonly floorNanos: bigint | undefined };

export type BidOutcome = {
  readonly runningMs: number;
  /** Number of times that it would have had to stop. */
  readonly interruptions: number;
};

/**
 * The known part of a range: the changes, sorted by time, within the watches, sorted and apart from each other. Times
 * before the first change are unknown.
 */
export function floorStretches(
  changes: readonly FloorChange[],
  watches: readonly Watch[],
  range: Watch,
): readonly FloorStretch[] {
  const stretches: FloorStretch[] = [];
  let first = 0;
  for (const watch of watches) {
    const fromMs = Math.max(watch.fromMs, range.fromMs);
    const untilMs = Math.min(watch.untilMs, range.untilMs);
    // Changes that ended before this watch concern no later one either.
    while ((changes[first + 1]?.atMs ?? Infinity) <= fromMs) first += 1;
    for (let index = first; index < changes.length; index += 1) {
      const change = changes[index];
      if (change === undefined || change.atMs >= untilMs) break;
      const startMs = Math.max(change.atMs, fromMs);
      const endMs = Math.min(changes[index + 1]?.atMs ?? Infinity, untilMs);
      if (startMs < endMs) stretches.push({ fromMs: startMs, untilMs: endMs, floorNanos: change.floorNanos });
    }
  }
  return stretches;
}

export function knownMs(stretches: readonly FloorStretch[]): number {
  return stretches.reduce((total, { fromMs, untilMs }) => total + untilMs - fromMs, 0);
}

/**
 * The outcome of a bid of this price: it runs while the lowest bid that runs is not above it. Only a stop that
 * somebody saw is an interruption: nobody knows what happens between two watches.
 */
export function outcomeOf(stretches: readonly FloorStretch[], priceNanos: bigint): BidOutcome {
  let runningMs = 0;
  let interruptions = 0;
  let ranUntilMs: number | undefined;
  for (const { fromMs, untilMs, floorNanos } of stretches) {
    const runs = floorNanos !== undefined && floorNanos <= priceNanos;
    if (runs) runningMs += untilMs - fromMs;
    else if (ranUntilMs === fromMs) interruptions += 1;
    ranUntilMs = runs ? untilMs : undefined;
  }
  return { runningMs, interruptions };
}

/**
 * Prices at which the outcome changes, ascending: every lowest bid that held at some time. When there are more than
 * `most`, some of them at equal distances, the lowest and the highest included.
 */
export function priceLadder(stretches: readonly FloorStretch[], most: number): readonly bigint[] {
  const floors = [...new Set(stretches.flatMap(({ floorNanos }) => floorNanos ?? []))];
  const sorted = floors.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
  if (sorted.length <= most) return sorted;
  const chosen = new Set(
    Array.from({ length: most }, (_, rung) => Math.round((rung * (sorted.length - 1)) / (most - 1))),
  );
  return sorted.filter((_, index) => chosen.has(index));
}

export type FloorPoint = {
  readonly atMs: number;
  readonly lowestNanos: bigint | undefined;
  readonly highestNanos: bigint | undefined;
  /** Part of the known time in which a bid could run, from 0 to 1. */
  readonly openShare: number;
};

/** The lowest and the highest floor of each step with known time, for a graph. */
export function floorPoints(stretches: readonly FloorStretch[], range: Watch, stepMs: number): readonly FloorPoint[] {
  const points = new Map<number, { lowest?: bigint; highest?: bigint; openMs: number; knownMs: number }>();
  for (const { fromMs, untilMs, floorNanos } of stretches) {
    const last = Math.ceil((untilMs - range.fromMs) / stepMs);
    for (let step = Math.floor((fromMs - range.fromMs) / stepMs); step < last; step += 1) {
      const stepStartMs = range.fromMs + step * stepMs;
      const partMs = Math.min(untilMs, stepStartMs + stepMs) - Math.max(fromMs, stepStartMs);
      const point = points.get(step) ?? { openMs: 0, knownMs: 0 };
      points.set(step, point);
      point.knownMs += partMs;
      if (floorNanos === undefined) continue;
      point.openMs += partMs;
      if (point.lowest === undefined || floorNanos < point.lowest) point.lowest = floorNanos;
      if (point.highest === undefined || floorNanos > point.highest) point.highest = floorNanos;
    }
  }
  return [...points].map(([step, { lowest, highest, openMs, knownMs: known }]) => ({
    atMs: range.fromMs + step * stepMs,
    lowestNanos: lowest,
    highestNanos: highest,
    openShare: openMs / known,
  }));
}
