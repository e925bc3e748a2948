import { conflict, notFound, type AppError } from "../../../base/errors.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Caller } from "../../../base/identity.ts";
import type { CloudConnectionId, UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { recordAudit, requireRoom } from "../accounts/index.ts";
import { readConnection, type CloudSettings, type CloudWish } from "./rules/connection.ts";
import { countConnections, deleteConnection, findSettings, insertConnection, nextConnectionId } from "./store.ts";

const CONNECTIONS_MAX = 50;

/** Stores a connection of the caller's; returns its id and its name. Nothing of the storage is asked yet. */
export async function connect(
  tx: Tx,
  { identity, ipAddress }: Caller,
  wish: CloudWish,
  encryption: Encryption,
): Promise<{ readonly id: CloudConnectionId; readonly name: string }> {
  const { name, settings } = readConnection(wish);
  const { userId } = identity;
  const count = () => countConnections(tx.db, userId);
  await requireRoom(tx, userId, { count, max: CONNECTIONS_MAX, field: "provider", what: "cloud connections" });
  const id = await nextConnectionId(tx);
  await insertConnection(tx, userId, {
    ...{ id, provider: settings.provider, user_given_name: name },
    endpoint: "endpoint" in settings ? settings.endpoint : null,
    region: "region" in settings ? settings.region : null,
    namespace: "namespace" in settings ? settings.namespace : null,
    encryptedSettings: encryption.encrypt(JSON.stringify(settings), contextOf(userId, id)),
  });
  const args = { id, provider: settings.provider, name };
  await recordAudit(tx, identity, { ipAddress, action: "api.cloud.connect", args });
  return { id, name };
}

/** Deletes a connection of the caller's, with its keys. Copies under way keep theirs until they end. */
export async function disconnect(tx: Tx, { identity, ipAddress }: Caller, id: CloudConnectionId): Promise<void> {
  if (!(await deleteConnection(tx, identity.userId, id))) throw noSuchConnection(id);
  await recordAudit(tx, identity, { ipAddress, action: "api.cloud.disconnect", args: { id } });
}

/** A connection with its keys, for a host that copies. */
export type OpenConnection = { readonly name: string; readonly settings: CloudSettings };

/** Decrypts a connection of the user's; throws `not_found` where they have none of this id. */
export async function openConnection(
  tx: Tx,
  userId: UserId,
  id: CloudConnectionId,
  encryption: Encryption,
): Promise<OpenConnection> {
  const found = await findSettings(tx.db, userId, id);
  if (found === undefined) throw noSuchConnection(id);
  const text = encryption.decrypt(found.encryptedSettings, contextOf(userId, id));
  if (text === undefined) {
    const message = `The keys of cloud connection ${id} can no longer be read: delete it and connect it again.`;
    throw conflict("unreadable_connection", message);
  }
  return { name: found.name, settings: JSON.parse(text) as CloudSettings };
}

function noSuchConnection(id: number): AppError {
  return notFound("no_such_connection", `You have no cloud connection ${id}.`, { extra: { field: "id" } });
}

function contextOf(userId: UserId, id: CloudConnectionId): string {
  return `cloud connection ${userId} ${id}`;
}
