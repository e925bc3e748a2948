import { AppError, insufficientFunds, invalid } from "../../../../base/errors.ts";
import type { Identity } from "../../../../base/identity.ts";
import { formatDollars } from "../../../../base/money.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { readAccountLimits, requireAccount } from "../../../people/accounts/index.ts";
import {
  describeScope,
  listCapsOfScopes,
  lockCredit,
  placeHold,
  readMeans,
  type CapScope,
  type HoldId,
} from "../../../money/ledger/index.ts";
import { countLiveVolumes } from "../room-store.ts";
import { FIRST_HOLD_SECONDS, volumeHoldAmount } from "./volume-hold.ts";

/** The payer of a new volume, and the cap scopes that its spending counts in besides the account. */
export type Payer = { readonly userId: UserId; readonly capScopes: readonly CapScope[] };

export function payerOf({ userId, apiKeyId }: Pick<Identity, "userId" | "apiKeyId">): Payer {
  return { userId, capScopes: [`key:${apiKeyId}`] };
}

type Size = { readonly sizeBytes: bigint; readonly priceNanosPerGbMonth: bigint };

/**
 * Sets aside the cost of a volume's first hours, within the balance and within caps; undefined for a volume that costs
 * nothing. Throws `insufficient_funds` when the credit is too low, and `too_many` when the account has as many volumes
 * as it may have. Throws for an account that is deleted or has no credit at all; the account stays until the commit.
 */
export async function holdForVolume(tx: Tx, { userId, capScopes }: Payer, size: Size): Promise<HoldId | undefined> {
  await requireAccount(tx, userId);
  await requireRoomForVolume(tx, userId);
  const scopes: readonly CapScope[] = [`account:${userId}`, ...capScopes];
  const amount = volumeHoldAmount(size, FIRST_HOLD_SECONDS);
  if (amount === 0n) {
    await requireCredit(tx, userId, scopes);
    return undefined;
  }
  const outcome = await placeHold(tx, { userId, amount, cause: { purpose: "volume" }, scopes });
  if (outcome.kind === "placed") return outcome.holdId;
  const [needed, missing] = [formatDollars(amount), formatDollars(outcome.shortfallNanos)];
  const extra = { shortfall: Number(missing) };
  const what = `a volume needs its first hours set aside, $${needed}`;
  if (outcome.limitedBy.kind === "balance") {
    throw insufficientFunds(`Not enough credit: ${what}, which is $${missing} more than you have.`, { extra });
  }
  const { capId, scope, period } = outcome.limitedBy;
  const message = `A cap is reached: ${what}, which is $${missing} more than that of ${describeScope(scope)} leaves.`;
  throw new AppError("insufficient_funds", "cap_reached", message, { extra: { ...extra, cap_id: capId, period } });
}

/** Counted under the credit lock that each rental takes, so that concurrent rentals see each other. */
async function requireRoomForVolume(tx: Tx, userId: UserId): Promise<void> {
  const { volumes: max } = await readAccountLimits(tx.db);
  await lockCredit(tx, userId);
  if ((await countLiveVolumes(tx.db, userId)) < max) return;
  const message = `An account may have at most ${max} volumes. Delete one that is not needed.`;
  throw invalid("id", message, "too_many");
}

/** Throws for a rental without credit or beyond a cap, even of a volume that costs nothing. */
async function requireCredit(tx: Tx, userId: UserId, scopes: readonly CapScope[]): Promise<void> {
  const { aboveZeroNanos = 0n } = (await readMeans(tx.db, [userId], "credit")).get(userId) ?? {};
  if (aboveZeroNanos <= 0n) throw insufficientFunds("Renting a volume needs credit: add at least $0.01.");
  const caps = await listCapsOfScopes(tx.db, scopes, tx.now);
  const reached = caps.find(({ limit, spent, held }) => limit - spent - held <= 0n);
  if (reached === undefined) return;
  const { id, scope, period } = reached;
  const message = `A cap is reached: that of ${describeScope(scope)} leaves nothing for a volume.`;
  throw new AppError("insufficient_funds", "cap_reached", message, { extra: { cap_id: id, period } });
}
