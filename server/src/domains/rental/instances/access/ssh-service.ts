import { throwRefusal } from "../../../../base/errors.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import {
  attachSshKey,
  detachSshKey,
  listInstanceSshKeys,
  requireSameSshKey,
  type AttachedKey,
  type InstanceSshKey,
} from "../../../people/accounts/for-instances.ts";
import type { Instance } from "../instance.ts";
import { requireInstance, toId } from "../service.ts";
import { listInstancesById, notifyDesired } from "../store.ts";
import { isGone, noSuchInstance, refuseGone } from "../rules/refusals.ts";

export type KeyRequest = { readonly caller: Parameters<typeof attachSshKey>[1]; readonly instanceId: number };

/** Attaches a key, named by its text or by the id of one of the account. Its host gets the key at the commit. */
export async function attachInstanceKey(
  tx: Tx,
  request: KeyRequest,
  key: string | number | undefined,
): Promise<AttachedKey> {
  const instance = await requireOpen(tx, request);
  const attached = await attachSshKey(tx, request.caller, instance.id, key);
  if (attached.isNew) await notifyDesired(tx, [instance.machineId]);
  return attached;
}

/** A key as two fields name it: by its id in the account, by its text or id, or by both. */
export type NamedKey = {
  readonly ssh_key_id?: string | number | undefined;
  readonly ssh_key?: string | number | undefined;
};

/** Attaches the key that the fields name. Both fields together must name one key. */
export async function attachNamedKey(tx: Tx, request: KeyRequest, named: NamedKey): Promise<AttachedKey> {
  const { ssh_key_id, ssh_key } = named;
  const attached = await attachInstanceKey(tx, request, ssh_key_id ?? ssh_key);
  if (ssh_key_id !== undefined && ssh_key !== undefined) {
    await requireSameSshKey(tx, request.caller, { ssh_key_id, ssh_key });
  }
  return attached;
}

/** Detaches a key. Its host removes the key at the commit. */
export async function detachInstanceKey(tx: Tx, request: KeyRequest, keyId: number): Promise<void> {
  const instance = await requireOpen(tx, request);
  await detachSshKey(tx, request.caller, instance.id, keyId);
  await notifyDesired(tx, [instance.machineId]);
}

export async function listInstanceKeys(
  db: Reader,
  userId: UserId,
  instanceId: number,
): Promise<readonly InstanceSshKey[]> {
  const id = toId(instanceId);
  const [instance] = id === undefined ? [] : await listInstancesById(db, [id]);
  if (instance === undefined || instance.userId !== userId || isGone(instance)) throw noSuchInstance(instanceId);
  return (await listInstanceSshKeys(db, [instance.id])).get(instance.id) ?? [];
}

async function requireOpen(tx: Tx, { caller, instanceId }: KeyRequest): Promise<Instance> {
  const { userId } = caller.identity;
  const instance = await requireInstance(tx, { userId, instanceId, actor: `user:${userId}` });
  throwRefusal(refuseGone(instance));
  return instance;
}
