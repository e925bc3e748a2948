import type { InstanceId } from "../../../base/ids.ts";
import { AppError } from "../../../base/errors.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";
import {
  listInstanceFacts,
  renewFromWish,
  startInstance,
  stopInstance,
  type InstanceFacts,
} from "../../rental/instances/for-serverless.ts";
import type { DrainTo } from "./rules/types.ts";
import type { Order } from "./decision-service.ts";
import type { EndpointMemory } from "../routing/endpoint-memory.ts";
import { recordEvents } from "./event-store.ts";
import { removeWorker } from "../workers/removal-service.ts";
import type { Routers } from "../routing/routers.ts";
import { hasSpoken } from "./situation.ts";
import { notifyEndpoints, type EndpointGroup } from "../endpoints/store.ts";
import { isServing } from "./worker-standing.ts";
import { lockWorkers, updateWorker, type Worker, type WorkerChange } from "../workers/store.ts";

export type OrderPorts = {
  readonly database: Database;
  readonly clock: Clock;
  readonly encryption: Encryption;
  readonly routers: Pick<Routers, "of">;
  /** Tells a worker that it is about to be recreated; a worker that does not answer is recreated all the same. */
  readonly tellUpdate: (worker: {
    readonly url: string;
    readonly token: string;
    readonly workerId: InstanceId;
  }) => Promise<void>;
  readonly tokenOf: (instanceId: Worker["instanceId"]) => string;
};

export type Given = {
  readonly endpoint: EndpointGroup;
  readonly order: Order;
  readonly memory: EndpointMemory;
};

const ACTOR = "autoscaler";
/** After this time a request that was sent just before its worker drained has arrived there. */
const DRAIN_MS = 2_000;
const REST_MS = 10_000;

/**
 * Carries out one order of a decision, if it still holds: meanwhile the worker may have been taken back, been given
 * work, or gone. A refusal is logged and is no failure.
 */
export async function carryOut(given: Given, ports: OrderPorts): Promise<"done" | "dropped" | "refused"> {
  const { endpoint, order, memory } = given;
  const { database, clock } = ports;
  try {
    if (order.kind === "update") await announceUpdate(given, ports);
    return await withTransaction(database, clock, (tx) => obey(tx, given, ports));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const nowMs = clock.now().getTime();
    const isUnpayable = error.kind === "insufficient_funds";
    if (isUnpayable) memory.stopSpending(nowMs, error.publicMessage);
    memory.restingWorkers.add(order.workerId, { nowMs, forMs: REST_MS });
    await withTransaction(database, clock, (tx) =>
      recordEvents(tx, [
        {
          endpointGroupId: endpoint.id,
          instanceId: order.workerId,
          kind: "worker",
          level: isUnpayable ? 0 : 2,
          sentence: `Worker ${order.workerId} could not be ${DONE[order.kind]}: ${error.publicMessage}`,
          detail: { code: error.code },
        },
      ]),
    );
    return "refused";
  }
}

const DONE = { start: "started", stop: "stopped", destroy: "destroyed", update: "updated" } as const;

type Subject = Given & { readonly worker: Worker; readonly instance: InstanceFacts };

async function obey(tx: Tx, given: Given, ports: OrderPorts): Promise<"done" | "dropped" | "refused"> {
  const { endpoint, order } = given;
  const subject = await find(tx, given);
  if (subject === undefined || !isStillRight(tx, subject, ports)) return "dropped";
  switch (order.kind) {
    case "start":
      await start(tx, subject);
      break;
    case "stop":
      await stop(tx, subject);
      break;
    case "destroy":
      if (!(await destroy(tx, subject))) return "refused";
      break;
    case "update":
      if (!(await update(tx, subject, ports))) return "dropped";
      break;
  }
  const { workerGroupId, instanceId } = subject.worker;
  const sentence = `Worker ${instanceId} is ${DONE[order.kind]}: ${order.why}.`;
  await recordEvents(tx, [
    { endpointGroupId: endpoint.id, workerGroupId, instanceId, kind: "worker", level: 1, sentence },
  ]);
  await notifyEndpoints(tx, [endpoint.id]);
  return "done";
}

