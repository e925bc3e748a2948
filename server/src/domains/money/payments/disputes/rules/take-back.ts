/** Somebody who got credit of an account whose payment was disputed, and what of it is still there as cash. */
export type Holder<Name> = { readonly name: Name; readonly sentNanos: bigint; readonly cashNanos: bigint };

/**
 * What is taken back from whom, in their order: of each at most what was sent there, and what is still there in cash. What
 * nobody has any more is the account's debt.
 */
export function planTakeBack<Name>(
  wantedNanos: bigint,
  holders: readonly Holder<Name>[],
): { readonly parts: readonly { readonly name: Name; readonly amount: bigint }[]; readonly missingNanos: bigint } {
  const parts: { readonly name: Name; readonly amount: bigint }[] = [];
  let missing = wantedNanos > 0n ? wantedNanos : 0n;
  for (const { name, sentNanos, cashNanos } of holders) {
    const amount = [missing, sentNanos, cashNanos].reduce((least, one) => (one < least ? one : least));
    if (amount <= 0n) continue;
    parts.push({ name, amount });
    missing -= amount;
  }
  return { parts, missingNanos: missing };
}
