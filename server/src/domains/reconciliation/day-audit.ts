import type { Reader } from "../../db/transaction.ts";
import { listWrongDays, type LineRange, type WrongDay } from "../metering/index.ts";
import { reportOf } from "./contract-audit.ts";
import type { Tally } from "./difference.ts";

const DAY_MS = 86_400_000;

/** The sums that invoices and reports read, beside the lines that they stand for. */
export async function auditDays(db: Reader, tally: Tally, { from }: LineRange): Promise<void> {
  const { examined, wrong } = await listWrongDays(db, from);
  tally.examine("days", examined);
  for (const one of wrong) {
    const { payerId, day, contract, component, paidFrom } = one;
    const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
    const report = reportOf(tally, `${date} of user ${payerId}: ${component} of ${contract} from ${paidFrom}`);
    report("days", describe(one));
  }
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

/** What is said in each column; beside another, only where that says something else. */
function textOf(said: WrongDay["stored"], other: WrongDay["stored"]): string {
  return Object.entries(said ?? {})
    .filter(([name, value]) => other?.[name] !== value)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}
