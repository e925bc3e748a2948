import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";

/** The roles that groups gave to an account: the right of an administrator, and memberships of teams. */
export type GivenRoles = { readonly isAdmin: boolean; readonly teamIds: ReadonlySet<UserId> };

export async function listGivenRoles(tx: Tx, userId: UserId): Promise<GivenRoles> {
  const rows = await tx.db.selectFrom("sso_grants").select("team_id").where("user_id", "=", userId).execute();
  return {
    isAdmin: rows.some((row) => row.team_id === null),
    teamIds: new Set(rows.flatMap((row) => row.team_id ?? [])),
  };
}

/** Keeps that a group gave a role; without a team it is the right of an administrator. */
export async function insertGivenRole(tx: Tx, userId: UserId, teamId: UserId | undefined): Promise<void> {
  await tx.db
    .insertInto("sso_grants")
    .values({ user_id: userId, team_id: teamId ?? null, created_at: tx.now })
    .onConflict((conflict) => conflict.columns(["user_id", "team_id"]).doNothing())
    .execute();
}

export async function deleteGivenRole(tx: Tx, userId: UserId, teamId: UserId | undefined): Promise<void> {
  await tx.db
    .deleteFrom("sso_grants")
    .where("user_id", "=", userId)
    .where("team_id", "is not distinct from", teamId ?? null)
    .execute();
}
