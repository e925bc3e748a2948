// Follows the credit of a payment from one user to the next.
import type { UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listPaidHosts } from "../../charging/for-payments.ts";
import { creditOf, depositOf, earningsOf, type Arrival, type Sent } from "../../ledger/index.ts";
import { listSentCredit, readFreeCashOf, type AccountRef } from "../../ledger/for-payments.ts";
import { instanceOfDeposit, isDepositKind, type DepositKind, type TakenFrom } from "../refunds/rules/return-keys.ts";
import { listOpenTakingsAmong, type Taking } from "./taking-store.ts";
import { planTracing, type TracedEdge } from "./rules/tracing.ts";

/** An account that money is taken from, without the way on which it got there. */
export type Place = Pick<TakenFrom, "kind" | "userId">;

export type OpenDeposit = { readonly kind: DepositKind; readonly userId: UserId };

export type Trace = {
  readonly takings: readonly Taking[];
  readonly missingNanos: bigint;
  /** Accounts that were examined; the amounts are certain only under their locks. */
  readonly places: readonly Place[];
  /** True when there were more accounts than are examined for one payment. */
  readonly isCutOff: boolean;
};

/** Users whose credit is followed at most: each of their accounts is locked. */
const USERS_MAX = 1000;

/**
 * Follows the credit of a payment to its recipients and onwards, also to hosts and into deposits, until an amount is
 * found.
 */
export async function traceCredit(
  db: Reader,
  {
    wantedNanos,
    payment,
    paidSince,
    deposits,
  }: {
    readonly wantedNanos: bigint;
    /** The arrival of the payment's credit at the payer. */
    readonly payment: Arrival;
    /** The arrival since which payments of the payer to hosts count; undefined when no host is asked. */
    readonly paidSince: Arrival | undefined;
    /** Deposits of users that may be reached; they are settled, and their locks are held. */
    readonly deposits: readonly OpenDeposit[];
  },
): Promise<Trace> {
  const arrivals = new Map([[payment.userId, payment]]);
  const edgesOf = new Map<UserId, readonly FoundEdge[]>();
  let frontier: readonly Arrival[] = wantedNanos > 0n ? [payment] : [];
  let trace: Trace = { takings: [], missingNanos: wantedNanos > 0n ? wantedNanos : 0n, places: [], isCutOff: false };
  while (trace.missingNanos > 0n && frontier.length > 0) {
    const isCutOff = arrivals.size > USERS_MAX;
    if (isCutOff) return { ...trace, isCutOff };
    const sent = await listSentCredit(db, frontier);
    const payers = frontier.map((one) => (one.userId === payment.userId ? (paidSince ?? one) : one));
    const paid = paidSince === undefined ? [] : await listPaidHosts(db, payers);
    for (const { userId } of frontier) edgesOf.set(userId, []);
    for (const one of sent) addEdge(edgesOf, one, { kind: "credit", userId: one.to });
    for (const one of paid) addEdge(edgesOf, one, { kind: "earnings", userId: one.to });
    frontier = arriveAt(arrivals, sent);
    // Any cash of a deposit may come from the payment, like cash in the credit of its owner.
    const prepaid = deposits
      .filter(({ userId }) => userId !== payment.userId && arrivals.has(userId))
      .map((to) => ({ from: to.userId, to, nanos: wantedNanos }));
    const edges = [...prepaid, ...[...edgesOf.values()].flat()];
    trace = await planWith(db, { wantedNanos, payment, paidSince, arrivals, edges });
  }
  return trace;
}

type FoundEdge = { readonly from: UserId; readonly to: Place; readonly nanos: bigint };

function addEdge(edgesOf: Map<UserId, readonly FoundEdge[]>, { from, nanos: amount }: Sent, to: Place): void {
  edgesOf.set(from, [...(edgesOf.get(from) ?? []), { from, to, nanos: amount }]);
}

