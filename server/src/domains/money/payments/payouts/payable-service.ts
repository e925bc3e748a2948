import { randomUUID } from "node:crypto";
import { invalid } from "../../../../base/errors.ts";
import type { UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { formatDollars, nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import {
  earningsOf,
  ISSUANCE,
  lockAccounts,
  LOSSES,
  postTransfers,
  readEarnings,
  type TransferRequest,
} from "../../ledger/index.ts";
import { sumCashEarnedFrom, sumGrantedEarned } from "../../ledger/for-payments.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { ALL_CASH, listFlagged } from "../disputes/dispute-service.ts";
import { hasOpenPayoutHold } from "./payout-hold-store.ts";
import { payableOf, youngPart, type Payable } from "./rules/payable.ts";
import { readEarningsRules, type EarningsRules } from "../rules-store.ts";
import { listYoungPayments } from "./young-store.ts";

const DAY_MS = 86_400_000;

/** The payable part of a host's earnings now, and the reasons for the other parts. */
export async function readPayable(db: Reader, now: Date, userId: UserId): Promise<Payable> {
  const rules = await readEarningsRules(db);
  const { balanceNanos, grantedNanos } = await readEarnings(db, userId);
  return payableOf({
    balanceNanos,
    grantedNanos,
    releasableNanos: await releasableOf(db, now, { userId, grantedNanos, rules }),
    youngNanos: balanceNanos > 0n ? await youngOf(db, now, { userId, rules }) : 0n,
    isHeld: await hasOpenPayoutHold(db, userId),
  });
}

type OfHost = { readonly userId: UserId; readonly rules: EarningsRules };

async function releasableOf(
  db: Reader,
  now: Date,
  { userId, grantedNanos, rules: { grantedAfterDays } }: OfHost & { readonly grantedNanos: bigint },
): Promise<bigint> {
  if (grantedAfterDays === undefined || grantedNanos <= 0n) return 0n;
  if (grantedAfterDays === 0) return grantedNanos;
  return grantedNanos - (await sumGrantedEarned(db, userId, before(now, grantedAfterDays)));
}

async function youngOf(db: Reader, now: Date, { userId, rules: { cardHoldDays } }: OfHost): Promise<Nanos> {
  const since = before(now, cardHoldDays);
  const young = await listYoungPayments(db, { since });
  return youngPart(await sumCashEarnedFrom(db, { hostId: userId, payerIds: [...young.keys()], since }), young);
}

function before(now: Date, days: number): Date {
  return new Date(now.getTime() - days * DAY_MS);
}

/**
 * The card payments of each of these users that can still be taken back, in nano-dollars; users without any are left
 * out. For a user with a disputed payment it is all of their credit.
 */
export async function listYoungCredit(
  db: Reader,
  now: Date,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, bigint>> {
  const { cardHoldDays } = await readEarningsRules(db);
  const young = await listYoungPayments(db, { since: before(now, cardHoldDays), userIds });
  const flagged = await listFlagged(db, userIds);
  return new Map([...young, ...[...flagged].map((userId) => [userId, ALL_CASH] as const)]);
}

/**
 * The two transfers that turn granted earnings into cash: the granted amount returns to the issuance account, and the
 * losses account pays the same amount in cash. The balance of the earnings is unchanged, and the house bears the cost.
 */
export function releaseTransfers(
  name: string,
  {
    userId,
    amount,
    cause,
  }: { readonly userId: UserId; readonly amount: Nanos; readonly cause: TransferRequest["cause"] },
): readonly TransferRequest[] {
  if (amount === 0n) return [];
  const common = { amount, code: "grant_released", cause } as const;
  const earnings = earningsOf(userId);
  const description = "Earnings of granted credit, released";
  return [
    { ...common, key: `grant_released:${name}:granted`, debit: earnings, credit: ISSUANCE, description },
    { ...common, key: `grant_released:${name}:cash`, debit: LOSSES, credit: earnings, description },
  ];
}

export type Release = {
  readonly userId: UserId;
  /** The amount to release; undefined for everything that waits. */
  readonly amount: Nanos | undefined;
  /** A phrase for the host. */
  readonly reason: string;
  readonly actorId: UserId;
};

/**
 * Lets a host be paid for granted credit, on an administrator's decision. Returns the released amount; throws an error
 * about `amount` beyond the granted earnings.
 */
export async function releaseGrantedEarnings(tx: Tx, { userId, amount, reason, actorId }: Release): Promise<Nanos> {
  await lockAccounts(tx, [earningsOf(userId), ISSUANCE, LOSSES]);
  const { balanceNanos, grantedNanos } = await readEarnings(tx.db, userId);
  const most = payableOf({ balanceNanos, grantedNanos, releasableNanos: 0n, youngNanos: 0n, isHeld: false }).granted;
  const released = amount ?? most;
  if (released <= 0n || released > most) {
    throw invalid("amount", `amount may be at most $${formatDollars(most)}: that much of the earnings was granted`);
  }
  const cause = { actor_id: actorId, reason };
  const requests = releaseTransfers(randomUUID(), { userId, amount: nanos(released), cause });
  const outcomes = await postTransfers(tx, requests);
  invariant(
    outcomes.every(({ kind }) => kind === "posted"),
    "what was counted under the lock can be released",
  );
  await postNotifications(tx, [
    {
      userId,
      kind: "host:earnings_released",
      subject: `$${formatDollars(nanos(released))} of your earnings are released`,
      message: `$${formatDollars(nanos(released))} of what you earned from granted credit can be paid out. Reason: ${reason}`,
      key: `earnings_released:${requests[0]?.key}`,
    },
  ]);
  return nanos(released);
}
