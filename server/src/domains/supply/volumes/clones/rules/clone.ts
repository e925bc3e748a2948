/** A volume that is being filled from another one, or that could not be. */
export type CloneState = {
  readonly sourceId: number;
  readonly expectedBytes: bigint;
  readonly expiresAt: Date;
  readonly failedAt: Date | undefined;
  /** Why it failed. */
  readonly problem: string;
};

/** How far its host has come, as it said last. */
export type CloneProgress = { readonly text: string; readonly copiedBytes: bigint };

const NO_ANSWER = "its host did not finish it within a day";

/** Why there is nothing to wait for; undefined while it goes on. */
export function cloneFailure({ failedAt, expiresAt, problem }: CloneState, now: Date): string | undefined {
  if (failedAt !== undefined) return problem;
  return expiresAt <= now ? NO_ANSWER : undefined;
}

/** What its owner sees: a word on it, and a sentence. */
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

/** Undefined when it is not known how much there is. More may come than was expected: 100 is for what is complete. */
function percentOf(copied: bigint, expected: bigint): number | undefined {
  if (expected === 0n) return undefined;
  const percent = Number((copied * 100n) / expected);
  return Math.min(99, percent);
}