/** Locks the worker before its machine and its instance, as every use case does. */
async function find(tx: Tx, given: Given): Promise<Subject | undefined> {
  const { endpoint, order } = given;
  const [worker] = await lockWorkers(tx, [order.workerId]);
  if (worker === undefined || worker.endpointGroupId !== endpoint.id) return undefined;
  const instance = (await listInstanceFacts(tx.db, [worker.instanceId])).get(worker.instanceId);
  return instance && { ...given, worker, instance };
}

/**
 * True if the order still holds: a worker that takes requests is left alone unless it drained for this order and has
 * no request left.
 */
function isStillRight(tx: Tx, { order, worker, instance }: Subject, { routers }: Pick<OrderPorts, "routers">): boolean {
  if (order.kind === "start") return worker.failure === "" && instance.desired === "stopped";
  if (order.kind === "stop" && instance.desired !== "running") return false;
  if (worker.failure !== "" || !isServing({ ...worker, url: "known" }, instance)) return true;
  const purpose: DrainTo = order.kind;
  const { draining, currentLoad, workingCount } = worker;
  if (draining?.to !== purpose || tx.now.getTime() - draining.at.getTime() < DRAIN_MS) return false;
  const routed = routers.of(worker.endpointGroupId)?.loadOf(worker.instanceId).requestCount ?? 0;
  return hasSpoken(worker) && currentLoad <= 0 && workingCount === 0 && routed === 0;
}

const NOT_READY = { readyAt: undefined, readyGeneration: undefined, currentLoad: 0, workingCount: 0 } as const;

async function start(tx: Tx, { endpoint, worker }: Subject): Promise<void> {
  await startInstance(tx, { userId: endpoint.userId, instanceId: worker.instanceId, actor: ACTOR });
  await updateWorker(tx, worker.instanceId, { ...NOT_READY, startedAt: tx.now, draining: undefined });
}

async function stop(tx: Tx, { endpoint, worker }: Subject): Promise<void> {
  await stopInstance(tx, { userId: endpoint.userId, instanceId: worker.instanceId, actor: ACTOR });
  await updateWorker(tx, worker.instanceId, { ...NOT_READY, startedAt: undefined, draining: undefined });
}

/**
 * Destroys the worker. One that cannot be destroyed now stays marked as being removed, and is tried again until it is
 * gone.
 */
async function destroy(tx: Tx, { endpoint, worker }: Subject): Promise<boolean> {
  const { instanceId, endpointGroupId } = worker;
  const removable = { instanceId, endpointGroupId, userId: endpoint.userId, attemptCount: 0 };
  const outcome = await removeWorker(tx, removable, { actor: ACTOR, cause: "worker_removed" });
  return outcome === "removed";
}

/**
 * Recreates the worker from the present recipe of its group: a running one at once, a stopped one at its next start.
 */
async function update(tx: Tx, { endpoint, worker, instance, memory }: Subject, ports: OrderPorts): Promise<boolean> {
  const known = worker.workerGroupId === undefined ? undefined : memory.wishes.get(worker.workerGroupId);
  if (known === undefined || known.generation <= worker.generation) return false;
  const { instanceId } = worker;
  await renewFromWish(tx, { userId: endpoint.userId, instanceId, actor: ACTOR }, known.wish, ports.encryption);
  const isRunning = instance.desired === "running";
  const change: WorkerChange = {
    ...NOT_READY,
    generation: known.generation,
    draining: undefined,
    // The worker serves by another recipe from now on: earlier measurements do not apply to it.
    observedPerf: undefined,
    firstStartMs: undefined,
    startedAt: isRunning ? tx.now : undefined,
  };
  await updateWorker(tx, instanceId, change);
  return true;
}

/** Tells a running worker that it is about to end, so that it can finish its work beside requests. */
async function announceUpdate(given: Given, ports: OrderPorts): Promise<void> {
  const { database, clock, tellUpdate, tokenOf } = ports;
  const worker = await withTransaction(database, clock, async (tx) => {
    const subject = await find(tx, given);
    const isUp =
      subject !== undefined && isStillRight(tx, subject, ports) && isServing(subject.worker, subject.instance);
    return isUp ? subject.worker : undefined;
  });
  if (worker === undefined) return;
  await tellUpdate({ url: worker.url, token: tokenOf(worker.instanceId), workerId: worker.instanceId });
}
