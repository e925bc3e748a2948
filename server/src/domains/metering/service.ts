import type { Clock } from "../../base/clock.ts";
import type { InstanceId } from "../../base/ids.ts";
import { invariant } from "../../base/invariant.ts";
import { nanos, type Nanos } from "../../base/money.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction, type Tx } from "../../db/transaction.ts";
import { findDeposit, noteUse } from "../contracts/index.ts";
import {
  listUnchargedRuns,
  listUnchargedRunsOf,
  lockForCharging,
  markCharged,
  renewHold,
  stopForEmptyBalance,
  type ChargeableRun,
  type RunKey,
} from "../instances/index.ts";
import { creditOf, depositOf, earningsOf, postTransfer, postTransfers, type TransferRequest } from "../ledger/index.ts";
import { depositShare, discounted, runningCharge, type Stretch } from "./charges.ts";

const RUNS_PER_SETTLEMENT = 500;

/** In runs: those that another process had charged are skipped, those whose owner could not pay are stopped. */
export type Settlement = { readonly charged: number; readonly skipped: number; readonly stopped: number };

/**
 * Turns what agents counted into charges: each run is charged from where the last charge ended to what it has counted
 * now, under a key made of exactly that, so a repetition bills once. Time that no report covers was never counted.
 */
export async function settleRuns(database: Database, clock: Clock): Promise<Settlement> {
  const runs = await listUnchargedRuns(database.kysely, RUNS_PER_SETTLEMENT);
  const counts = { charged: 0, skipped: 0, stopped: 0 };
  for (const run of runs) {
    const outcome = await withTransaction(database, clock, (tx) => settleRun(tx, run));
    counts[outcome] += 1;
  }
  return counts;
}

/** The same at once for one instance, in the caller's transaction: before its terms change. */
export async function settleInstance(tx: Tx, instanceId: InstanceId): Promise<void> {
  for (const run of await listUnchargedRunsOf(tx.db, instanceId)) await settleRun(tx, run);
}

type Outcome = "charged" | "skipped" | "stopped";

async function settleRun(tx: Tx, key: RunKey): Promise<Outcome> {
  const due = await lockForCharging(tx, key);
  if (due === undefined) return "skipped";
  await markCharged(tx, due.run);
  const { fromDeposit, fromMs, priceNanosPerHour, isDepositSpent } = await useDeposit(tx, due);
  const stretch = { fromMs, toMs: due.run.runningMs };
  const transfer = transferOf(due, stretch, runningCharge(priceNanosPerHour, stretch));
  if (await arePaid(tx, fromDeposit, transfer)) {
    // From now on credit pays, so what a run must be able to pay has to be set aside of it.
    if (!isDepositSpent || (await renewHold(tx, due))) return "charged";
    await stopForEmptyBalance(tx, { instance: { ...due.instance, holdId: undefined } });
    return "stopped";
  }
  // What was set aside for this moment pays the rest, as far as it goes; nothing more is run up.
  await stopForEmptyBalance(tx, due);
  const retry = await postTransfer(tx, transfer);
  if (retry.kind === "insufficient" && retry.availableNanos > 0n) {
    await postTransfer(tx, { ...transfer, amount: nanos(retry.availableNanos) });
  }
  return "stopped";
}

/** What the deposit pays of a stretch, and from when on and at which price credit has to pay the rest. */
type Division = {
  readonly fromDeposit: TransferRequest | undefined;
  readonly fromMs: bigint;
  readonly priceNanosPerHour: Nanos;
  readonly isDepositSpent: boolean;
};

/** A reserved run is paid from its deposit, at the discount, as long as that lasts. */
async function useDeposit(tx: Tx, due: ChargeableRun): Promise<Division> {
  const { run, instance, priceNanosPerHour, discountPpm } = due;
  const whole = { fromDeposit: undefined, fromMs: run.chargedMs, priceNanosPerHour, isDepositSpent: false };
  const deposit = discountPpm === 0 ? undefined : await findDeposit(tx.db, instance.id);
  if (deposit === undefined) return whole;
  // What a lost host tells after the end was used while the deposit lasted, which has gone back since.
  if (deposit.isClosed) return { ...whole, priceNanosPerHour: discounted(priceNanosPerHour, discountPpm) };
  const stretch = { fromMs: run.chargedMs, toMs: run.runningMs };
  const share = depositShare({ leftNanos: deposit.leftNanos, discountPpm, priceNanosPerHour }, stretch);
  const transfer = transferOf(due, { ...stretch, toMs: share.toMs }, share.amount);
  const fromDeposit = {
    ...transfer,
    debit: depositOf(due.userId, instance.id),
    cause: { ...transfer.cause, discount_nanos: share.savedNanos.toString() },
    description: `${transfer.description}, from its deposit`,
  };
  await noteUse(tx, instance, share);
  return { fromDeposit, fromMs: share.toMs, priceNanosPerHour, isDepositSpent: share.isSpent };
}

/** Whether credit pays its part. Both are posted in one batch, which locks their accounts in the order of all batches. */
async function arePaid(
  tx: Tx,
  fromDeposit: TransferRequest | undefined,
  fromCredit: TransferRequest,
): Promise<boolean> {
  const both = fromDeposit === undefined ? [fromCredit] : [fromDeposit, fromCredit];
  const transfers = both.filter(({ amount }) => amount > 0n);
  const outcomes = await postTransfers(tx, transfers);
  const unpaid = transfers.filter((_, index) => outcomes[index]?.kind === "insufficient");
  invariant(
    outcomes.every(({ kind }) => kind !== "key_conflict"),
    `${fromCredit.key} was charged already, but for something else`,
  );
  invariant(
    unpaid.every((transfer) => transfer === fromCredit),
    `a deposit has what is taken from it: ${fromDeposit?.key}`,
  );
  return unpaid.length === 0;
}

function transferOf(
  { run, userId, hostId, machineId }: ChargeableRun,
  { fromMs, toMs }: Stretch,
  amount: Nanos,
): TransferRequest {
  const { instanceId, generation } = run;
  return {
    key: `run:${instanceId}:${generation}:${fromMs}-${toMs}`,
    debit: creditOf(userId),
    credit: earningsOf(hostId),
    amount,
    code: "usage_gpu",
    cause: {
      instance_id: instanceId,
      generation,
      machine_id: machineId,
      quantity: (Number(toMs - fromMs) / 1000).toString(),
    },
    description: `Instance ${instanceId} running`,
  };
}
