import { sql } from "kysely";
import type { LedgerAccountId } from "../../../../base/ids.ts";
import { toJsonRows } from "../../../../db/insert-rows.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** The signed state of the books that a sound audit leaves: everything that was moved and charged before `untilAt`. */
export type Checkpoint = {
  readonly untilAt: Date;
  readonly nextTransferId: bigint;
  readonly nextLineId: bigint;
  readonly transferCount: bigint;
  readonly lineCount: bigint;
  readonly transfersSha256: string;
  readonly linesSha256: string;
  /** The first link of the chain of facts that was made at `untilAt` or later, and the hash of the one before it. */
  readonly nextFactLink: bigint;
  readonly factsSha256: string;
  readonly nextEventId: bigint;
};

/** The fact that repeats a checkpoint in the signed chain: an audit reports a checkpoint that differs from its fact. */
export function checkpointFact(checkpoint: Checkpoint) {
  return {
    next_transfer_id: String(checkpoint.nextTransferId),
    next_line_id: String(checkpoint.nextLineId),
    transfer_count: String(checkpoint.transferCount),
    line_count: String(checkpoint.lineCount),
    transfers_sha256: checkpoint.transfersSha256,
    lines_sha256: checkpoint.linesSha256,
    next_fact_link: String(checkpoint.nextFactLink),
    facts_sha256: checkpoint.factsSha256,
    next_audit_event_id: String(checkpoint.nextEventId),
  };
}

/** All checkpoints, in order. */
export async function listCheckpoints(db: Reader): Promise<readonly Checkpoint[]> {
  const rows = await db.selectFrom("audit_seals").selectAll().orderBy("until_at").execute();
  return rows.map(toCheckpoint);
}

/** The checkpoints that end at these moments; moments without one are left out. */
export async function listCheckpointsEndingAt(db: Reader, untils: readonly Date[]): Promise<readonly Checkpoint[]> {
  const rows = await db
    .selectFrom("audit_seals")
    .selectAll()
    .where("until_at", "=", sql<Date>`any(${untils}::timestamptz[])`)
    .orderBy("until_at")
    .execute();
  return rows.map(toCheckpoint);
}

export async function findLastCheckpoint(db: Reader): Promise<Checkpoint | undefined> {
  const row = await db.selectFrom("audit_seals").selectAll().orderBy("until_at", "desc").limit(1).executeTakeFirst();
  return row && toCheckpoint(row);
}

type CheckpointRow = {
  readonly until_at: Date;
  readonly next_transfer_id: bigint;
  readonly next_line_id: bigint;
  readonly transfer_count: bigint;
  readonly line_count: bigint;
  readonly transfers_sha256: string;
  readonly lines_sha256: string;
  readonly next_fact_link: bigint;
  readonly facts_sha256: string;
  readonly next_audit_event_id: bigint;
};

function toCheckpoint(row: CheckpointRow): Checkpoint {
  return {
    untilAt: row.until_at,
    nextTransferId: row.next_transfer_id,
    nextLineId: row.next_line_id,
    transferCount: row.transfer_count,
    lineCount: row.line_count,
    transfersSha256: row.transfers_sha256,
    linesSha256: row.lines_sha256,
    nextFactLink: row.next_fact_link,
    factsSha256: row.facts_sha256,
    nextEventId: row.next_audit_event_id,
  };
}

/** Inserts a checkpoint and notes its fact; false when one for the same day exists. */
export async function insertCheckpoint(tx: Tx, checkpoint: Checkpoint): Promise<boolean> {
  const result = await sql`
    insert into audit_seals (
      until_at, next_transfer_id, next_line_id, transfer_count, line_count, transfers_sha256, lines_sha256, sealed_at,
      next_fact_link, facts_sha256, next_audit_event_id
    ) values (
      ${checkpoint.untilAt}::timestamptz, ${checkpoint.nextTransferId}::bigint, ${checkpoint.nextLineId}::bigint,
      ${checkpoint.transferCount}::bigint, ${checkpoint.lineCount}::bigint, ${checkpoint.transfersSha256}::text,
      ${checkpoint.linesSha256}::text, ${tx.now}::timestamptz,
      ${checkpoint.nextFactLink}::bigint, ${checkpoint.factsSha256}::text, ${checkpoint.nextEventId}::bigint
    )
    on conflict (until_at) do nothing
  `.execute(tx.db);
  if (result.numAffectedRows !== 1n) return false;
  tx.noteFact({ kind: "seal", subject: checkpoint.untilAt.toISOString(), content: checkpointFact(checkpoint) });
  return true;
}

