import { AppError, insufficientFunds } from "../../base/errors.ts";
import type { Identity } from "../../base/identity.ts";
import { formatDollars, NANOS_PER_DOLLAR } from "../../base/money.ts";
import type { UserId } from "../../base/ids.ts";
import type { Tx } from "../../db/transaction.ts";
import { requireAccount } from "../accounts/index.ts";
import { describeScope, listCapsOfScopes, readMeans, type CapScope } from "../ledger/index.ts";

/** Who pays for something new, and whose limits that counts against besides the account's. */
export type Payer = { readonly userId: UserId; readonly capScopes: readonly CapScope[] };

export function payerOf({ userId, apiKeyId }: Pick<Identity, "userId" | "apiKeyId">): Payer {
  return { userId, capScopes: [`key:${apiKeyId}`] };
}

/**
 * Nothing is rented without credit (semantics.md §10.2), nor beyond a cap: throws `insufficient_funds` unless some is left
 * to spend. Nor for an account that is gone; until the commit it stays.
 */
export async function requireCredit(tx: Tx, { userId, capScopes }: Payer): Promise<void> {
  await requireAccount(tx, userId);
  const { aboveZeroNanos = 0n, aboveFloorNanos = 0n } = (await readMeans(tx.db, [userId], "credit")).get(userId) ?? {};
  // Credit that may go below zero is for what is stored already, and what that cost may not be posted yet.
  const available = aboveZeroNanos - (aboveFloorNanos - aboveZeroNanos);
  if (available <= 0n) {
    const cent = NANOS_PER_DOLLAR / 100n;
    throw insufficientFunds(`Renting a volume needs credit: at least $${formatDollars(cent - available)} more.`);
  }
  const caps = await listCapsOfScopes(tx.db, [`account:${userId}`, ...capScopes], tx.now);
  const reached = caps.find(({ limit, spent, held }) => limit - spent - held <= 0n);
  if (reached === undefined) return;
  const { id, scope, period } = reached;
  const message = `A cap is reached: that of ${describeScope(scope)} leaves nothing for a volume.`;
  throw new AppError("insufficient_funds", "cap_reached", message, { extra: { cap_id: id, period } });
}
