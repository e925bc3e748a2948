import type { UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { inSnapshot, withTransaction, type Reader } from "../../../../db/transaction.ts";
import { findUser } from "../../../people/accounts/for-invoices.ts";
import { listGpuModels } from "../../../supply/hosts/index.ts";
import { firstMovementAt, listEarningsHolders, sumEarningsMovements } from "../../ledger/for-invoices.ts";
import { readEarnings, sumEarningsOf } from "../../ledger/index.ts";
import { readPayable } from "../../payments/for-invoices.ts";
import type { Month } from "../documents/rules/document-usage.ts";
import { monthAfter, monthStart } from "../month.ts";
import type { Seller } from "../seller.ts";
import {
  findLastStatement,
  issueDocument,
  listStatedAmong,
  lockKindClock,
  readKindClock,
  storeKindClock,
  type KindClock,
} from "./account-document-store.ts";
import type { IssueMeans } from "./issue-by-movement.ts";
import { makeStatement, openingOfStatement, type StatementFacts, type Waiting } from "./rules/statement.ts";

const DAY_MS = 86_400_000;
/** Time after a month by which its transactions have ended. */
const DELAY_MS = 2 * 3_600_000;
const HOSTS_AT_ONCE = 200;
const BATCHES_PER_RUN = 40;
/** A moment after every transfer. */
const FAR = new Date("9999-12-31T00:00:00Z");

/**
 * Issues the statements of finished months, oldest month first, to every host whose earnings moved in the month. Safe
 * to repeat and to run concurrently. Returns the number issued. A statement that cannot be issued does not hold up
 * others; the run fails at its end, and the month is not finished before the statement exists.
 */
export async function issueStatements(means: IssueMeans): Promise<number> {
  const { database, clock } = means;
  const failures: unknown[] = [];
  let issued = 0;
  let place: KindClock | undefined;
  for (let batch = 0; batch < BATCHES_PER_RUN; batch += 1) {
    place ??= await beginMonth(means);
    if (place === undefined) break;
    const month = { from: place.doneUntil, until: monthAfter(place.doneUntil) };
    if (clock.now().getTime() < month.until.getTime() + DELAY_MS) break;
    const hosts = await listEarningsHolders(database.kysely, place.doneUserId, HOSTS_AT_ONCE);
    const stated = await listStatedAmong(database.kysely, hosts, month.from);
    for (const userId of hosts.filter((id) => !stated.has(id))) {
      try {
        if (await issueOne(means, userId, month)) issued += 1;
      } catch (error) {
        failures.push(error);
      }
    }
    const last = hosts.at(-1);
    // A month with a gap is not passed: each month begins where the one before ends.
    if (last === undefined && failures.length > 0) break;
    const reached = last === undefined ? { doneUntil: month.until, doneUserId: 0 } : { ...place, doneUserId: last };
    if (failures.length === 0) await advance(means, place, reached);
    place = reached;
  }
  if (failures.length > 0) throw failures[0];
  return issued;
}

/** The first unfinished month; for the first statement of all, that of the first movement of money. */
async function beginMonth({ database }: IssueMeans): Promise<KindClock | undefined> {
  const place = await readKindClock(database.kysely, "statement");
  const first = await firstMovementAt(database.kysely);
  if (first === undefined) return undefined;
  return place.doneUntil < monthStart(first) ? { doneUntil: monthStart(first), doneUserId: 0 } : place;
}

/** Stores the progress unless another process has advanced meanwhile. */
async function advance({ database, clock }: IssueMeans, from: KindClock, reached: KindClock): Promise<void> {
  await withTransaction(database, clock, async (tx) => {
    const { doneUntil, doneUserId } = await lockKindClock(tx, "statement");
    if (
      doneUntil > from.doneUntil ||
      (doneUntil.getTime() === from.doneUntil.getTime() && doneUserId > from.doneUserId)
    ) {
      return;
    }
    await storeKindClock(tx, "statement", reached);
  });
}

/** Issues one statement. Its month is over, so the data is final; the lock only keeps the numbers in order. */
async function issueOne(means: IssueMeans, userId: UserId, month: Month): Promise<boolean> {
  const { database, clock, seller } = means;
  const { facts, last } = await inSnapshot(database, async (db) => ({
    facts: await readStatementFacts(db, { seller, userId, month, now: clock.now() }),
    last: await findLastStatement(db, userId, month.from),
  }));
  if (facts.earned.length === 0 && facts.moved.length === 0) return false;
  const opening = String(openingOfStatement(facts));
  invariant(
    last === undefined || last.content.closing_nanos === opening,
    `the earnings of user ${userId} at ${month.from.toISOString()} are not where statement ${last?.number} ended`,
  );
  const content = makeStatement(facts);
  return withTransaction(database, clock, async (tx) => {
    await lockKindClock(tx, "statement");
    if ((await listStatedAmong(tx.db, [userId], month.from)).size > 0) return false;
    const statement = {
      kind: "statement",
      userId,
      month,
      transferId: undefined,
      refersTo: undefined,
      content,
    } as const;
    await issueDocument(tx, seller.numberPrefix, statement);
    return true;
  });
}

/** The facts of a statement of this month. */
export async function readStatementFacts(
  db: Reader,
  {
    seller,
    userId,
    month,
    now,
  }: { readonly seller: Seller; readonly userId: UserId; readonly month: Month; readonly now: Date },
): Promise<StatementFacts> {
  const dayOf = (at: Date) => Math.floor(at.getTime() / DAY_MS);
  const earned = await sumEarningsOf(db, userId, { first: dayOf(month.from), last: dayOf(month.until) - 1 });
  const moved = await sumEarningsMovements(db, userId, month);
  const later = [
    ...(await sumEarningsOf(db, userId, { first: dayOf(month.until), last: dayOf(FAR) })),
    ...(await sumEarningsMovements(db, userId, { from: month.until, until: FAR })),
  ];
  const { balanceNanos } = await readEarnings(db, userId);
  const machineIds = new Set(earned.flatMap(({ machineId }) => machineId ?? []));
  return {
    seller,
    userId,
    user: await findUser(db, userId),
    gpuModels: await listGpuModels(db, [...machineIds]),
    earned,
    moved,
    closingNanos: later.reduce((balance, { amount }) => balance - amount, balanceNanos),
    waiting: await readWaiting(db, userId, now),
  };
}

async function readWaiting(db: Reader, userId: UserId, now: Date): Promise<Waiting> {
  const { payable, granted, young, held, debt } = await readPayable(db, now, userId);
  return {
    as_of_ms: now.getTime(),
    payable_nanos: String(payable),
    granted_nanos: String(granted),
    young_nanos: String(young),
    held_nanos: String(held),
    debt_nanos: String(debt),
  };
}
