/**
 * A user who received credit from an account whose payment was disputed, and the part of it that is still there as
 * cash.
 */
export type Holder<Name> = { readonly name: Name; readonly sentNanos: bigint; readonly cashNanos: bigint };

/**
 * The amounts to take back from these holders, in their order: from each at most the amount that it received and the
 * cash that it still has. The missing rest is the debt of the payer's account.
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
