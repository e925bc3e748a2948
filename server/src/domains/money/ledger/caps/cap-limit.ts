/**
 * The limit of a cap. It bounds time from `holdsFromAt` on; `beforeNanos` bounds earlier time that is charged later.
 */
export type CapLimit = {
  readonly limitNanos: bigint;
  readonly holdsFromAt: Date;
  /** The highest limit that earlier time, charged later, may have had; undefined when it may have had none. */
  readonly beforeNanos: bigint | undefined;
};

/** A change of a cap; a change without a limit removes the cap. */
export type CapChange = {
  readonly limitNanos: bigint | undefined;
  readonly changedAt: Date;
  readonly holdsFromAt: Date;
};

/**
 * Time after which the usage under an old limit has been charged for certain: a machine that was away proves within a
 * day that its containers ran.
 */
const CHARGED_AFTER_MS = 2 * 86_400_000;

/** The limit of a cap after a change; undefined when the change removes it. */
export function limitAfter(known: CapLimit | undefined, change: CapChange): CapLimit | undefined {
  const { limitNanos, changedAt, holdsFromAt } = change;
  if (limitNanos === undefined) return undefined;
  return { limitNanos, holdsFromAt, beforeNanos: known && highestBefore(known, changedAt) };
}

/** The highest of limits that followed each other shortly, so that no later limit bounds time before it. */
function highestBefore({ limitNanos, holdsFromAt, beforeNanos }: CapLimit, changedAt: Date): bigint | undefined {
  if (changedAt.getTime() - holdsFromAt.getTime() > CHARGED_AFTER_MS) return limitNanos;
  if (beforeNanos === undefined) return undefined;
  return beforeNanos > limitNanos ? beforeNanos : limitNanos;
}
