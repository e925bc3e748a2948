/** State of a volume that is being filled from another one, or whose filling failed. */
export type CloneState = {
  readonly sourceId: number;
  readonly expectedBytes: bigint;
  readonly expiresAt: Date;
  readonly failedAt: Date | undefined;
  /** The reason of the failure; empty without one. */
  readonly problem: string;
};

/** The progress that its host last reported. */
export type CloneProgress = { readonly text: string; readonly copiedBytes: bigint };

const NO_ANSWER = "its host did not finish it within a day";

/** The reason why the filling will never finish; undefined while it goes on. */
export function cloneFailure({ failedAt, expiresAt, problem }: CloneState, now: Date): string | undefined {
  if (failedAt !== undefined) return problem;
  return expiresAt <= now ? NO_ANSWER : undefined;
}

/** The status word and the sentence that its owner sees. */
export function describeClone(
  clone: CloneState,
  progress: CloneProgress | undefined,
  now: Date,
): { readonly status: string; readonly message: string } {
  const failure = cloneFailure(clone, now);
  if (failure !== undefined) {
    return { status: "clone failed", message: `Cloning V.${clone.sourceId} failed: ${failure}. Delete this volume.` };
  }
  const percent = percentOf(progress?.copiedBytes ?? 0n, clone.expectedBytes);
  const text = progress === undefined || progress.text === "" ? "waiting for the hosts" : progress.text;
  return { status: percent === undefined ? "cloning" : `cloning ${percent} %`, message: text };
}

/**
 * Percent copied; undefined while the total is unknown. More bytes may come than expected: 100 is reserved for a
 * complete volume.
 */
function percentOf(copied: bigint, expected: bigint): number | undefined {
  if (expected === 0n) return undefined;
  const percent = Number((copied * 100n) / expected);
  return Math.min(99, percent);
}
