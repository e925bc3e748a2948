import { invariant } from "../../../../base/invariant.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { deleteApiKeysNamed, insertApiKey } from "../keys/store.ts";
import { newKey, type RandomBytes } from "../keys/rules/keys.ts";
import { findFirstAdmin, insertUser } from "../users/store.ts";

/** Name of the key that the server keeps in a file for its operator. */
const ADMIN_KEY_NAME = "admin";

/** True when this database has an administrator. */
export async function hasAdministrator(db: Reader): Promise<boolean> {
  return (await findFirstAdmin(db)) !== undefined;
}

/**
 * Makes sure that there is an administrator, and returns the secret of a new key when the operator has none: at the
 * first start, and when the file with the last key is gone (`hasKey` false), which also covers a crash between commit
 * and writing the file. An older key of this name then stops working.
 */
export async function bootstrapAdmin(
  tx: Tx,
  { email, hasKey, random }: { readonly email: string; readonly hasKey: boolean; readonly random: RandomBytes },
): Promise<{ readonly userId: UserId; readonly secret: string | undefined }> {
  const known = await findFirstAdmin(tx.db);
  if (known !== undefined && hasKey) return { userId: known.id, secret: undefined };
  const userId = known?.id ?? (await insertUser(tx, { email, username: "admin", isAdmin: true, provenBy: "operator" }));
  invariant(userId !== undefined, `the address ${email} of the administrator belongs to an ordinary user`);
  await deleteApiKeysNamed(tx, userId, ADMIN_KEY_NAME);
  const key = newKey(random);
  await insertApiKey(tx, { userId, name: ADMIN_KEY_NAME, key, permissions: undefined });
  return { userId, secret: key.secret };
}