/**
 * Records the users who were reached, and returns those to follow: new ones, and known ones that were reached earlier
 * than known.
 */
function arriveAt(arrivals: Map<UserId, Arrival>, sent: readonly Sent[]): readonly Arrival[] {
  const changed = new Map<UserId, Arrival>();
  for (const { to: userId, firstId: transferId, firstAt: at } of sent) {
    const known = arrivals.get(userId);
    if (known !== undefined && known.transferId <= transferId) continue;
    const arrival = { userId, transferId, at };
    arrivals.set(userId, arrival);
    changed.set(userId, arrival);
  }
  return [...changed.values()];
}

async function planWith(
  db: Reader,
  {
    wantedNanos,
    payment,
    paidSince,
    arrivals,
    edges,
  }: {
    readonly wantedNanos: bigint;
    readonly payment: Arrival;
    readonly paidSince: Arrival | undefined;
    readonly arrivals: ReadonlyMap<UserId, Arrival>;
    readonly edges: readonly FoundEdge[];
  },
): Promise<Trace> {
  const payer = nameOf({ kind: "credit", userId: payment.userId });
  const places = new Map(edges.map(({ to }) => [nameOf(to), to]));
  places.delete(payer);
  const cash = await readFreeCashOf(db, [...places.values()].map(accountOf));
  const cashOf = new Map([...places.keys()].map((name, index) => [name, cash[index] ?? 0n]));
  const sinceOf = (userId: UserId, to: Place) =>
    userId === payment.userId && to.kind === "earnings" ? paidSince : arrivals.get(userId);
  const used = await listUsed(db, sinceOf, places);
  const left = edges.map(({ from, to, nanos: sent }): TracedEdge => {
    const names = { from: nameOf({ kind: "credit", userId: from }), to: nameOf(to) };
    return { ...names, nanos: isDepositKind(to.kind) ? sent : sent - (used.get(`${names.from} ${names.to}`) ?? 0n) };
  });
  const { parts, missingNanos } = planTracing(wantedNanos, { payer, edges: left, cashOf });
  const takings = parts.map(({ path, amount }): Taking => {
    const stops = path.map((name) => places.get(name)).filter((place) => place !== undefined);
    const end = stops.at(-1);
    invariant(end !== undefined && stops.length === path.length, "a path leads over places that were found");
    return { ...end, through: stops.slice(0, -1).map(({ userId }) => userId), amount: nanos(amount) };
  });
  return { takings, missingNanos, places: [...places.values()], isCutOff: false };
}

/** The amounts of each edge that were taken back already, for this payment or for others. */
async function listUsed(
  db: Reader,
  sinceOf: (from: UserId, to: Place) => Arrival | undefined,
  places: ReadonlyMap<string, Place>,
): Promise<ReadonlyMap<string, bigint>> {
  const used = new Map<string, bigint>();
  const userIds = new Set([...places.values()].map(({ userId }) => userId));
  for (const { payerId, through, kind, userId, amount, takenAt } of await listOpenTakingsAmong(db, [...userIds])) {
    const stops = [...[payerId, ...through].map((id): Place => ({ kind: "credit", userId: id })), { kind, userId }];
    for (const [index, to] of stops.entries()) {
      const from = stops[index - 1];
      const since = from && sinceOf(from.userId, to);
      // Amounts taken before the credit arrived came out of earlier transfers.
      if (from === undefined || since === undefined || takenAt < since.at) continue;
      const edge = `${nameOf(from)} ${nameOf(to)}`;
      used.set(edge, (used.get(edge) ?? 0n) + amount);
    }
  }
  return used;
}

export function nameOf({ kind, userId }: Place): string {
  return `${kind} ${userId}`;
}

export function accountOf({ kind, userId }: Place): AccountRef {
  if (isDepositKind(kind)) return depositOf(userId, instanceOfDeposit(kind));
  return kind === "credit" ? creditOf(userId) : earningsOf(userId);
}
