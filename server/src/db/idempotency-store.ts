import { sql } from "kysely";
import type { ApiKeyId } from "../base/ids.ts";
import { invariant } from "../base/invariant.ts";
import { RunAgain, type Reader, type Tx } from "./transaction.ts";

/** A request that its sender may repeat: the key, the digest of the request, and the encryption of its answer. */
export type Repeatable = {
  readonly apiKeyId: ApiKeyId;
  readonly key: string;
  readonly requestSha256: Buffer;
  /** Encrypts an answer so that only a bearer of the same secret can read it back: it may hold a new key. */
  encrypt(response: unknown): Buffer;
  decrypt(encrypted: Buffer): unknown;
};

export type EarlierAnswer = { readonly requestSha256: Buffer; readonly response: Buffer };

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

/** Forgets the answer of a request whose effect was taken back, so that a repetition does the work again. */
export async function forgetAnswer(tx: Tx, { apiKeyId, key }: Repeatable): Promise<void> {
  await tx.db.deleteFrom("idempotency_keys").where("api_key_id", "=", apiKeyId).where("key", "=", key).execute();
}

/** The answers of earlier requests with these keys, without waiting for any that are under way. */
export async function findAnswers(
  db: Reader,
  requests: readonly Repeatable[],
): Promise<ReadonlyMap<Repeatable, EarlierAnswer>> {
  if (requests.length === 0) return new Map();
  const { rows } = await sql<EarlierAnswer & { readonly position: number }>`
    select asked.position::integer, request_sha256 as "requestSha256", response
    from unnest(
      ${requests.map((request) => request.apiKeyId)}::integer[], ${requests.map((request) => request.key)}::text[]
    ) with ordinality as asked (api_key_id, key, position)
    join idempotency_keys using (api_key_id, key)
    where response is not null
  `.execute(db);
  return new Map(
    rows.flatMap((row) => {
      const request = requests[row.position - 1];
      return request === undefined ? [] : [[request, row] as const];
    }),
  );
}

/**
 * Stores keys together with their answers. When another transaction took one of the keys since `findAnswers` looked, the
 * whole transaction is run again and finds its answer.
 */
export async function insertAnswers(
  tx: Tx,
  answers: readonly { readonly repeatable: Repeatable; readonly response: Buffer }[],
): Promise<void> {
  if (answers.length === 0) return;
  // In the order of the keys, so that two transactions that share some wait for each other one way round only.
  const result = await sql`
    insert into idempotency_keys (api_key_id, key, request_sha256, response, created_at)
    select api_key_id, key, sha256, response, ${tx.now}::timestamptz
    from unnest(
      ${answers.map(({ repeatable }) => repeatable.apiKeyId)}::integer[],
      ${answers.map(({ repeatable }) => repeatable.key)}::text[],
      ${answers.map(({ repeatable }) => repeatable.requestSha256)}::bytea[],
      ${answers.map(({ response }) => response)}::bytea[]
    ) as answered (api_key_id, key, sha256, response)
    order by api_key_id, key
    on conflict do nothing
  `.execute(tx.db);
  if (result.numAffectedRows !== BigInt(answers.length)) throw new RunAgain("an Idempotency-Key was taken meanwhile");
}

/** Forgets answers older than `before`; returns how many. */
export async function deleteKeysBefore(tx: Tx, before: Date): Promise<number> {
  const result = await tx.db.deleteFrom("idempotency_keys").where("created_at", "<", before).executeTakeFirst();
  return Number(result.numDeletedRows);
}
