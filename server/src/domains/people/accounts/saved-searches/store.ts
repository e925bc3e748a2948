import { sql } from "kysely";
import type { Identity } from "../../../../base/identity.ts";
import type { SavedSearchId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

export type SavedSearch = {
  readonly id: SavedSearchId;
  readonly name: string;
  readonly query: string;
  readonly columns: readonly string[];
  readonly created_at: Date;
  readonly updated_at: Date;
};

const COLUMNS = ["id", "name", "query", "columns", "created_at", "updated_at"] as const;

/** Members of a team keep their searches apart. */
type Owner = Pick<Identity, "userId" | "memberId">;

export function listSavedSearches(db: Reader, { userId, memberId }: Owner): Promise<readonly SavedSearch[]> {
  return db
    .selectFrom("saved_searches")
    .select(COLUMNS)
    .where("user_id", "=", userId)
    .where("member_id", "=", memberId ?? 0)
    .orderBy(sql`name collate "C"`)
    .execute();
}

/** Number of the owner's searches that have another name. */
export async function countOtherSearches(db: Reader, { userId, memberId }: Owner, name: string): Promise<number> {
  const { count } = await db
    .selectFrom("saved_searches")
    .select(({ fn }) => fn.countAll<bigint>().as("count"))
    .where("user_id", "=", userId)
    .where("member_id", "=", memberId ?? 0)
    .where("name", "<>", name)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Stores a search; one of the same name is replaced and keeps its id. */
export function upsertSavedSearch(
  tx: Tx,
  { userId, memberId }: Owner,
  { name, query, columns }: Pick<SavedSearch, "name" | "query" | "columns">,
): Promise<SavedSearch> {
  const changed = { query, columns: [...columns], updated_at: tx.now };
  return tx.db
    .insertInto("saved_searches")
    .values({ user_id: userId, member_id: memberId ?? 0, name, created_at: tx.now, ...changed })
    .onConflict((oc) => oc.columns(["user_id", "member_id", "name"]).doUpdateSet(changed))
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

/** Deletes a search of this owner; false when there is none of this id. */
export async function deleteSavedSearch(tx: Tx, { userId, memberId }: Owner, id: SavedSearchId): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom("saved_searches")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .where("member_id", "=", memberId ?? 0)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
