import { sql } from "kysely";
import type { AnnouncementId, UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";

export type Level = "info" | "warning";
export type Audience = "everyone" | "hosts" | "renters";

export type AnnouncementContent = {
  readonly title: string;
  readonly message: string;
  readonly level: Level;
  readonly audience: Audience;
  readonly from: Date;
  /** The end; undefined while it has none. */
  readonly until: Date | undefined;
};

export type Announcement = AnnouncementContent & {
  readonly id: AnnouncementId;
  readonly createdBy: UserId;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** Announcements of all times, the newest first. */
export async function listAnnouncements(db: Reader, limit: number): Promise<readonly Announcement[]> {
  const rows = await db.selectFrom("announcements").selectAll().orderBy("id", "desc").limit(limit).execute();
  return rows.map(toAnnouncement);
}

/** Announcements for these audiences whose time it is, warnings first, then the newest. */
export async function listShownAnnouncements(
  db: Reader,
  { now, audiences, limit }: { readonly now: Date; readonly audiences: readonly Audience[]; readonly limit: number },
): Promise<readonly Announcement[]> {
  const rows = await db
    .selectFrom("announcements")
    .selectAll()
    .where("from_at", "<=", now)
    .where((eb) => eb.or([eb("until_at", "is", null), eb("until_at", ">", now)]))
    .where("audience", "in", audiences)
    .orderBy(sql`level = 'warning'`, "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toAnnouncement);
}

export async function insertAnnouncement(
  tx: Tx,
  createdBy: UserId,
  content: AnnouncementContent,
): Promise<AnnouncementId> {
  const times = { created_by: createdBy, created_at: tx.now, updated_at: tx.now };
  const row = await tx.db
    .insertInto("announcements")
    .values({ ...toColumns(content), ...times })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function lockAnnouncement(tx: Tx, id: AnnouncementId): Promise<Announcement | undefined> {
  const row = await tx.db.selectFrom("announcements").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  return row && toAnnouncement(row);
}

export async function updateAnnouncement(tx: Tx, id: AnnouncementId, content: AnnouncementContent): Promise<void> {
  await tx.db
    .updateTable("announcements")
    .set({ ...toColumns(content), updated_at: tx.now })
    .where("id", "=", id)
    .execute();
}

/** Ends an announcement now, if it is still there and lasts. */
export async function setAnnouncementEnd(tx: Tx, id: AnnouncementId): Promise<void> {
  await sql`
    with begun as (
      update announcements set until_at = ${tx.now}::timestamptz, updated_at = ${tx.now}::timestamptz
      where id = ${id} and from_at < ${tx.now}::timestamptz and (until_at is null or until_at > ${tx.now}::timestamptz)
    )
    delete from announcements where id = ${id} and from_at >= ${tx.now}::timestamptz
  `.execute(tx.db);
}

export async function deleteAnnouncement(tx: Tx, id: AnnouncementId): Promise<void> {
  await tx.db.deleteFrom("announcements").where("id", "=", id).execute();
}

function toColumns({ title, message, level, audience, from, until }: AnnouncementContent) {
  return { title, message, level, audience, from_at: from, until_at: until ?? null };
}

type Row = {
  readonly id: AnnouncementId;
  readonly title: string;
  readonly message: string;
  readonly level: string;
  readonly audience: string;
  readonly from_at: Date;
  readonly until_at: Date | null;
  readonly created_by: UserId;
  readonly created_at: Date;
  readonly updated_at: Date;
};

function toAnnouncement(row: Row): Announcement {
  return {
    id: row.id,
    title: row.title,
    message: row.message,
    level: row.level as Level,
    audience: row.audience as Audience,
    from: row.from_at,
    until: row.until_at ?? undefined,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
