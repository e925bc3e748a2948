import type { Clock } from "../../base/clock.ts";
import { nanos } from "../../base/money.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction, type Tx } from "../../db/transaction.ts";
import {
  listUnchargedRuns,
  lockForCharging,
  markCharged,
  stopForEmptyBalance,
  type ChargeableInstance,
  type UnchargedRun,
} from "../instances/index.ts";
import { creditOf, earningsOf, postTransfer, type TransferRequest } from "../ledger/index.ts";
import { runningCharge } from "./charges.ts";

const RUNS_PER_SETTLEMENT = 500;

export type Settlement = { readonly charged: number; readonly stopped: number };

/**
 * Turns what agents counted into charges: each run is charged from where the last charge ended to what it has counted
 * now, under a key made of exactly that, so a repetition bills once. Time that no report covers was never counted.
 */
export async function settleRuns(database: Database, clock: Clock): Promise<Settlement> {
  const runs = await listUnchargedRuns(database.kysely, RUNS_PER_SETTLEMENT);
  let stopped = 0;
  for (const run of runs) {
    const outcome = await withTransaction(database, clock, (tx) => settleRun(tx, run));
    if (outcome === "stopped") stopped += 1;
  }
  return { charged: runs.length, stopped };
}

async function settleRun(tx: Tx, run: UnchargedRun): Promise<"charged" | "stopped"> {
  const instance = await lockForCharging(tx, run.instanceId);
  const amount = runningCharge(instance.priceNanosPerHour, { fromMs: run.chargedMs, toMs: run.runningMs });
  await markCharged(tx, run);
  if (amount === 0n) return "charged";
  const transfer = transferOf(run, instance, amount);
  const outcome = await postTransfer(tx, transfer);
  if (outcome.kind !== "insufficient") return "charged";
  // What was set aside for this moment pays the rest, as far as it goes; nothing more is run up.
  await stopForEmptyBalance(tx, instance);
  const retry = await postTransfer(tx, transfer);
  if (retry.kind === "insufficient" && retry.availableNanos > 0n) {
    await postTransfer(tx, { ...transfer, amount: nanos(retry.availableNanos) });
  }
  return "stopped";
}

function transferOf(
  run: UnchargedRun,
  instance: ChargeableInstance,
  amount: TransferRequest["amount"],
): TransferRequest {
  const { instanceId, generation, chargedMs, runningMs } = run;
  return {
    key: `run:${instanceId}:${generation}:${chargedMs}-${runningMs}`,
    debit: creditOf(instance.userId),
    credit: earningsOf(instance.hostId),
    amount,
    code: "usage_gpu",
    cause: {
      instance_id: instanceId,
      generation,
      machine_id: instance.machineId,
      quantity: (Number(runningMs - chargedMs) / 1000).toString(),
    },
    description: `Instance ${instanceId} running`,
  };
}
