import type { Clock } from "../../base/clock.ts";
import { invariant } from "../../base/invariant.ts";
import { nanos, type Nanos } from "../../base/money.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction, type Tx } from "../../db/transaction.ts";
import {
  listUnchargedRuns,
  lockForCharging,
  markCharged,
  stopForEmptyBalance,
  type ChargeableRun,
  type RunKey,
} from "../instances/index.ts";
import { creditOf, earningsOf, postTransfer, type TransferRequest } from "../ledger/index.ts";
import { runningCharge } from "./charges.ts";

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

type Outcome = "charged" | "skipped" | "stopped";

async function settleRun(tx: Tx, key: RunKey): Promise<Outcome> {
  const due = await lockForCharging(tx, key);
  if (due === undefined) return "skipped";
  const { chargedMs, runningMs } = due.run;
  const amount = runningCharge(due.priceNanosPerHour, { fromMs: chargedMs, toMs: runningMs });
  await markCharged(tx, due.run);
  if (amount === 0n) return "charged";
  const transfer = transferOf(due, amount);
  if (await isPaid(tx, transfer)) return "charged";
  // What was set aside for this moment pays the rest, as far as it goes; nothing more is run up.
  await stopForEmptyBalance(tx, due);
  const retry = await postTransfer(tx, transfer);
  if (retry.kind === "insufficient" && retry.availableNanos > 0n) {
    await postTransfer(tx, { ...transfer, amount: nanos(retry.availableNanos) });
  }
  return "stopped";
}

async function isPaid(tx: Tx, transfer: TransferRequest): Promise<boolean> {
  const { kind } = await postTransfer(tx, transfer);
  invariant(kind !== "key_conflict", `${transfer.key} was charged already, but for something else`);
  return kind !== "insufficient";
}

function transferOf({ run, userId, hostId, machineId }: ChargeableRun, amount: Nanos): TransferRequest {
  const { instanceId, generation, chargedMs, runningMs } = run;
  return {
    key: `run:${instanceId}:${generation}:${chargedMs}-${runningMs}`,
    debit: creditOf(userId),
    credit: earningsOf(hostId),
    amount,
    code: "usage_gpu",
    cause: {
      instance_id: instanceId,
      generation,
      machine_id: machineId,
      quantity: (Number(runningMs - chargedMs) / 1000).toString(),
    },
    description: `Instance ${instanceId} running`,
  };
}
