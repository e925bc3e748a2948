/** The time that a run may cost its renter on its host's word alone: an honest host is reached many times within it. */
export const WORD_MS = 60_000n;
/** A host is flagged when it reports a container as running for this long and no server reaches it. */
export const UNREACHED_MS = 300_000n;

/** The server's evidence of a run's start, besides its host's word. */
export type StartEvidence = {
  /** False for a container without a door that the server could reach. */
  readonly needsEvidence: boolean;
  /** The time at which the server first reached the container's door; undefined before that. */
  readonly evidenceAt: Date | undefined;
};

/**
 * The running time that may have been counted at a moment: up to a minute on the host's word, and all time since the
 * evidence.
 */
export function countableMs({ needsEvidence, evidenceAt }: StartEvidence, at: Date): bigint | undefined {
  if (!needsEvidence) return undefined;
  if (evidenceAt === undefined || evidenceAt > at) return WORD_MS;
  return WORD_MS + BigInt(at.getTime() - evidenceAt.getTime());
}
