import { sql } from "kysely";
import type { PayoutHoldId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** The cause of a hold. A host has at most one open hold of each kind. */
export type PayoutHoldKind = "operator" | "frozen_account" | "flagged_host" | "unverified" | "disputed_money";

export type PayoutHold = {
  readonly id: PayoutHoldId;
  readonly userId: UserId;
  readonly kind: PayoutHoldKind;
  /** A sentence for the host. */
  readonly reason: string;
  /** The administrator; undefined when the server placed the hold. */
  readonly placedBy: UserId | undefined;
  readonly placedAt: Date;
  /** The end of the hold; undefined while it is open. */
  readonly released: PayoutHoldRelease | undefined;
};

export type PayoutHoldRelease = { readonly by: UserId | undefined; readonly at: Date; readonly reason: string };

/** The id of the new hold; undefined when the host has an open one of the kind. */
export async function insertPayoutHold(
  tx: Tx,
  { userId, kind, reason, placedBy }: Pick<PayoutHold, "userId" | "kind" | "reason" | "placedBy">,
): Promise<PayoutHoldId | undefined> {
  const row = await tx.db
    .insertInto("payout_holds")
    .values({ user_id: userId, kind, reason, placed_by: placedBy ?? null, placed_at: tx.now })
    .onConflict((conflict) => conflict.columns(["user_id", "kind"]).where("released_at", "is", null).doNothing())
    .returning("id")
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const content = { user: userId, kind_of_hold: kind, reason, placed_by: placedBy ?? null, is_open: true };
  tx.noteFact({ kind: "payout_hold", subject: String(row.id), content });
  return row.id;
}

/** The released hold; undefined when the host has no open one of the kind. */
export async function storePayoutRelease(
  tx: Tx,
  { userId, kind, by, reason }: Pick<PayoutHold, "userId" | "kind"> & Omit<PayoutHoldRelease, "at">,
): Promise<PayoutHold | undefined> {
  const row = await tx.db
    .updateTable("payout_holds")
    .set({ released_by: by ?? null, released_at: tx.now, release_reason: reason })
    .where("user_id", "=", userId)
    .where("kind", "=", kind)
    .where("released_at", "is", null)
    .returning(COLUMNS)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const content = { user: userId, kind_of_hold: kind, reason, released_by: by ?? null, is_open: false };
  tx.noteFact({ kind: "payout_hold", subject: String(row.id), content });
  return toHold(row);
}

/** The open holds of one host, oldest first. */
export async function listOpenPayoutHolds(db: Reader, userId: UserId): Promise<readonly PayoutHold[]> {
  return selectOpenHolds(db, [userId]);
}

/** The newest hold of each host and kind, open or released. */
export async function listNewestPayoutHolds(
  db: Reader,
  kinds: readonly PayoutHoldKind[],
): Promise<readonly PayoutHold[]> {
  const rows = await db
    .selectFrom("payout_holds")
    .select(COLUMNS)
    .distinctOn(["user_id", "kind"])
    .where("kind", "=", sql<string>`any(${[...kinds]}::text[])`)
    .orderBy("user_id")
    .orderBy("kind")
    .orderBy("id", "desc")
    .execute();
  return rows.map(toHold);
}

export async function hasOpenPayoutHold(db: Reader, userId: UserId): Promise<boolean> {
  return (await listOpenPayoutHolds(db, userId)).length > 0;
}

/** Those of these hosts who have an open hold, of any kind or of this kind. */
export async function listHeldAmong(
  db: Reader,
  userIds: readonly UserId[],
  kind?: PayoutHoldKind,
): Promise<ReadonlySet<UserId>> {
  const holds = await selectOpenHolds(db, userIds);
  return new Set(holds.filter((hold) => kind === undefined || hold.kind === kind).map(({ userId }) => userId));
}

export async function findOpenPayoutHold(db: Reader, id: PayoutHoldId): Promise<PayoutHold | undefined> {
  return (await selectOpenHolds(db)).find((hold) => hold.id === id);
}

/** The open holds of these hosts, or of all hosts; oldest first. */
export async function selectOpenHolds(db: Reader, userIds?: readonly UserId[]): Promise<readonly PayoutHold[]> {
  const query = db.selectFrom("payout_holds").select(COLUMNS).where("released_at", "is", null);
  const wanted =
    userIds === undefined ? query : query.where("user_id", "=", sql<UserId>`any(${[...userIds]}::integer[])`);
  return (await wanted.orderBy("id").execute()).map(toHold);
}

const COLUMNS = [
  "id",
  "user_id",
  "kind",
  "reason",
  "placed_by",
  "placed_at",
  "released_by",
  "released_at",
  "release_reason",
] as const;

type HoldRow = {
  readonly id: PayoutHoldId;
  readonly user_id: UserId;
  readonly kind: string;
  readonly reason: string;
  readonly placed_by: UserId | null;
  readonly placed_at: Date;
  readonly released_by: UserId | null;
  readonly released_at: Date | null;
  readonly release_reason: string | null;
};

function toHold(row: HoldRow): PayoutHold {
  return {
    id: row.id,
    userId: row.user_id,
    // Only this domain's `PayoutHoldKind`s are inserted.
    kind: row.kind as PayoutHoldKind,
    reason: row.reason,
    placedBy: row.placed_by ?? undefined,
    placedAt: row.placed_at,
    released:
      row.released_at === null
        ? undefined
        : { by: row.released_by ?? undefined, at: row.released_at, reason: row.release_reason ?? "" },
  };
}
