import type { Clock } from "../../../../base/clock.ts";
import type { UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import type { Database } from "../../../../db/connect.ts";
import { inSnapshot, withTransaction, type Reader } from "../../../../db/transaction.ts";
import { findUser } from "../../../people/accounts/for-invoices.ts";
import { listGpuModels } from "../../../supply/hosts/index.ts";
import { listInstanceNames } from "../../../rental/instances/index.ts";
import {
  firstMovementAt,
  listCreditHolders,
  listEarlyEnds,
  listMoversAmong,
  sumPrepaidMovements,
} from "../../ledger/for-invoices.ts";
import { prepaidBalanceOf } from "../../ledger/index.ts";
import {
  listBeginnings,
  listContractSums,
  listMonthPortions,
  listPayersAmong,
  sumDiscounts,
  totalCharged,
  type ChargeSum,
} from "../../charging/for-invoices.ts";
import { listVolumeNames } from "../../../supply/volumes/index.ts";
import {
  findLastDocument,
  insertDocument,
  listIssuedAmong,
  lockDocumentClock,
  readDocumentClock,
  readUsageByMonthFrom,
  setDocumentClock,
  takeSequence,
} from "./document-store.ts";
import type { Edition } from "./rules/document-lines.ts";
import { cutOff, interrupted, usageIn, type Month, type UsageSum } from "./rules/document-usage.ts";
import { makeContent, numberOf, openingOf, type DocumentFacts } from "./rules/document.ts";
import { monthAfter, monthStart } from "../month.ts";
import type { Seller } from "../seller.ts";

export type IssueMeans = { readonly database: Database; readonly clock: Clock; readonly seller: Seller };

/** Time after a cut-off by which the transactions before it have ended. */
const DELAY_MS = 3_600_000;
const USERS_AT_ONCE = 500;
const BATCHES_PER_RUN = 40;
/** A moment after every transfer. */
const FAR = new Date("9999-12-31T00:00:00Z");

/**
 * Issues the invoices of finished months, oldest month first, to every user with usage or movements of credit in the
 * month. Safe to repeat and to run concurrently: a user has one invoice per month. Returns the number issued. An
 * invoice that cannot be issued does not hold up others; the run fails at its end, and the month is not finished before
 * the invoice exists.
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

/** The progress of this run; ahead of the stored clock after a failure. */
type Place = { readonly nextFrom: Date; readonly doneUserId: number };
type Batch = { readonly issued: number; readonly reached: Place | undefined };

/** Issues invoices to the next users of the first unfinished month; undefined when every month is finished. */
async function issueBatch(
  { database, clock, seller }: IssueMeans,
  after: Place | undefined,
  failures: unknown[],
): Promise<Batch | undefined> {
  const { nextFrom, doneUserId } = after ?? (await readDocumentClock(database.kysely));
  if (nextFrom === undefined) return beginClock({ database, clock });
  const month = { from: nextFrom, until: monthAfter(nextFrom) };
  if (clock.now().getTime() < cutOff(month).getTime() + DELAY_MS) return undefined;
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
  // A month with a gap is not passed: each month begins where the one before ends.
  if (last === undefined && failures.length > 0) return undefined;
  const reached = last === undefined ? { nextFrom: month.until, doneUserId: 0 } : { nextFrom, doneUserId: last };
  if (failures.length > 0) return { issued, reached };
  await withTransaction(database, clock, async (tx) => {
    const now = await lockDocumentClock(tx);
    // Another process may have advanced meanwhile.
    if (now.nextFrom?.getTime() !== nextFrom.getTime() || now.doneUserId !== doneUserId) return;
    await setDocumentClock(tx, reached);
  });
  return { issued, reached: undefined };
}

/** Starts the clock at the month of the first movement of money. */
async function beginClock({ database, clock }: Omit<IssueMeans, "seller">): Promise<Batch | undefined> {
  const first = await firstMovementAt(database.kysely);
  if (first === undefined) return undefined;
  await withTransaction(database, clock, async (tx) => {
    const { nextFrom } = await lockDocumentClock(tx);
    if (nextFrom === undefined) await setDocumentClock(tx, { nextFrom: monthStart(first), doneUserId: 0 });
  });
  return { issued: 0, reached: undefined };
}

/** Those of these users who may need an invoice of a month, and have none. */
export async function listDue(db: Reader, holders: readonly UserId[], month: Month): Promise<readonly UserId[]> {
  const [payers, movers, issued] = await Promise.all([
    listPayersAmong(db, holders, { from: month.from, until: cutOff(month) }),
    listMoversAmong(db, holders, month),
    listIssuedAmong(db, holders, month.from),
  ]);
  const active = new Set([...payers, ...movers]);
  return holders.filter((id) => active.has(id) && !issued.has(id));
}

/** Issues one invoice. Its month is over, so the data is final; the lock only keeps the numbers in order. */
async function issueOne({ database, clock, seller }: IssueMeans, userId: UserId, month: Month): Promise<boolean> {
  const { facts, edition, last } = await inSnapshot(database, async (db) => ({
    ...(await readFactsToIssue(db, { seller, userId, month })),
    last: await findLastDocument(db, userId, month.from),
  }));
  if (!needsInvoice(facts)) return false;
  const opening = String(openingOf(facts));
  invariant(
    last === undefined || last.content.balance.closing_nanos === opening,
    `the balance of user ${userId} at ${month.from.toISOString()} is not where invoice ${last?.number} ended`,
  );
  const content = makeContent(facts, edition);
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

type IssuedMonth = { readonly seller: Seller; readonly userId: UserId; readonly month: Month };

/** The facts of an invoice of this month, if it is issued today. */
export async function readFactsToIssue(
  db: Reader,
  issued: IssuedMonth,
): Promise<{ readonly facts: DocumentFacts; readonly edition: Edition }> {
  const since = await readUsageByMonthFrom(db);
  const edition: Edition = since !== undefined && issued.month.from < since ? 1 : 2;
  return { facts: await readFacts(db, { ...issued, edition }), edition };
}

/**
 * True for a month with usage or movements of its own: charges in its first hours may belong to the invoice before or
 * after.
 */
export function needsInvoice({ sums, movements }: DocumentFacts): boolean {
  return sums.length > 0 || movements.length > 0;
}

/** The facts of an invoice of this month, by the rules of its edition. */
export async function readFacts(
  db: Reader,
  { seller, userId, month, edition }: IssuedMonth & { readonly edition: Edition },
): Promise<DocumentFacts> {
  const later = { from: month.until, until: FAR };
  const { sums, accrued } = await readUsage(db, { userId, month, edition });
  const movements = await sumPrepaidMovements(db, userId, month);
  const movedSince = await sumPrepaidMovements(db, userId, later);
  const chargedSince = await totalCharged(db, { payerId: userId, ...later });
  const balance = await prepaidBalanceOf(db, userId);
  const net = movedSince.reduce((sum, { direction, amount }) => (direction === "in" ? sum + amount : sum - amount), 0n);
  const earlyEnds = await listEarlyEnds(db, userId, month);
  return {
    ...(await readNames(db, userId, sums, earlyEnds)),
    seller,
    userId,
    user: await findUser(db, userId),
    sums,
    earlyEnds,
    movements,
    closingNanos: balance - net + chargedSince.amount - accrued,
  };
}

type Usage = {
  readonly sums: readonly UsageSum[];
  /** Usage on invoices up to this one that was charged after its month; the closing balance is lower by it. */
  readonly accrued: bigint;
};

async function readUsage(
  db: Reader,
  { userId, month, edition }: { readonly userId: UserId; readonly month: Month; readonly edition: Edition },
): Promise<Usage> {
  const charged = await listContractSums(db, { payerId: userId, ...month });
  if (edition === 1) return { sums: charged.map((sum) => ({ ...sum, discount: 0n, isLate: false })), accrued: 0n };
  const discounted = charged.filter(({ component, highestDiscountPpm: ppm }) => component === "gpu" && ppm > 0);
  const discountedIds = discounted.flatMap(({ instanceId }) => instanceId ?? []);
  const discounts = await sumDiscounts(db, { payerId: userId, ...month }, discountedIds);
  const discountOf = ({ component, instanceId }: ChargeSum): bigint =>
    component === "gpu" && instanceId !== undefined ? (discounts.get(instanceId) ?? 0n) : 0n;
  // Invoices of edition 1 contained all charges of their month, and none after it.
  const since = await readUsageByMonthFrom(db);
  const isFirst = since !== undefined && month.from <= since;
  const ownFrom = isFirst ? month.from : cutOff({ until: month.from });
  const portions = (from: Date, until: Date, before: Date) =>
    listMonthPortions(db, { payerId: userId, from, until }, before);
  const after = await portions(month.until, cutOff(month), month.until);
  const parts = {
    charged: charged.map((sum) => ({ ...sum, discount: discountOf(sum) })),
    before: await portions(month.from, ownFrom, month.from),
    after,
    late: await portions(ownFrom, cutOff(month), month.from),
  };
  const span = { payerId: userId, from: month.from, until: cutOff(month) };
  const beginnings = await listBeginnings(db, span, { after: month.from, of: interrupted(month, parts) });
  const sums = usageIn(month, { ...parts, beginnings });
  return { sums, accrued: after.reduce((sum, { amount }) => sum + amount, 0n) };
}

/** The names and hardware of the instances and volumes of an invoice. */
async function readNames(
  db: Reader,
  userId: UserId,
  sums: DocumentFacts["sums"],
  earlyEnds: DocumentFacts["earlyEnds"],
): Promise<Pick<DocumentFacts, "names" | "volumeNames" | "gpuModels">> {
  const instanceIds = new Set([...sums, ...earlyEnds].flatMap(({ instanceId }) => instanceId ?? []));
  const volumeIds = new Set(sums.flatMap(({ volumeId }) => volumeId ?? []));
  const names = await listInstanceNames(db, userId, [...instanceIds]);
  const volumeNames = await listVolumeNames(db, userId, [...volumeIds]);
  const machineIds = new Set(names.map(({ machineId }) => machineId));
  return {
    names: new Map(names.map((name) => [name.id, name])),
    volumeNames: new Map(volumeNames.map((name) => [name.id, name])),
    gpuModels: await listGpuModels(db, [...machineIds]),
  };
}
