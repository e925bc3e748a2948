const [HOUR_S, DAY_S] = [3_600, 86_400];

/** Samples of this many seconds become blocks together. */
export const QUARTER_S = 900;
export const SAMPLE_S = 10;

/** Resolutions in which measurements are kept, and for how long. */
export const TIERS = [
  { stepS: SAMPLE_S, keptS: 6 * HOUR_S, hasMaxima: false },
  { stepS: 60, keptS: 3 * DAY_S, hasMaxima: true },
  { stepS: QUARTER_S, keptS: 184 * DAY_S, hasMaxima: true },
] as const;
export type Tier = (typeof TIERS)[number];

/** Blocks of quarter hours are joined to blocks of a day, so that half a year is few rows. */
export const LONGEST_BLOCK_S = DAY_S;

export const COARSEST_S = 86_400;
/** Steps of time in which measurements can be read. */
export const RESOLUTIONS = [
  10,
  20,
  30,
  60,
  120,
  180,
  300,
  900,
  1_800,
  3_600,
  7_200,
  14_400,
  21_600,
  43_200,
  COARSEST_S,
] as const;
const POINTS_MAX = 1_000;

/** The coarsest tier from whose points a resolution is made. */
export function tierOf(resolutionS: number): Tier {
  const [finest, ...coarser] = TIERS;
  return coarser.reduce<Tier>((best, tier) => (resolutionS % tier.stepS === 0 ? tier : best), finest);
}

/** A stretch of time in equal steps, each beginning at a multiple of its length since 1970. */
export type Span = { readonly fromS: number; readonly stepS: number; readonly count: number };

/**
 * The steps that cover a stretch of time, no finer than wished: what is older than a resolution is kept, or makes more
 * points than an answer has, gets a coarser one. Time that has not come yet, and time of which nothing is kept, are left
 * out.
 */
export function planSpan(wish: {
  readonly fromS: number;
  readonly toS: number;
  readonly resolutionS: number;
  readonly nowS: number;
}): Span {
  const { nowS, resolutionS } = wish;
  const toS = Math.min(wish.toS, nowS);
  const fromS = Math.max(Math.min(wish.fromS, toS), nowS - TIERS[2].keptS);
  const stepS =
    RESOLUTIONS.find(
      (step) =>
        step >= resolutionS && (toS - fromS) / step <= POINTS_MAX - 2 && nowS - fromS <= tierOf(step).keptS + step,
    ) ?? COARSEST_S;
  const firstS = Math.floor(fromS / stepS) * stepS;
  return { fromS: firstS, stepS, count: Math.max(0, Math.ceil((toS - firstS) / stepS)) };
}
