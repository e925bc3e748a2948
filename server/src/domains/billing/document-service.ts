import type { Clock } from "../../base/clock.ts";
import type { UserId } from "../../base/ids.ts";
import { invariant } from "../../base/invariant.ts";
import type { Database } from "../../db/connect.ts";
import { inSnapshot, withTransaction, type Reader } from "../../db/transaction.ts";
import { findUser } from "../accounts/index.ts";
import { listInstanceNames } from "../instances/index.ts";
import {
  firstMovementAt,
  listCreditHolders,
  listMoversAmong,
  prepaidBalanceOf,
  sumPrepaidMovements,
} from "../ledger/index.ts";
import { listContractSums, listPayersAmong, totalCharged } from "../metering/index.ts";
import {
  findLastDocument,
  insertDocument,
  listIssuedAmong,
  lockDocumentClock,
  readDocumentClock,
  setDocumentClock,
  takeSequence,
} from "./document-store.ts";
import { makeContent, numberOf, openingOf, type DocumentFacts } from "./document.ts";
import { monthStart } from "./report.ts";
import type { Seller } from "./seller.ts";

export type IssueMeans = { readonly database: Database; readonly clock: Clock; readonly seller: Seller };
type Month = { readonly from: Date; readonly until: Date };

/** So long after a month its last transactions are over. */
const DELAY_MS = 3_600_000;
const USERS_AT_ONCE = 500;
const BATCHES_PER_RUN = 40;
/** After every transfer that there is. */
const FAR = new Date("9999-12-31T00:00:00Z");

/**
 * Issues the invoices of months that are over, oldest month first, to everybody with usage or movements of credit in it.
 * Safe to repeat and to run side by side: a month has one invoice of a user. Returns how many were issued. One that cannot
 * be issued keeps no other back; the run fails in the end, and its month is not done before it is there.
 */
export async function issueInvoices(means: IssueMeans): Promise<number> {
  let [issued, after]: [number, Place | undefined] = [0, undefined];
  const failures: unknown[] = [];
  for (let batch = 0; batch < BATCHES_PER_RUN; batch += 1) {
    const done = await issueBatch(means, after, failures);
    if (done === undefined) break;
    issued += done.issued;
    after = done.reached;
  }
  if (failures.length > 0) throw failures[0];
  return issued;
}

/** Where this run is; ahead of the stored clock when something failed on the way. */
type Place = { readonly nextFrom: Date; readonly doneUserId: number };
type Batch = { readonly issued: number; readonly reached: Place | undefined };

/** The next users of the first month that is not done; undefined when there is no such month. */
async function issueBatch(
  { database, clock, seller }: IssueMeans,
  after: Place | undefined,
  failures: unknown[],
): Promise<Batch | undefined> {
  const { nextFrom, doneUserId } = after ?? (await readDocumentClock(database.kysely));
  if (nextFrom === undefined) return beginClock({ database, clock });
  const month = { from: nextFrom, until: monthAfter(nextFrom) };
  if (clock.now().getTime() < month.until.getTime() + DELAY_MS) return undefined;
  const holders = await listCreditHolders(database.kysely, doneUserId, USERS_AT_ONCE);
  let issued = 0;
  for (const userId of await listDue(database.kysely, holders, month)) {
    try {
      if (await issueOne({ database, clock, seller }, userId, month)) issued += 1;
    } catch (error) {
      failures.push(error);
    }
  }
  const last = holders.at(-1);
  // A month with a gap is not passed: the next one begins where this one ends.
  if (last === undefined && failures.length > 0) return undefined;
  const reached = last === undefined ? { nextFrom: month.until, doneUserId: 0 } : { nextFrom, doneUserId: last };
  if (failures.length > 0) return { issued, reached };
  await withTransaction(database, clock, async (tx) => {
    const now = await lockDocumentClock(tx);
    // Another process may have come further meanwhile.
    if (now.nextFrom?.getTime() !== nextFrom.getTime() || now.doneUserId !== doneUserId) return;
    await setDocumentClock(tx, reached);
  });
  return { issued, reached: undefined };
}

/** Begins with the month of the first movement of money. */
async function beginClock({ database, clock }: Omit<IssueMeans, "seller">): Promise<Batch | undefined> {
  const first = await firstMovementAt(database.kysely);
  if (first === undefined) return undefined;
  await withTransaction(database, clock, async (tx) => {
    const { nextFrom } = await lockDocumentClock(tx);
    if (nextFrom === undefined) await setDocumentClock(tx, { nextFrom: monthStart(first), doneUserId: 0 });
  });
  return { issued: 0, reached: undefined };
}

async function listDue(db: Reader, holders: readonly UserId[], month: Month): Promise<readonly UserId[]> {
  const [payers, movers, issued] = await Promise.all([
    listPayersAmong(db, holders, month),
    listMoversAmong(db, holders, month),
    listIssuedAmong(db, holders, month.from),
  ]);
  const active = new Set([...payers, ...movers]);
  return holders.filter((id) => active.has(id) && !issued.has(id));
}

/** The month is over, so what is read does not change any more; the lock only keeps the numbers in order. */
async function issueOne({ database, clock, seller }: IssueMeans, userId: UserId, month: Month): Promise<boolean> {
  const { facts, last } = await inSnapshot(database, async (db) => ({
    facts: await readFacts(db, seller, userId, month),
    last: await findLastDocument(db, userId, month.from),
  }));
  const opening = String(openingOf(facts));
  invariant(
    last === undefined || last.content.balance.closing_nanos === opening,
    `the balance of user ${userId} at ${month.from.toISOString()} is not where invoice ${last?.number} ended`,
  );
  const content = makeContent(facts);
  return withTransaction(database, clock, async (tx) => {
    await lockDocumentClock(tx);
    if ((await listIssuedAmong(tx.db, [userId], month.from)).size > 0) return false;
    const year = tx.now.getUTCFullYear();
    const sequence = await takeSequence(tx, seller.numberPrefix, year);
    const number = numberOf(seller.numberPrefix, year, sequence);
    const document = { number, userId, ...month, issuedAt: tx.now, content };
    await insertDocument(tx, { prefix: seller.numberPrefix, year, sequence, document });
    return true;
  });
}

/** What an invoice of this month is made of. */
export async function readFacts(db: Reader, seller: Seller, userId: UserId, month: Month): Promise<DocumentFacts> {
  const later = { from: month.until, until: FAR };
  const sums = await listContractSums(db, { payerId: userId, ...month });
  const movements = await sumPrepaidMovements(db, userId, month);
  const movedSince = await sumPrepaidMovements(db, userId, later);
  const chargedSince = await totalCharged(db, { payerId: userId, ...later });
  const balance = await prepaidBalanceOf(db, userId);
  const net = movedSince.reduce((sum, { direction, amount }) => (direction === "in" ? sum + amount : sum - amount), 0n);
  const ids = new Set(sums.flatMap(({ instanceId }) => instanceId ?? []));
  const names = await listInstanceNames(db, userId, [...ids]);
  return {
    seller,
    userId,
    user: await findUser(db, userId),
    names: new Map(names.map((name) => [name.id, name])),
    sums,
    movements,
    closingNanos: balance - net + chargedSince.amount,
  };
}

/** The first instant of the next month (UTC). */
function monthAfter(from: Date): Date {
  return new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1));
}
