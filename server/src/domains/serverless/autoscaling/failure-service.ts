import type { Tx } from "../../../db/transaction.ts";
import { recordEvents } from "./event-store.ts";
import { raiseFailures } from "./failure-store.ts";
import { backOffMs, inWords, type Failure, type WorkerFacts } from "./worker-standing.ts";
import { avoidMachine, updateWorker } from "../workers/store.ts";

const AVOIDED_MS = 3_600_000;

/**
 * Marks a worker as failed: it gets no more requests and is to be destroyed. Its machine is avoided for its group.
 * Each further failure in a row lengthens the pause before the group rents again.
 */
export async function failWorker(tx: Tx, worker: WorkerFacts, { reason, isCounted }: Failure): Promise<void> {
  const { instanceId, endpointGroupId, workerGroupId, machineId } = worker;
  await updateWorker(tx, instanceId, {
    failure: reason,
    failedAt: tx.now,
    readyAt: undefined,
    readyGeneration: undefined,
    draining: undefined,
  });
  const sentences = [`Worker ${instanceId} failed: ${endingWithPeriod(reason)}`];
  if (workerGroupId !== undefined && isCounted) {
    if (machineId !== undefined) {
      const until = new Date(tx.now.getTime() + AVOIDED_MS);
      await avoidMachine(tx, { groupId: workerGroupId, machineId, until });
      sentences.push(
        `Nothing more is rented on machine ${machineId} for worker group ${workerGroupId} in the next hour.`,
      );
    }
    const count = await raiseFailures(tx, workerGroupId, backOffMs);
    const inARow = count === 1 ? "" : ` It is the ${ordinal(count)} in a row.`;
    sentences.push(`The group rents again in ${inWords(backOffMs(count))}.${inARow}`);
  }
  await recordEvents(tx, [
    {
      endpointGroupId,
      workerGroupId,
      instanceId,
      kind: "worker",
      level: 0,
      sentence: sentences.join(" "),
      detail: { failure: reason },
    },
  ]);
}

function endingWithPeriod(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function ordinal(count: number): string {
  const [ones, tens] = [count % 10, count % 100];
  if (tens >= 11 && tens <= 13) return `${count}th`;
  return `${count}${{ 1: "st", 2: "nd", 3: "rd" }[ones] ?? "th"}`;
}
