import { sql } from "kysely";
import type { Pause } from "../../../base/pause.ts";
import type { AnnouncementId, UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";

/** Tells all servers that a pause began or ended. */
export const PAUSES_CHANNEL = "service_pauses";

export type KeptPause = Pause & {
  readonly startedAt: Date;
  readonly startedBy: UserId;
  readonly announcementId: AnnouncementId;
  /** The time at which an administrator ended it; undefined for one that lasts, or that ended by itself. */
  readonly endedAt: Date | undefined;
};

const COLUMNS = ["id", "message", "started_at", "started_by", "until_at", "announcement_id", "ended_at"] as const;

/** The pause that lasts at this time, or is planned; undefined while there is none. */
export async function findPause(db: Reader, now: Date): Promise<KeptPause | undefined> {
  const row = await db
    .selectFrom("service_pauses")
    .select(COLUMNS)
    .where("ended_at", "is", null)
    .where("until_at", ">", now)
    .executeTakeFirst();
  return row && toPause(row);
}

/** Pauses of all times, the newest first. */
export async function listPauses(db: Reader, limit: number): Promise<readonly KeptPause[]> {
  const rows = await db.selectFrom("service_pauses").select(COLUMNS).orderBy("id", "desc").limit(limit).execute();
  return rows.map(toPause);
}

/** Ends the pause that is not ended yet, planned or over ones included, so that another one may begin. */
export async function endPause(tx: Tx, endedBy: UserId): Promise<KeptPause | undefined> {
  // Two administrators at once follow one another here.
  await sql`lock table service_pauses in share row exclusive mode`.execute(tx.db);
  const row = await tx.db
    .updateTable("service_pauses")
    .set({ ended_at: tx.now, ended_by: endedBy })
    .where("ended_at", "is", null)
    .returning(COLUMNS)
    .executeTakeFirst();
  await announceToServers(tx);
  return row && toPause(row);
}

export async function insertPause(
  tx: Tx,
  pause: Pick<KeptPause, "message" | "startedAt" | "untilAt" | "startedBy" | "announcementId">,
): Promise<number> {
  const { id } = await tx.db
    .insertInto("service_pauses")
    .values({
      message: pause.message,
      started_at: pause.startedAt,
      started_by: pause.startedBy,
      until_at: pause.untilAt,
      announcement_id: pause.announcementId,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

async function announceToServers(tx: Tx): Promise<void> {
  await sql`select pg_notify(${PAUSES_CHANNEL}, '')`.execute(tx.db);
}

type Row = {
  readonly id: number;
  readonly message: string;
  readonly started_at: Date;
  readonly started_by: UserId;
  readonly until_at: Date;
  readonly announcement_id: AnnouncementId;
  readonly ended_at: Date | null;
};

function toPause(row: Row): KeptPause {
  return {
    ...{ id: row.id, message: row.message },
    ...{ startedAt: row.started_at, startedBy: row.started_by, untilAt: row.until_at },
    ...{ announcementId: row.announcement_id, endedAt: row.ended_at ?? undefined },
  };
}
