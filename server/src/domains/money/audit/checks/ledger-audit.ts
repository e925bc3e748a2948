import { formatDollars } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listAuditedDeposits } from "../../deposits/index.ts";
import {
  auditLedgerAfter,
  listDepositFlows,
  listUsageBuckets,
  listUsageIds,
  type AuditedUpTo,
  type LedgerDifference,
  type TransferRange,
} from "../../ledger/for-audit.ts";
import { reportOf } from "./contract-audit.ts";
import { compare, type CheckName, type Tally } from "../rules/difference.ts";
import { findOriginTransferId } from "../checkpoints/checkpoint-store.ts";
import { differingBuckets, pairIds } from "./mismatches.ts";
import {
  listMispricedLines,
  listPaidBuckets,
  listPaidIds,
  sumPaidFromDeposits,
  type LineRange,
} from "../../charging/for-audit.ts";

export type Ranges = { readonly transfers: TransferRange; readonly lines: LineRange };

/** Checks balances, holds and minimum balances of all accounts. */
export async function auditAccounts(db: Reader, tally: Tally, last: AuditedUpTo | undefined): Promise<void> {
  const audit = await auditLedgerAfter(db, last);
  tally.examine("balances", audit.accountCount + audit.transferCount);
  tally.examine("held", audit.accountCount);
  if (last === undefined) tally.examine("granted", audit.accountCount);
  for (const difference of audit.differences) {
    const { check, subject, problem, stored, expected } = describe(difference);
    tally.differ(check, { subject, problem, stored, expected });
  }
}

function describe(difference: LedgerDifference): {
  readonly check: CheckName;
  readonly subject: string;
  readonly problem: string;
  readonly stored: string;
  readonly expected: string;
} {
  switch (difference.kind) {
    case "sum_not_zero": {
      const stored = dollars(difference.sumNanos);
      return { check: "balances", subject: "ledger", problem: "balances do not sum to zero", stored, expected: "$0" };
    }
    case "orphan_transfers": {
      const stored = String(difference.transferCount);
      const problem = "transfers between accounts that are not there";
      return { check: "balances", subject: "ledger", problem, stored, expected: "0" };
    }
    case "balance_differs":
      return {
        check: "balances",
        problem: "its balance is not what its transfers make it",
        ...accountText(difference),
      };
    case "below_minimum":
      return { check: "balances", problem: "it is below its minimum balance", ...accountText(difference) };
    case "granted_differs":
      return {
        check: "granted",
        problem: "the granted part of its balance is not what its transfers make it",
        ...accountText(difference),
      };
    case "held_differs":
      return { check: "held", problem: "its held amount is not the sum of its holds", ...accountText(difference) };
  }
}

function accountText({
  accountId,
  storedNanos,
  expectedNanos,
}: {
  readonly accountId: number;
  readonly storedNanos: bigint;
  readonly expectedNanos: bigint;
}) {
  return { subject: `account ${accountId}`, stored: dollars(storedNanos), expected: dollars(expectedNanos) };
}

function dollars(amount: bigint): string {
  return amount < 0n ? `-$${formatDollars(-amount)}` : `$${formatDollars(amount)}`;
}

/** Checks that each charge line costs the price of its own fields, by the arithmetic of the database. */
export async function auditAmounts(db: Reader, tally: Tally, { lines }: Ranges): Promise<void> {
  const { examined, mispriced } = await listMispricedLines(db, lines);
  tally.examine("amounts", examined);
  for (const { id, amountNanos, unpaidNanos, costNanos } of mispriced) {
    compare(reportOf(tally, `line ${id}`), "amounts", "it does not cost its quantity at its price", {
      stored: amountNanos + unpaidNanos,
      expected: costNanos,
    });
  }
}

/**
 * Checks that each charge of usage has one charge line. Buckets of ids are compared, and only those that differ are
 * read.
 */
export async function auditPairs(db: Reader, tally: Tally, { transfers, lines }: Ranges): Promise<void> {
  const origin = await findOriginTransferId(db);
  const range = { ...transfers, nextId: origin > transfers.nextId ? origin : transfers.nextId };
  const charged = await listUsageBuckets(db, range);
  const paid = await listPaidBuckets(db, lines);
  tally.examine(
    "pairs",
    charged.reduce((sum, { count }) => sum + count, 0),
  );
  for (const bucket of differingBuckets(charged, paid)) {
    const pairs = pairIds(await listUsageIds(db, range, bucket), await listPaidIds(db, lines, bucket));
    for (const { id, lineCount, isTransfer } of pairs) {
      const subject = `transfer ${id}`;
      if (isTransfer) {
        const problem = "it is not charged by exactly one line";
        tally.differ("pairs", { subject, problem, stored: `${lineCount} lines`, expected: "1 line" });
      } else {
        const problem = "lines name it, and it is no charge of usage";
        tally.differ("pairs", { subject, problem, stored: `${lineCount} lines`, expected: "none" });
      }
    }
  }
}

/** Checks the balance of each deposit: prepaid and credited amounts, less its charge lines and returned amounts. */
export async function auditDeposits(
  db: Reader,
  tally: Tally,
  { transfers, lines }: Ranges,
  last: AuditedUpTo | undefined,
): Promise<void> {
  const flows = await listDepositFlows(db, transfers);
  const paid = await sumPaidFromDeposits(db, lines);
  const instanceIds = flows.map(({ instanceId }) => instanceId);
  const deposits = await listAuditedDeposits(db, instanceIds);
  tally.examine("deposits", flows.length);
  for (const flow of flows) {
    const report = reportOf(tally, `deposit of instance ${flow.instanceId}`);
    const before = last?.posted.get(flow.accountId) ?? 0n;
    const { paidNanos: used, freeSavedNanos } = paid.get(flow.instanceId) ?? { paidNanos: 0n, freeSavedNanos: 0n };
    compare(report, "deposits", "its balance is not the prepaid amount less its lines and returned amounts", {
      stored: dollars(flow.balanceNanos),
      expected: dollars(before + flow.prepaidNanos + flow.creditedNanos - used - flow.refundedNanos),
    });
    compare(report, "deposits", "other movements went through it", {
      stored: dollars(flow.otherNanos),
      expected: "$0",
    });
    const deposit = deposits.get(flow.instanceId);
    // Only the sum of an account is known from before a checkpoint.
    if (last === undefined && deposit !== undefined) {
      const { prepayCount, savedNanos } = deposit;
      compare(report, "deposits", "another number of payments went into it", {
        stored: prepayCount,
        expected: flow.prepayCount,
      });
      compare(report, "deposits", "its discount saved another amount", {
        stored: dollars(savedNanos),
        expected: dollars(flow.savedNanos + freeSavedNanos),
      });
    }
    compare(report, "deposits", "it belongs to somebody else", {
      stored: flow.userId,
      expected: deposit?.userId ?? flow.userId,
    });
    if (deposit?.isClosed === true) {
      compare(report, "deposits", "it was closed and is not empty", {
        stored: dollars(flow.balanceNanos),
        expected: "$0",
      });
    }
  }
}
