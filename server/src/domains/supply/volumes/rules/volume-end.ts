/** The data of a volume is kept for 48 hours after its end, as for instances. */
export const RETENTION_MS = 48 * 3_600_000;

/**
 * The time at which a volume is deleted for good; undefined while an instance uses it, which keeps it beyond its end.
 */
export function deletionAt({ endAt }: { readonly endAt: Date }, isUsed: boolean): Date | undefined {
  return isUsed ? undefined : new Date(endAt.getTime() + RETENTION_MS);
}
