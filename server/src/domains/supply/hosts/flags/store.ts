import { sql } from "kysely";
import type { HostFlagId, MachineId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** Kinds of flags (docs/hosts.md, Flags). */
export const FLAG_KINDS = [
  "senseless_facts",
  "traffic_beyond_line",
  "traffic_below_proxied",
  "slow_line",
  "impossible_start",
  "unproven_start",
] as const;
export type FlagKind = (typeof FLAG_KINDS)[number];

/** A contradiction between a host's reports and the facts that the server knows. */
export type NewFlag = {
  readonly hostId: UserId;
  readonly machineId: MachineId | undefined;
  readonly kind: FlagKind;
  /** One sentence that names the contradiction. */
  readonly detail: string;
  /** The numbers that prove the contradiction. */
  readonly facts: Readonly<Record<string, number | string | null>>;
};

export type HostFlag = NewFlag & {
  readonly id: HostFlagId;
  readonly since: Date;
  readonly lastAt: Date;
  readonly seenCount: number;
  readonly cleared: { readonly at: Date; readonly byId: UserId; readonly reason: string } | undefined;
};

/** Inserts a flag, or counts up the open one; returns its id and whether it is new. */
export async function upsertFlag(
  tx: Tx,
  { hostId, machineId, kind, detail, facts }: NewFlag,
): Promise<{ readonly id: HostFlagId; readonly isNew: boolean }> {
  const { rows } = await sql<{ id: HostFlagId; isNew: boolean }>`
    insert into host_flags (host_id, machine_id, kind, detail, facts, since_at, last_at)
    values (${hostId}, ${machineId ?? null}, ${kind}, ${detail}, ${JSON.stringify(facts)}::jsonb,
      ${tx.now}::timestamptz, ${tx.now}::timestamptz)
    on conflict (host_id, coalesce(machine_id, 0), kind) where cleared_at is null do update
      set detail = excluded.detail, facts = excluded.facts, last_at = excluded.last_at,
        seen_count = host_flags.seen_count + 1
    returning id, seen_count = 1 as "isNew"
  `.execute(tx.db);
  const [row] = rows;
  if (row === undefined) throw new Error("a flag was neither inserted nor found");
  return row;
}

/** Clears an open flag and returns it; undefined when no open flag has this id. */
export async function closeFlag(
  tx: Tx,
  { id, clearedBy, reason }: { readonly id: HostFlagId; readonly clearedBy: UserId; readonly reason: string },
): Promise<HostFlag | undefined> {
  const row = await tx.db
    .updateTable("host_flags")
    .set({ cleared_at: tx.now, cleared_by_id: clearedBy, clear_reason: reason })
    .where("id", "=", id)
    .where("cleared_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row === undefined ? undefined : findFlag(tx.db, row.id);
}

export type FlagFilter = {
  readonly hostId?: UserId | undefined;
  readonly isOpen?: boolean | undefined;
  readonly limit: number;
};

/** Flags, newest first. */
export async function listFlags(db: Reader, { hostId, isOpen, limit }: FlagFilter): Promise<readonly HostFlag[]> {
  let query = db.selectFrom("host_flags").selectAll().orderBy("id", "desc").limit(limit);
  if (hostId !== undefined) query = query.where("host_id", "=", hostId);
  if (isOpen !== undefined) query = query.where("cleared_at", isOpen ? "is" : "is not", null);
  return (await query.execute()).map(toFlag);
}

async function findFlag(db: Reader, id: HostFlagId): Promise<HostFlag | undefined> {
  const row = await db.selectFrom("host_flags").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toFlag(row);
}

type Row = {
  readonly id: HostFlagId;
  readonly host_id: UserId;
  readonly machine_id: MachineId | null;
  readonly kind: string;
  readonly detail: string;
  readonly facts: unknown;
  readonly since_at: Date;
  readonly last_at: Date;
  readonly seen_count: number;
  readonly cleared_at: Date | null;
  readonly cleared_by_id: UserId | null;
  readonly clear_reason: string | null;
};

function toFlag(row: Row): HostFlag {
  const { cleared_at: at, cleared_by_id: byId } = row;
  return {
    id: row.id,
    hostId: row.host_id,
    machineId: row.machine_id ?? undefined,
    kind: row.kind as FlagKind,
    detail: row.detail,
    facts: row.facts as NewFlag["facts"],
    since: row.since_at,
    lastAt: row.last_at,
    seenCount: row.seen_count,
    cleared: at === null || byId === null ? undefined : { at, byId, reason: row.clear_reason ?? "" },
  };
}

/** The number of open flags of all hosts. */
export async function countOpenFlags(db: Reader): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from host_flags where cleared_at is null
  `.execute(db);
  return rows[0]?.count ?? 0;
}
