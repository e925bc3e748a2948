import { sql } from "kysely";
import type { ApiKeyId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** A key, deleted or not, with the person who holds it. */
export type KeyOrigin = {
  readonly name: string;
  /** True for the key of a browser's session, which nobody named. */
  readonly isSession: boolean;
  /** The member of a team who holds it; otherwise the account itself. */
  readonly personId: UserId;
  readonly personName: string;
};

/** The origins of these keys of the account. */
export async function listKeyOrigins(
  db: Reader,
  userId: UserId,
  ids: readonly ApiKeyId[],
): Promise<ReadonlyMap<ApiKeyId, KeyOrigin>> {
  const rows = await db
    .selectFrom("api_keys as k")
    .innerJoin("users as p", (join) => join.on(sql<boolean>`p.id = coalesce(k.member_id, k.user_id)`))
    .select(["k.id", "k.name", "k.kind", "p.id as personId", "p.username"])
    .where("k.id", "=", sql<ApiKeyId>`any(${[...ids]}::integer[])`)
    .where("k.user_id", "=", userId)
    .execute();
  return new Map(
    rows.map(({ id, name, kind, personId, username }) => [
      id,
      { name, isSession: kind !== "api", personId, personName: username },
    ]),
  );
}
