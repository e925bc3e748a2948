/** How long a run may cost its renter on its host's word alone: time in which an honest host is reached many times over. */
export const WORD_MS = 60_000n;
/** A host that says so long that a container runs which nobody reaches is flagged. */
export const UNREACHED_MS = 300_000n;

/** What the server knows of the start of a run besides its host's word. */
export type StartEvidence = {
  /** False where a container has no door that the server could reach. */
  readonly needsEvidence: boolean;
  /** When the server reached the container's door first; undefined while it has not. */
  readonly evidenceAt: Date | undefined;
};

/** The running time that may have been counted at a moment: up to a minute on the host's word, and all that followed the evidence. */
export function countableMs({ needsEvidence, evidenceAt }: StartEvidence, at: Date): bigint | undefined {
  if (!needsEvidence) return undefined;
  if (evidenceAt === undefined || evidenceAt > at) return WORD_MS;
  return WORD_MS + BigInt(at.getTime() - evidenceAt.getTime());
}