/** The sum of each account over all transfers that checkpoints cover, in nano-dollars. */
export async function listCheckpointSums(db: Reader): Promise<ReadonlyMap<LedgerAccountId, bigint>> {
  const { rows } = await sql<{ account_id: LedgerAccountId; posted: string }>`
    select account_id, posted_nanos::text as posted from audit_sums
  `.execute(db);
  return new Map(rows.map((row) => [row.account_id, BigInt(row.posted)]));
}

/** Adds the sums of a new checkpoint to those of the earlier ones. */
export async function addCheckpointSums(tx: Tx, sums: ReadonlyMap<LedgerAccountId, bigint>): Promise<void> {
  if (sums.size === 0) return;
  await sql`
    insert into audit_sums as known (account_id, posted_nanos)
    select account_id, posted
    from unnest(${[...sums.keys()]}::integer[], ${[...sums.values()].map(String)}::numeric[]) as t (account_id, posted)
    on conflict (account_id) do update set posted_nanos = known.posted_nanos + excluded.posted_nanos
  `.execute(tx.db);
}

/** The place up to which charge lines in checkpoints charge one component of a run or of a disk. */
export type AuditMark = {
  readonly contract: "instance" | "volume";
  readonly contractId: number;
  /** 0 for disks. */
  readonly generation: number;
  readonly component: "gpu" | "disk" | "bwu" | "bwd";
  /** The value of the counter; for disks milliseconds since 1970. */
  readonly position: bigint;
  readonly reachedAt: Date;
};

export type StoredMark = AuditMark & {
  /** The position at which charging by charge lines began. */
  readonly originPosition: bigint;
};

export async function listMarks(
  db: Reader,
  contract: AuditMark["contract"],
  ids: readonly number[],
): Promise<readonly StoredMark[]> {
  const rows = await db
    .selectFrom("audit_marks")
    .selectAll()
    .where("contract", "=", contract)
    .where("contract_id", "=", sql<number>`any(${ids}::integer[])`)
    .execute();
  return rows.map((row) => ({
    contract,
    contractId: row.contract_id,
    generation: row.generation,
    component: row.component as AuditMark["component"],
    position: row.position,
    reachedAt: row.reached_at,
    originPosition: row.origin_position,
  }));
}

const MARKS_PER_STATEMENT = 5_000;

export async function putMarks(tx: Tx, marks: readonly AuditMark[]): Promise<void> {
  for (let first = 0; first < marks.length; first += MARKS_PER_STATEMENT) {
    const rows = marks.slice(first, first + MARKS_PER_STATEMENT).map((mark) => ({
      contract: mark.contract,
      contract_id: mark.contractId,
      generation: mark.generation,
      component: mark.component,
      position: mark.position,
      reached_at: mark.reachedAt,
    }));
    await sql`
      insert into audit_marks (contract, contract_id, generation, component, position, reached_at)
      select contract, contract_id, generation, component, position, reached_at
      from json_populate_recordset(null::audit_marks, ${toJsonRows(rows)}::json)
      on conflict (contract, contract_id, generation, component)
        do update set position = excluded.position, reached_at = excluded.reached_at
    `.execute(tx.db);
  }
}

/** The first transfer that was made with charge lines: usage charged by earlier transfers has none. */
export async function findOriginTransferId(db: Reader): Promise<bigint> {
  const row = await db.selectFrom("audit_origin").select("next_transfer_id").executeTakeFirst();
  return row?.next_transfer_id ?? 1n;
}
