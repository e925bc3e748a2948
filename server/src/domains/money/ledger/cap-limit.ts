/** The limit of a cap: from when on it holds, and what bounds time before that which is charged later. */
export type CapLimit = {
  readonly limitNanos: bigint;
  readonly holdsFromAt: Date;
  /** The highest limit that held shortly before; undefined where there was none. */
  readonly beforeNanos: bigint | undefined;
};

/** A change of a cap; without a limit the cap is removed. */
export type CapChange = {
  readonly limitNanos: bigint | undefined;
  readonly changedAt: Date;
  readonly holdsFromAt: Date;
};

/**
 * Time that a limit held for is certainly charged after so long: a machine that is away proves within a day that it was
 * there all the time.
 */
const CHARGED_AFTER_MS = 2 * 86_400_000;

/** What a cap says after a change; undefined once it is removed. */
export function limitAfter(known: CapLimit | undefined, change: CapChange): CapLimit | undefined {
  const { limitNanos, changedAt, holdsFromAt } = change;
  if (limitNanos === undefined) return undefined;
  return { limitNanos, holdsFromAt, beforeNanos: known && highestBefore(known, changedAt) };
}

/** Of limits that were changed shortly one after the other the highest, so that time is never bounded by a later one. */
function highestBefore({ limitNanos, holdsFromAt, beforeNanos }: CapLimit, changedAt: Date): bigint | undefined {
  if (changedAt.getTime() - holdsFromAt.getTime() > CHARGED_AFTER_MS) return limitNanos;
  if (beforeNanos === undefined) return undefined;
  return beforeNanos > limitNanos ? beforeNanos : limitNanos;
}
