import { forbidden, notFound } from "../../../base/errors.ts";
import type { Identity } from "../../../base/identity.ts";
import { asId, type ApiKeyId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { findIdentityOfKey, isDemanding, isWithin } from "../accounts/for-schedules.ts";

/**
 * The identity that a job acts with: the caller's, or that of an API key that the caller named, since a browser's session
 * ends before most jobs do. The key is one of the same holder and may do nothing that the caller may not: a job would else
 * do for its caller what the caller is refused. Throws 404 and 403.
 */
export async function actingIdentity(tx: Tx, caller: Identity, keyId: number | undefined): Promise<Identity> {
  if (keyId === undefined || keyId === caller.apiKeyId) return caller;
  const key = await findIdentityOfKey(tx.db, asId<ApiKeyId>(keyId), tx.now);
  const isOwn =
    key !== undefined &&
    key.userId === caller.userId &&
    key.memberId === caller.memberId &&
    key.instanceId === undefined &&
    key.session === undefined;
  if (!isOwn) throw notFound("not_found", `There is no API key ${keyId} of yours.`);
  if (!isWithin(key.permissions, caller.permissions)) {
    throw forbidden(`API key ${keyId} may do more than the calling key, which cannot schedule with it.`);
  }
  const isCallerBound = caller.demandsTfa === true || (await isDemanding(tx, caller));
  if (isCallerBound && !(await isDemanding(tx, key))) {
    throw forbidden(
      `API key ${keyId} asks for no second factor as the calling key does, which cannot schedule with it.`,
    );
  }
  return key;
}
