import type { Reader } from "../../../../db/transaction.ts";
import { listNamedTransfers, type NamedTransfer } from "../../ledger/for-audit.ts";
import {
  listExpectedMovements,
  listMadeMovements,
  listWrongPayouts,
  type ExpectedMovement,
} from "../../payments/for-audit.ts";
import { reportOf } from "./contract-audit.ts";
import { compare, type Tally } from "../rules/difference.ts";
import type { Ranges } from "./ledger-audit.ts";

const CODES = ["payment", "payout", "payout_returned"] as const;

/** The accounts between which money moves, by the code of its transfer. */
const SIDES = {
  payment: ["stripe", "credit"],
  fee: ["earnings", "fees"],
  payout: ["earnings", "payouts"],
  payout_returned: ["payouts", "earnings"],
} as const satisfies Record<ExpectedMovement["code"], readonly [string, string]>;

/** Compares payments and payouts with the ledger, in both directions. */
export async function auditPayments(db: Reader, tally: Tally, { transfers: range }: Ranges): Promise<void> {
  const expected = await listExpectedMovements(db, range.from);
  const keys = expected.flatMap((movement) => movement.keys);
  const transfers = await listNamedTransfers(db, { keys, codes: CODES, range });
  const byKey = new Map(transfers.map((transfer) => [transfer.key, transfer]));
  tally.examine("payments", expected.length);
  for (const movement of expected) checkMovement(tally, movement, byKey);
  for (const { subject, problem, storedNanos, expectedNanos } of await listWrongPayouts(db, range.from)) {
    compare(reportOf(tally, subject), "payments", problem, { stored: storedNanos, expected: expectedNanos });
  }
  const named = new Set(keys);
  await checkUnnamed(
    db,
    tally,
    transfers.filter(({ key }) => !named.has(key)),
  );
}

function checkMovement(tally: Tally, movement: ExpectedMovement, byKey: ReadonlyMap<string, NamedTransfer>): void {
  const report = reportOf(tally, movement.subject);
  const { keys, code, amountNanos, userId } = movement;
  const same = (problem: string, stored: string | bigint, wanted: string | bigint) =>
    compare(report, "payments", problem, { stored, expected: wanted });
  let movedNanos = 0n;
  for (const key of keys) {
    const transfer = byKey.get(key);
    if (transfer === undefined) {
      report("payments", { problem: "its transfer is not there", stored: "none", expected: key });
      return;
    }
    movedNanos += transfer.amountNanos;
    same("its transfer is for something else", transfer.code, code);
    same("its transfer moves between other accounts", sidesOf(transfer), SIDES[code].join(" → "));
    same("its transfer is another user's", String(transfer.debit.userId ?? transfer.credit.userId), String(userId));
  }
  same("its transfer has another amount", movedNanos, amountNanos);
}

function sidesOf({ debit, credit }: NamedTransfer): string {
  return `${debit.kind} → ${credit.kind}`;
}

/** Checks transfers whose keys no row names: each must belong to a row, although a payment may have arrived twice. */
async function checkUnnamed(db: Reader, tally: Tally, transfers: readonly NamedTransfer[]): Promise<void> {
  const made = await listMadeMovements(db, {
    paymentIds: transfers.flatMap(({ paymentId }) => paymentId ?? []),
    payoutIds: transfers.flatMap(({ payoutId }) => payoutId ?? []),
  });
  for (const { id, code, paymentId, payoutId } of transfers) {
    const isMade = made.paymentIds.has(paymentId ?? 0) || made.payoutIds.has(payoutId ?? 0);
    if (isMade) continue;
    reportOf(tally, `transfer ${id}`)("payments", {
      problem: "there is no payment or payout that it belongs to",
      stored: code,
      expected: "a payment that was paid, or a payout",
    });
  }
}
