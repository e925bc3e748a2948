import type { ApiKeyId, UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";

/** A live team; its id is that of its account. */
export type Team = { readonly id: UserId; readonly name: string; readonly foundingKeyId: ApiKeyId };

/** Throws the unique violation of `teams_name` when another live team has the name, in any case. */
export async function insertTeam(tx: Tx, { id, name, foundingKeyId }: Team): Promise<void> {
  const row = { id, name, founding_key_id: foundingKeyId, created_at: tx.now };
  await tx.db.insertInto("teams").values(row).execute();
}

export async function findTeam(db: Reader, id: UserId): Promise<Team | undefined> {
  const row = await liveTeams(db).where("id", "=", id).executeTakeFirst();
  return row && toTeam(row);
}

/** Blocks other changes of the team, its members, roles and invitations until the commit. */
export async function lockTeam(tx: Tx, id: UserId): Promise<Team | undefined> {
  const row = await liveTeams(tx.db).where("id", "=", id).forUpdate().executeTakeFirst();
  return row && toTeam(row);
}

/** Throws as `insertTeam` does. */
export async function renameTeam(tx: Tx, id: UserId, name: string): Promise<void> {
  await tx.db.updateTable("teams").set({ name }).where("id", "=", id).execute();
}

export async function markTeamDeleted(tx: Tx, id: UserId, deletedBy: UserId): Promise<void> {
  await tx.db.updateTable("teams").set({ deleted_at: tx.now, deleted_by: deletedBy }).where("id", "=", id).execute();
}

export type DeletedTeam = { readonly id: UserId; readonly lastOwnerId: UserId };

/** Teams that were deleted at `since` or later, the last one first. */
export async function listDeletedSince(db: Reader, since: Date, limit: number): Promise<readonly DeletedTeam[]> {
  const rows = await db
    .selectFrom("teams")
    .select(["id", "deleted_by"])
    .where("deleted_at", ">=", since)
    .orderBy("deleted_at", "desc")
    .limit(limit)
    .execute();
  return rows.flatMap(({ id, deleted_by: lastOwnerId }) => (lastOwnerId === null ? [] : [{ id, lastOwnerId }]));
}

function liveTeams(db: Reader) {
  return db.selectFrom("teams").select(["id", "name", "founding_key_id"]).where("deleted_at", "is", null);
}

type TeamRow = Awaited<ReturnType<ReturnType<typeof liveTeams>["executeTakeFirstOrThrow"]>>;

function toTeam({ id, name, founding_key_id: foundingKeyId }: TeamRow): Team {
  return { id, name, foundingKeyId };
}
