import type { Reader } from "../../../../db/transaction.ts";
import { listWrongAccountDocuments, listWrongDocuments } from "../../invoices/index.ts";
import { listWrongEarnings } from "../../ledger/for-audit.ts";
import { reportOf } from "./contract-audit.ts";
import { compare, type Tally } from "../rules/difference.ts";
import { listWrongDays, type LineRange, type WrongDay } from "../../charging/for-audit.ts";

const DAY_MS = 86_400_000;

/** Compares the daily sums that invoices and reports read with their charge lines. */
export async function auditDays(db: Reader, tally: Tally, { from }: LineRange): Promise<void> {
  const { examined, wrong } = await listWrongDays(db, from);
  tally.examine("days", examined);
  await auditEarnedDays(db, tally, from);
  for (const one of wrong) {
    const { payerId, day, contract, component, paidFrom } = one;
    const report = reportOf(tally, `${dateOf(day)} of user ${payerId}: ${component} of ${contract} from ${paidFrom}`);
    report("days", describe(one));
  }
}

/** Compares the daily sums of hosts' earnings, which their reports read, with their transfers. */
async function auditEarnedDays(db: Reader, tally: Tally, from: Date | undefined): Promise<void> {
  const { examined, wrong } = await listWrongEarnings(db, from);
  tally.examine("days", examined);
  for (const { hostId, day, machineId, code, storedNanos, expectedNanos } of wrong) {
    const report = reportOf(tally, `${dateOf(day)} of host ${hostId}: ${code} of machine ${machineId || "-"}`);
    const amounts = { stored: storedNanos, expected: expectedNanos };
    compare(report, "days", "its sum is not what its transfers come to", amounts);
  }
}

/** Compares invoices with their sums and other documents with the ledger, and finds documents that are missing. */
export async function auditInvoices(db: Reader, tally: Tally, { from }: LineRange): Promise<void> {
  for (const list of [listWrongDocuments, listWrongAccountDocuments]) {
    const { examined, wrong } = await list(db, from);
    tally.examine("invoices", examined);
    for (const { subject, ...difference } of wrong) tally.differ("invoices", { subject, ...difference });
  }
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function describe({ stored, expected }: WrongDay) {
  if (stored === undefined) {
    return { problem: "its sum is not there", stored: "none", expected: textOf(expected, undefined) };
  }
  if (expected === undefined) {
    return { problem: "it has no lines", stored: textOf(stored, undefined), expected: "none" };
  }
  const problem = "its sum is not what its lines come to";
  return { problem, stored: textOf(stored, expected), expected: textOf(expected, stored) };
}

/** Words for the columns of a sum; beside another sum, only for the columns that differ. */
function textOf(said: WrongDay["stored"], other: WrongDay["stored"]): string {
  return Object.entries(said ?? {})
    .filter(([name, value]) => other?.[name] !== value)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}
