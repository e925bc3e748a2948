import type { Caller } from "../../../../base/identity.ts";
import { invalid } from "../../../../base/errors.ts";
import type { Encryption } from "../../../../base/encryption.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { recordAudit } from "../audit-log/store.ts";
import { parseSecret, parseSecretName } from "./rules/secret-name.ts";
import { deleteSecret, insertSecret, listSecretNames, updateSecret } from "./store.ts";
import { lockUser } from "../users/store.ts";

/** Limited because all secrets go into each container, and to each host with every desired set. */
const SECRETS_MAX = 64;

export type SecretBody = { readonly key?: string; readonly value?: string };

/** Stores a new variable of the caller's containers. Returns its stored name. */
export async function createSecret(
  tx: Tx,
  { identity, ipAddress }: Caller,
  body: SecretBody,
  encryption: Encryption,
): Promise<string> {
  const secret = parseSecret(body);
  await lockUser(tx, identity.userId);
  const names = await listSecretNames(tx.db, identity.userId);
  if (names.includes(secret.name)) {
    throw invalid("key", `${secret.name} exists already; change it with PUT.`, "existing_key");
  }
  if (names.length >= SECRETS_MAX) {
    throw invalid("key", `An account may have at most ${SECRETS_MAX} environment variables.`, "max_secrets");
  }
  await insertSecret(tx, identity.userId, secret, encryption);
  await recordAudit(tx, identity, { ipAddress, action: "api.secret.create", args: { key: secret.name } });
  return secret.name;
}

/** Gives a variable another value, for containers that start from now on. */
export async function changeSecret(
  tx: Tx,
  { identity, ipAddress }: Caller,
  body: SecretBody,
  encryption: Encryption,
): Promise<string> {
  const secret = parseSecret(body);
  if (!(await updateSecret(tx, identity.userId, secret, encryption))) throw nonexistentKey();
  await recordAudit(tx, identity, { ipAddress, action: "api.secret.update", args: { key: secret.name } });
  return secret.name;
}

export async function removeSecret(tx: Tx, { identity, ipAddress }: Caller, key: string | undefined): Promise<string> {
  const name = parseSecretName(key);
  if (!(await deleteSecret(tx, identity.userId, name))) throw nonexistentKey();
  await recordAudit(tx, identity, { ipAddress, action: "api.secret.delete", args: { key: name } });
  return name;
}

function nonexistentKey() {
  return invalid("key", "You have no environment variable of this name.", "nonexistent_key");
}
