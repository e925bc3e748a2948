import { forbidden, invalid } from "../../../../base/errors.ts";
import type { Caller } from "../../../../base/identity.ts";
import { parseId, type UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { recordAudit } from "../audit-log/store.ts";
import { changeSecret } from "../keys/service.ts";
import { insertApiKey } from "../keys/store.ts";
import { newKey } from "../keys/rules/keys.ts";
import { isWithin } from "../keys/rules/permissions.ts";
import type { AccountPorts } from "../route-ports.ts";
import { HOST_ONLY_PERMISSIONS } from "../users/service.ts";
import { noSuchUser } from "../users/find-user.ts";
import { lockUser } from "../users/store.ts";
import { notForTeams } from "../users/rules/user.ts";
import { listSubaccounts, type Subaccount } from "./store.ts";

type RegenerateRequest = {
  readonly subaccount_user_id?: number;
  readonly regenerate_all?: boolean;
};

type RegeneratedKey = { readonly user_id: number; readonly email: string; readonly derived_key: string };

const KEY_NAME = "default";

/**
 * Gives the first key of one subaccount, or of all, another secret, and returns the secrets: this once. The old secrets
 * become invalid at commit. A key without an equal right cannot: it would get more than it has.
 */
export async function regenerateKeys(
  tx: Tx,
  { identity, ipAddress }: Caller,
  request: RegenerateRequest,
  ports: Pick<AccountPorts, "identities" | "random" | "refuseNewKeys">,
): Promise<readonly RegeneratedKey[]> {
  if (identity.memberId !== undefined) throw notForTeams("A team has members, and no subaccounts.");
  const only = readOnly(request);
  await ports.refuseNewKeys(tx, identity, undefined);
  // Two calls at once would otherwise both replace a secret, and one of them return a dead one.
  await lockUser(tx, identity.userId);
  const found = (await listSubaccounts(tx.db, identity.userId, only)).filter((one) => one.deletedAt === undefined);
  if (only !== undefined && found.length === 0) throw noSuchUser(String(only));
  for (const { id, key } of found) {
    if (!isWithin(key?.permissions, identity.permissions)) {
      const reason = `The key of subaccount ${id} may do more than the calling key, so this key cannot replace it.`;
      throw forbidden(reason, "missing_permissions");
    }
  }
  const keys: RegeneratedKey[] = [];
  for (const subaccount of found) {
    const secret = await replaceKey(tx, subaccount, ports);
    keys.push({ user_id: subaccount.id, email: subaccount.email, derived_key: secret });
  }
  const args = { user_ids: found.map(({ id }) => id) };
  await recordAudit(tx, identity, { ipAddress, action: "api.subaccount.regenerate_keys", args });
  return keys;
}

/** The one subaccount that is named; undefined for all of them. */
function readOnly({ subaccount_user_id: id, regenerate_all: isAll }: RegenerateRequest): UserId | undefined {
  if (id !== undefined && isAll === true) {
    throw invalid("regenerate_all", "regenerate_all and subaccount_user_id exclude each other");
  }
  if (isAll === true) return undefined;
  if (id === undefined) throw invalid("subaccount_user_id", "subaccount_user_id or regenerate_all is required");
  const userId = parseId<UserId>(String(id));
  if (userId === undefined) throw invalid("subaccount_user_id", "subaccount_user_id must be the id of a subaccount");
  return userId;
}

/**
 * Replaces the secret of a subaccount's key. One without a key gets a new one; one whose key was deleted meanwhile gets a
 * key that may do no more, since that is what the caller was compared with.
 */
async function replaceKey(
  tx: Tx,
  { id, key, isHostOnly }: Subaccount,
  means: Pick<AccountPorts, "identities" | "random">,
): Promise<string> {
  const changed = key === undefined ? undefined : await changeSecret(tx, { id: key.id, userId: id }, means);
  if (changed !== undefined) return changed.secret;
  const fresh = newKey(means.random);
  const first = isHostOnly ? HOST_ONLY_PERMISSIONS : undefined;
  const permissions = key === undefined ? first : key.permissions;
  await insertApiKey(tx, { userId: id, name: KEY_NAME, key: fresh, permissions });
  return fresh.secret;
}
