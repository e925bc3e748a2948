import type { Caller } from "../../../../base/identity.ts";
import { invalid, notFound, type AppError } from "../../../../base/errors.ts";
import { parseId, type InstanceId, type SshKeyId, type UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { recordAudit } from "../audit-log/store.ts";
import {
  deleteInstanceSshKey,
  insertInstanceSshKey,
  listInstanceSshKeys,
  type InstanceSshKey,
} from "./instance-store.ts";
import {
  deleteSshKey,
  findSshKey,
  findSshKeyByFingerprint,
  insertSshKey,
  listSshKeys,
  updateSshKey,
  type SshKey,
} from "./store.ts";
import { parseSshPublicKey, type SshPublicKey } from "./rules/ssh-public-key.ts";
import { lockUser } from "../users/store.ts";

/** Limited because each key is copied into every instance and sent to its host. */
const SSH_KEYS_MAX = 100;
/** The account's keys and as many again. */
const INSTANCE_SSH_KEYS_MAX = 2 * SSH_KEYS_MAX;

/** Adds a key to the caller's account; a key that the account already has is returned. */
export async function createSshKey(
  tx: Tx,
  { identity, ipAddress }: Caller,
  given: string | undefined,
): Promise<SshKey> {
  const { key, isNew } = await addSshKey(tx, identity.userId, parseSshPublicKey(given));
  if (isNew) {
    const args = { id: key.id, fingerprint: key.fingerprint };
    await recordAudit(tx, identity, { ipAddress, action: "api.ssh_key.create", args });
  }
  return key;
}

/** The key of the account with this fingerprint, inserted when there is none. */
export async function addSshKey(
  tx: Tx,
  userId: UserId,
  { line, fingerprint }: SshPublicKey,
): Promise<{ readonly key: SshKey; readonly isNew: boolean }> {
  await lockUser(tx, userId);
  const same = await findSshKeyByFingerprint(tx.db, userId, fingerprint);
  if (same !== undefined) return { key: same, isNew: false };
  const keys = await listSshKeys(tx.db, userId);
  if (keys.length >= SSH_KEYS_MAX) throw tooManyKeys(`An account may have at most ${SSH_KEYS_MAX} SSH keys.`);
  return { key: await insertSshKey(tx, userId, { line, fingerprint }), isNew: true };
}

/** Replaces one of the caller's keys. Instances keep the keys that they were created with. */
export async function changeSshKey(
  tx: Tx,
  { identity, ipAddress }: Caller,
  id: SshKeyId | undefined,
  given: string | undefined,
): Promise<SshKey> {
  const parsed = parseSshPublicKey(given);
  await lockUser(tx, identity.userId);
  const key = id && (await findSshKey(tx.db, identity.userId, id));
  if (key === undefined) throw noSshKey();
  const twin = await findSshKeyByFingerprint(tx.db, identity.userId, parsed.fingerprint);
  if (twin !== undefined && twin.id !== key.id) {
    throw invalid("ssh_key", `You have this key already, with the id ${twin.id}.`, "invalid_ssh_key");
  }
  await updateSshKey(tx, key.id, parsed);
  const args = { id: key.id, fingerprint: parsed.fingerprint };
  await recordAudit(tx, identity, { ipAddress, action: "api.ssh_key.update", args });
  return { ...key, publicKey: parsed.line, fingerprint: parsed.fingerprint };
}

/** Deletes a key of the caller's account. Instances keep the keys that they were created with. */
export async function removeSshKey(tx: Tx, { identity, ipAddress }: Caller, id: SshKeyId | undefined): Promise<void> {
  if (id === undefined || !(await deleteSshKey(tx, identity.userId, id))) throw noSshKey();
  await recordAudit(tx, identity, { ipAddress, action: "api.ssh_key.delete", args: { id } });
}

/** A key of an instance that a request has just named; `isNew` when it was not there before. */
export type AttachedKey = InstanceSshKey & { readonly isNew: boolean };

/**
 * Adds a key to an instance that the caller has locked and owns: by a key's text, or by the id of a key of the account.
 * A key that the instance already has stays as it is.
 */
export async function attachSshKey(
  tx: Tx,
  { identity, ipAddress }: Caller,
  instanceId: InstanceId,
  given: string | number | undefined,
): Promise<AttachedKey> {
  const { line, fingerprint, accountKeyId } = await resolveKey(tx, identity.userId, given);
  const present = (await listInstanceSshKeys(tx.db, [instanceId])).get(instanceId) ?? [];
  const same = present.find((key) => key.fingerprint === fingerprint);
  if (same !== undefined) return { ...same, isNew: false };
  if (present.length >= INSTANCE_SSH_KEYS_MAX) {
    throw tooManyKeys(`An instance may have at most ${INSTANCE_SSH_KEYS_MAX} SSH keys.`);
  }
  // The instance may have an older key under that id, since the account's key was replaced.
  const isFree = present.every((key) => key.id !== accountKeyId);
  const id = await insertInstanceSshKey(tx, instanceId, { id: isFree ? accountKeyId : undefined, line, fingerprint });
  const args = { id: instanceId, ssh_key_id: id, fingerprint };
  await recordAudit(tx, identity, { ipAddress, action: "api.instance.attach_ssh_key", args });
  return { id, instanceId, publicKey: line, fingerprint, isNew: true };
}

/** Refuses two names, an id of the account and a text, that stand for different keys. */
export async function requireSameSshKey(
  tx: Tx,
  { identity }: Caller,
  { ssh_key_id: id, ssh_key: text }: { readonly ssh_key_id: string | number; readonly ssh_key: string | number },
): Promise<void> {
  const [byId, byText] = [await resolveKey(tx, identity.userId, id), await resolveKey(tx, identity.userId, text)];
  if (byId.fingerprint === byText.fingerprint) return;
  throw invalid("ssh_key", `ssh_key is not your key ${id}, which ssh_key_id names. Send one of them.`);
}

/** Removes a key from an instance that the caller has locked and owns. */
export async function detachSshKey(
  tx: Tx,
  { identity, ipAddress }: Caller,
  instanceId: InstanceId,
  id: number,
): Promise<void> {
  const keyId = parseId<SshKeyId>(String(id));
  if (keyId === undefined || !(await deleteInstanceSshKey(tx, instanceId, keyId))) {
    throw notFound("no_such_ssh_key", `Instance ${instanceId} has no SSH key ${id}.`);
  }
  const args = { id: instanceId, ssh_key_id: keyId };
  await recordAudit(tx, identity, { ipAddress, action: "api.instance.detach_ssh_key", args });
}

async function resolveKey(tx: Tx, userId: UserId, given: string | number | undefined) {
  const text = given === undefined ? "" : String(given).trim();
  if (/^-?[\d.]+$/.test(text)) {
    const id = parseId<SshKeyId>(text);
    const key = id && (await findSshKey(tx.db, userId, id));
    if (key === undefined) throw notFound("no_such_ssh_key", `You have no SSH key ${text}.`);
    return { line: key.publicKey, fingerprint: key.fingerprint, accountKeyId: key.id };
  }
  const { line, fingerprint } = parseSshPublicKey(text);
  const own = await findSshKeyByFingerprint(tx.db, userId, fingerprint);
  return { line, fingerprint, accountKeyId: own?.id };
}

function tooManyKeys(message: string): AppError {
  return invalid("ssh_key", message, "max_ssh_keys");
}

/** One error for keys that are absent, deleted or another user's, with the status of the contract. */
function noSshKey(): AppError {
  return invalid("id", "There is no such SSH key of yours.", "no_ssh_key");
}
