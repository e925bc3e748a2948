import { sql } from "kysely";
import type { MachineId } from "../../../base/ids.ts";
import { byteas, integers, timestamps } from "../../../db/arrays.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { Block } from "./rules/block.ts";
import { SUBJECT_KINDS, type Subject } from "./rules/series.ts";
import { QUARTER_S } from "./rules/tiers.ts";

export type Sample = { readonly machineId: MachineId; readonly takenAtMs: number; readonly content: Buffer };

/** Stores samples of many machines. A machine has one sample of each moment: the first one stays. */
export async function insertSamples(db: Reader, samples: readonly Sample[]): Promise<void> {
  if (samples.length === 0) return;
  await sql`
    insert into measurement_samples (machine_id, taken_at, content)
    select * from unnest(
      ${integers(samples.map(({ machineId }) => machineId))}::integer[],
      ${timestamps(samples.map(({ takenAtMs }) => takenAtMs))}::timestamptz[],
      ${byteas(samples.map(({ content }) => content))}::bytea[]
    )
    on conflict (machine_id, taken_at) do nothing
  `.execute(db);
}

type SampleRow = { readonly machine_id: MachineId; readonly at: number; readonly content: Buffer };

function toSample({ machine_id: machineId, at, content }: SampleRow): Sample {
  return { machineId, takenAtMs: at * 1000, content };
}

/** Samples of these machines in a stretch of time that are not in blocks yet, oldest first. */
export async function listSamples(
  db: Reader,
  machineIds: readonly MachineId[],
  { fromS, toS }: { readonly fromS: number; readonly toS: number },
): Promise<readonly Sample[]> {
  if (machineIds.length === 0) return [];
  const { rows } = await sql<SampleRow>`
    select machine_id, extract(epoch from taken_at)::float8 as at, content
    from measurement_samples
    where machine_id = any(${integers(machineIds)}::integer[])
      and taken_at >= to_timestamp(${fromS}::float8) and taken_at < to_timestamp(${toS}::float8)
    order by machine_id, taken_at
  `.execute(db);
  return rows.map(toSample);
}

/** The newest sample of each of these machines that was taken at this time or later. */
export async function listLastSamples(
  db: Reader,
  machineIds: readonly MachineId[],
  fromS: number,
): Promise<readonly Sample[]> {
  if (machineIds.length === 0) return [];
  const { rows } = await sql<SampleRow>`
    select machine_id, extract(epoch from taken_at)::float8 as at, content
    from unnest(${integers(machineIds)}::integer[]) as wanted (machine_id)
    cross join lateral (
      select taken_at, content from measurement_samples as sample
      where sample.machine_id = wanted.machine_id and taken_at >= to_timestamp(${fromS}::float8)
      order by taken_at desc limit 1
    ) as newest
  `.execute(db);
  return rows.map(toSample);
}

/** True when this transaction may roll up: no other one does until it ends. */
export async function claimRollUp(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ is_free: boolean }>`
    select pg_try_advisory_xact_lock(hashtext('measurement_samples')) as is_free
  `.execute(tx.db);
  return rows[0]?.is_free === true;
}

/** Machines with samples from before this time, as many as asked for. */
export async function listMachinesWithSamples(
  tx: Tx,
  beforeS: number,
  limit: number,
): Promise<readonly { readonly machineId: MachineId; readonly oldestS: number }[]> {
  const { rows } = await sql<{ machine_id: MachineId; oldest: number }>`
    select machine_id, extract(epoch from min(taken_at))::float8 as oldest
    from measurement_samples where taken_at < to_timestamp(${beforeS}::float8)
    group by machine_id order by machine_id limit ${limit}::integer
  `.execute(tx.db);
  return rows.map((row) => ({ machineId: row.machine_id, oldestS: row.oldest }));
}

/** Deletes the samples of these machines, each from one quarter of an hour, and returns them. */
export async function takeSamples(
  tx: Tx,
  quarters: readonly { readonly machineId: MachineId; readonly fromS: number }[],
): Promise<readonly Sample[]> {
  const { rows } = await sql<SampleRow>`
    delete from measurement_samples as sample
    using unnest(
      ${integers(quarters.map(({ machineId }) => machineId))}::integer[],
      ${timestamps(quarters.map(({ fromS }) => fromS * 1000))}::timestamptz[]
    ) as quarter (machine_id, starts_at)
    where sample.machine_id = quarter.machine_id
      and taken_at >= starts_at and taken_at < starts_at + ${QUARTER_S}::integer * interval '1 second'
    returning sample.machine_id, extract(epoch from taken_at)::float8 as at, content
  `.execute(tx.db);
  return rows.map(toSample);
}

export type StoredBlock = Block & { readonly subject: Subject };

