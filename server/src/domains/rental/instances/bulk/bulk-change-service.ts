import { AppError } from "../../../../base/errors.ts";
import type { ApiKeyId, InstanceId, UserId } from "../../../../base/ids.ts";
import { inSavepoint } from "../../../../db/savepoint.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { lockMachines } from "../../../supply/hosts/index.ts";
import { lockVolumesOf } from "../../../supply/volumes/for-instances.ts";
import { listClaims } from "../bids/claim-store.ts";
import type { Actor } from "../instance.ts";
import { toId, type InstanceRequest } from "../service.ts";
import { listInstancesById, lockInstances } from "../store.ts";

type BulkChange = {
  readonly userId: UserId;
  readonly actor: Actor;
  /** The key that makes the request. */
  readonly apiKeyId: ApiKeyId;
  /** Instance ids; an id that is named twice counts once. */
  readonly ids: readonly number[];
  /** The change of one instance. */
  readonly change: (tx: Tx, request: InstanceRequest) => Promise<void>;
  /** The end of the sentence in `msg` about the changed instances. */
  readonly done: string;
};

/**
 * Changes each of the caller's instances by itself: one refusal leaves the others alone. When all are refused, the
 * first refusal is thrown. The locks for all instances are taken first, in the usual order.
 */
export async function changeInBulk(tx: Tx, { ids, change, done, ...caller }: BulkChange) {
  const asked = [...new Set(ids)];
  await lockOwn(
    tx,
    caller.userId,
    asked.flatMap((id) => toId(id) ?? []),
  );
  const outcomes: (AppError | undefined)[] = [];
  for (const instanceId of asked) outcomes.push(await attempt(tx, { ...caller, instanceId }, change));
  const results = asked.map((id, index) => resultOf(id, outcomes[index]));
  const [first] = outcomes;
  const count = outcomes.filter((outcome) => outcome === undefined).length;
  if (count === 0 && first !== undefined) {
    const { kind, code, publicMessage, extra } = first;
    throw new AppError(kind, code, publicMessage, { extra: { ...extra, results } });
  }
  const msg = `${count} of ${asked.length} instances ${done}.`;
  return { success: true as const, msg, results };
}

/**
 * Locks the caller's instances, the instances that the schedule may move for them, and their volumes. Credit is set
 * aside after all these locks.
 */
async function lockOwn(tx: Tx, userId: UserId, ids: readonly InstanceId[]): Promise<void> {
  const instances = await listInstancesById(tx.db, ids);
  const own = instances.filter((instance) => instance.userId === userId);
  const ownIds = own.map(({ id }) => id);
  const machineIds = [...new Set(own.map(({ machineId }) => machineId))];
  await lockMachines(tx, machineIds);
  const claims = await listClaims(tx.db, machineIds);
  await lockInstances(tx, [...ownIds, ...claims.map(({ instanceId }) => instanceId)]);
  await lockVolumesOf(tx, ownIds);
}

/** The refusal of the change; undefined on success. */
async function attempt(tx: Tx, request: InstanceRequest, change: BulkChange["change"]): Promise<AppError | undefined> {
  try {
    await inSavepoint(tx, (part) => change(part, request));
    return undefined;
  } catch (error) {
    // Another kind of error is a failure of the service, not an answer about this instance.
    if (error instanceof AppError) return error;
    throw error;
  }
}

function resultOf(id: number, refusal: AppError | undefined) {
  if (refusal === undefined) return { id, success: true as const };
  return { id, success: false as const, error: refusal.code, msg: refusal.publicMessage };
}
