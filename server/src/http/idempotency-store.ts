import { invariant } from "../base/invariant.ts";
import type { Tx } from "../db/transaction.ts";
import type { Repeatable } from "./idempotency.ts";

type EarlierAnswer = { readonly requestSha256: Buffer; readonly response: Buffer };

/** Takes the key for this transaction, waiting for another one that holds it; or returns the answer of an earlier one. */
export async function claimKey(
  tx: Tx,
  { apiKeyId, key, requestSha256 }: Repeatable,
): Promise<"claimed" | EarlierAnswer> {
  const inserted = await tx.db
    .insertInto("idempotency_keys")
    .values({ api_key_id: apiKeyId, key, request_sha256: requestSha256, created_at: tx.now })
    .onConflict((oc) => oc.doNothing())
    .executeTakeFirst();
  if (inserted.numInsertedOrUpdatedRows === 1n) return "claimed";
  const row = await tx.db
    .selectFrom("idempotency_keys")
    .select(["request_sha256", "response"])
    .where("api_key_id", "=", apiKeyId)
    .where("key", "=", key)
    .executeTakeFirstOrThrow();
  invariant(row.response !== null, "a committed idempotency key has its answer");
  return { requestSha256: row.request_sha256, response: row.response };
}

export async function storeResponse(tx: Tx, { apiKeyId, key }: Repeatable, response: Buffer): Promise<void> {
  await tx.db
    .updateTable("idempotency_keys")
    .set({ response })
    .where("api_key_id", "=", apiKeyId)
    .where("key", "=", key)
    .execute();
}

/** Forgets answers older than `before`; returns how many. */
export async function deleteKeysBefore(tx: Tx, before: Date): Promise<number> {
  const result = await tx.db.deleteFrom("idempotency_keys").where("created_at", "<", before).executeTakeFirst();
  return Number(result.numDeletedRows);
}

/** Gives back a key claimed in this transaction, whose request was refused: it may be tried again. */
export async function releaseKey(tx: Tx, { apiKeyId, key }: Repeatable): Promise<void> {
  await tx.db.deleteFrom("idempotency_keys").where("api_key_id", "=", apiKeyId).where("key", "=", key).execute();
}