/** Stores blocks; a subject that has a block of this time keeps it. */
export async function insertBlocks(tx: Tx, blocks: readonly StoredBlock[]): Promise<void> {
  if (blocks.length === 0) return;
  await sql`
    insert into measurement_blocks (subject_kind, subject_id, step_s, begins_at, content)
    select * from unnest(
      ${integers(blocks.map(({ subject }) => SUBJECT_KINDS[subject.kind]))}::integer[],
      ${integers(blocks.map(({ subject }) => subject.id))}::integer[],
      ${integers(blocks.map(({ stepS }) => stepS))}::integer[],
      ${timestamps(blocks.map(({ beginsS }) => beginsS * 1000))}::timestamptz[],
      ${byteas(blocks.map(({ content }) => content))}::bytea[]
    )
    on conflict (subject_kind, subject_id, step_s, begins_at) do nothing
  `.execute(tx.db);
}

type BlockRow = { readonly subject_id: number; readonly begins: number; readonly content: Buffer };

/** Blocks of these subjects that begin in a stretch of time, oldest first. */
export async function listBlocks(
  db: Reader,
  { kind, ids }: { readonly kind: Subject["kind"]; readonly ids: readonly number[] },
  { stepS, fromS, toS }: { readonly stepS: number; readonly fromS: number; readonly toS: number },
): Promise<readonly StoredBlock[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<BlockRow>`
    select subject_id, extract(epoch from begins_at)::float8 as begins, content
    from measurement_blocks
    where subject_kind = ${SUBJECT_KINDS[kind]}::smallint and subject_id = any(${integers(ids)}::integer[])
      and step_s = ${stepS}::smallint
      and begins_at >= to_timestamp(${fromS}::float8) and begins_at < to_timestamp(${toS}::float8)
    order by subject_id, begins_at
  `.execute(db);
  return rows.map((row) => ({
    subject: { kind, id: row.subject_id },
    beginsS: row.begins,
    stepS,
    content: row.content,
  }));
}

/** Deletes blocks of one resolution that began before this time, oldest first, and returns their number. */
export async function deleteBlocks(tx: Tx, stepS: number, beforeS: number, limit: number): Promise<number> {
  const result = await sql`
    delete from measurement_blocks where ctid = any(array(
      select ctid from measurement_blocks
      where step_s = ${stepS}::smallint and begins_at < to_timestamp(${beforeS}::float8)
      order by begins_at limit ${limit}::integer
    ))
  `.execute(tx.db);
  return Number(result.numAffectedRows ?? 0n);
}

/** Subjects with several blocks of this resolution in one day, the day's begin given: its blocks are to be joined. */
export async function listScattered(
  tx: Tx,
  { stepS, fromS, toS }: { readonly stepS: number; readonly fromS: number; readonly toS: number },
  limit: number,
): Promise<readonly Subject[]> {
  const { rows } = await sql<{ subject_kind: number; subject_id: number }>`
    select subject_kind, subject_id from measurement_blocks
    where step_s = ${stepS}::smallint
      and begins_at >= to_timestamp(${fromS}::float8) and begins_at < to_timestamp(${toS}::float8)
    group by subject_kind, subject_id having count(*) > 1
    order by subject_kind, subject_id limit ${limit}::integer
  `.execute(tx.db);
  return rows.map((row) => ({
    kind: row.subject_kind === SUBJECT_KINDS.instance ? "instance" : "machine",
    id: row.subject_id,
  }));
}

/** Deletes the blocks of these subjects that begin in this stretch of time, and returns them. */
export async function takeBlocks(
  tx: Tx,
  subjects: readonly Subject[],
  { stepS, fromS, toS }: { readonly stepS: number; readonly fromS: number; readonly toS: number },
): Promise<readonly StoredBlock[]> {
  const { rows } = await sql<BlockRow & { subject_kind: number }>`
    delete from measurement_blocks as block
    using unnest(
      ${integers(subjects.map(({ kind }) => SUBJECT_KINDS[kind]))}::integer[],
      ${integers(subjects.map(({ id }) => id))}::integer[]
    ) as wanted (subject_kind, subject_id)
    where block.subject_kind = wanted.subject_kind and block.subject_id = wanted.subject_id
      and step_s = ${stepS}::smallint
      and begins_at >= to_timestamp(${fromS}::float8) and begins_at < to_timestamp(${toS}::float8)
    returning block.subject_kind, block.subject_id, extract(epoch from begins_at)::float8 as begins, content
  `.execute(tx.db);
  return rows.map((row) => ({
    subject: { kind: row.subject_kind === SUBJECT_KINDS.instance ? "instance" : "machine", id: row.subject_id },
    beginsS: row.begins,
    stepS,
    content: row.content,
  }));
}
