import { invalid, notFound, throwRefusal, type AppError } from "../../../../base/errors.ts";
import type { InstanceId, MachineId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { describeMachines, requireRegistryOn } from "../../../supply/hosts/index.ts";
import { requestResult, startLongTask, type TaskMeans } from "../../tasks/index.ts";
import { readCommand } from "./command.ts";
import type { Instance } from "../instance.ts";
import { toId } from "../service.ts";
import { readSnapshotImage, registryFieldOf, type SnapshotRequest } from "./snapshot-image.ts";
import { hostOffline, isGone, noSuchInstance, refuseUntouched } from "../rules/refusals.ts";
import { isReachable } from "../rules/status.ts";
import { listInstancesById } from "../store.ts";

export type TaskRequest = { readonly userId: UserId; readonly instanceId: number };

const TAIL_LINES_DEFAULT = 1000;
const TAIL_LINES_MAX = 100_000;
const FILTER_LENGTH_MAX = 1024;

export type LogsWish = {
  readonly tail?: string | number | undefined;
  readonly filter?: string | undefined;
  readonly daemon_logs?: string | boolean | undefined;
};

/** Asks the host for the last lines of an instance's log; returns the last part of the result's address. */
export async function requestLogs(tx: Tx, means: TaskMeans, request: TaskRequest, wish: LogsWish): Promise<string> {
  const tailLines = readTail(wish.tail);
  const { filter = "" } = wish;
  if (filter.length > FILTER_LENGTH_MAX) {
    throw invalid("filter", `filter is longer than ${FILTER_LENGTH_MAX} characters`);
  }
  const { id, machineId, userId } = await requireOnHost(tx, request, noSuchId);
  const action = {
    type: "logs" as const,
    instance_id: id,
    tail_lines: tailLines,
    filter,
    is_agent_log: isTrue(wish.daemon_logs),
  };
  return requestResult(tx, means, { machineId, userId, instanceId: id, action });
}

function readTail(tail: string | number | undefined): number {
  if (tail === undefined || tail === "") return TAIL_LINES_DEFAULT;
  const lines = typeof tail === "number" ? tail : /^\d{1,9}$/.test(tail.trim()) ? Number(tail) : Number.NaN;
  if (Number.isInteger(lines) && lines >= 0 && lines <= TAIL_LINES_MAX) return lines;
  throw invalid("tail", `tail must be a whole number of lines from 0 to ${TAIL_LINES_MAX}`);
}

/** Clients send the word; one of them sends `True`. */
function isTrue(value: string | boolean | undefined): boolean {
  return value === true || (typeof value === "string" && value.toLowerCase() === "true");
}

/** Has the host run `ls`, `rm` or `du` in the files of an instance; returns the last part of the result's address. */
export async function executeCommand(tx: Tx, means: TaskMeans, request: TaskRequest, command: string): Promise<string> {
  const argv = [...readCommand(command)];
  const { id, machineId, userId } = await requireOnHost(tx, request, noSuchContainer);
  const action = { type: "execute" as const, instance_id: id, argv };
  return requestResult(tx, means, { machineId, userId, instanceId: id, action });
}

/** Has the host make an image of an instance and push it; returns the name of the image. */
export async function takeSnapshot(
  tx: Tx,
  means: TaskMeans,
  request: TaskRequest,
  wish: SnapshotRequest & { readonly pause?: string | boolean | undefined },
): Promise<string> {
  const image = readSnapshotImage(wish, `instance-${request.instanceId}-${timestamp(tx.now)}`);
  const { id, machineId, userId } = await requireOnHost(tx, request, noSuchInstance);
  await requireRegistryOn(tx.db, machineId, { image: image.repository, field: registryFieldOf(wish) });
  // A container that goes on writing makes an image of no single moment, so it is paused unless the request says
  // otherwise.
  const isPaused = wish.pause === undefined || isTrue(wish.pause);
  const action = { type: "snapshot" as const, instance_id: id, ...image, is_paused: isPaused };
  await startLongTask(tx, means, { machineId, userId, instanceId: id, action });
  return `${image.repository}:${image.tag}`;
}

/** A time such as `20260131T101500Z`. */
function timestamp(at: Date): string {
  return at.toISOString().replace(/[-:]|\.\d+/g, "");
}

export type OnHost = { readonly id: InstanceId; readonly machineId: MachineId; readonly userId: UserId };

/**
 * The caller's instance, if its host has its container and can be asked now. It is not locked: its host knows best what
 * happens to it meanwhile, and answers.
 */
export async function requireOnHost(tx: Tx, request: TaskRequest, unknown: (id: number) => AppError): Promise<OnHost> {
  const instance = await findOwn(tx, request);
  if (instance === undefined) throw unknown(request.instanceId);
  const { id, machineId, userId } = instance;
  throwRefusal(refuseUntouched(instance));
  await requireReachable(tx, machineId, `instance ${id}`);
  return { id, machineId, userId };
}

/** The caller's instance; one that is being destroyed counts as absent. */
export async function findOwn(tx: Tx, { userId, instanceId }: TaskRequest): Promise<Instance | undefined> {
  const id = toId(instanceId);
  const [instance] = id === undefined ? [] : await listInstancesById(tx.db, [id]);
  return instance === undefined || isGone(instance) || instance.userId !== userId ? undefined : instance;
}

/** Refuses a disconnected host, which would not answer within the seconds that clients wait. */
export async function requireReachable(tx: Tx, machineId: MachineId, what: string): Promise<void> {
  const machine = (await describeMachines(tx.db, [machineId])).get(machineId);
  if (machine !== undefined && isReachable(machine, tx.now)) return;
  throw hostOffline(what);
}

function noSuchId(id: number): AppError {
  return notFound("invalid_id", `There is no instance ${id}.`);
}

function noSuchContainer(id: number): AppError {
  return invalid("id", `There is no instance ${id}.`, "invalid_container_id");
}
