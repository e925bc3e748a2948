import { sql } from "kysely";
import type { MachineId, UserId } from "../../../../base/ids.ts";
import { integers } from "../../../../db/arrays.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { MEASURED_WITHIN_MS, NTH_FASTEST_HOST, type UplinkSpeed, type MeasuredUplink } from "./slow-uplink.ts";

const MEASURED_EVERY_MS = 20 * 3_600_000;
/** Delay until an agent that did not answer is measured again. */
const FAILED_EVERY_MS = 3_600_000;
const KEPT_MS = 30 * 86_400_000;

/** One attempt to measure a machine's uplink; the speed is undefined when the agent did not answer. */
export type UplinkProbe = {
  readonly machineId: MachineId;
  /** The name of the computer that measured. */
  readonly measuredFrom: string;
  readonly speed: UplinkSpeed | undefined;
};

/**
 * Those of these machines that are due for a measurement, the longest waiting first: machines whose verification the
 * rule decides, without simulated ones.
 */
export async function listUplinksToMeasure(
  db: Reader,
  ids: readonly MachineId[],
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<readonly MachineId[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ id: MachineId }>`
    select machines.id from machines
    join agent_credentials on agent_credentials.id = machines.agent_credential_id
    left join lateral (
      select at, up_mbps from line_probes where machine_id = machines.id order by at desc limit 1
    ) as last on true
    where machines.id = any(${integers(ids)}::integer[]) and machines.deleted_at is null
      and machines.engine_kind <> 'simulated' and not machines.is_verification_fixed and not agent_credentials.is_trusted
      and (last.at is null or last.at <= ${now}::timestamptz - interval '1 millisecond'
        * case when last.up_mbps is null then ${FAILED_EVERY_MS}::integer else ${MEASURED_EVERY_MS}::integer end)
    order by last.at nulls first, machines.id
    limit ${limit}::integer
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** Stores an attempt, and deletes old ones of the machine. */
export async function insertUplinkProbe(tx: Tx, { machineId, measuredFrom, speed }: UplinkProbe): Promise<void> {
  await sql`
    insert into line_probes (machine_id, at, measured_from, up_mbps, down_mbps)
    values (${machineId}, ${tx.now}::timestamptz, ${measuredFrom}, ${speed?.upMbps ?? null}, ${speed?.downMbps ?? null})
    on conflict (machine_id, at) do nothing
  `.execute(tx.db);
  const before = new Date(tx.now.getTime() - KEPT_MS);
  await tx.db.deleteFrom("line_probes").where("machine_id", "=", machineId).where("at", "<", before).execute();
}

/** Recent measurements of a machine by one computer, or by any; undefined when there are none. */
export async function findMeasuredUplink(
  db: Reader,
  machineId: MachineId,
  { now, measuredFrom }: { readonly now: Date; readonly measuredFrom: string | undefined },
): Promise<MeasuredUplink | undefined> {
  const since = new Date(now.getTime() - MEASURED_WITHIN_MS);
  const { rows } = await sql<MeasuredUplink & { lastAt: Date | null }>`
    select max(up_mbps) as "upMbps", max(down_mbps) as "downMbps", count(*)::integer as "probeCount", max(at) as "lastAt"
    from line_probes
    where machine_id = ${machineId} and up_mbps is not null
      and measured_from = coalesce(${measuredFrom ?? null}::text, measured_from) and at >= ${since}::timestamptz
  `.execute(db);
  const [row] = rows;
  return row === undefined || row.lastAt === null ? undefined : row;
}

/**
 * The speed that a computer's own uplink has proven with machines of other hosts; undefined when too few were measured
 * recently.
 */
export async function findCarried(
  db: Reader,
  { now, measuredFrom, otherThan }: { readonly now: Date; readonly measuredFrom: string; readonly otherThan: UserId },
): Promise<UplinkSpeed | undefined> {
  const since = new Date(now.getTime() - MEASURED_WITHIN_MS);
  const { rows } = await sql<{ upMbps: number | null; downMbps: number | null }>`
    with hosts as (
      select max(up_mbps) as up_mbps, max(down_mbps) as down_mbps
      from line_probes join machines on machines.id = line_probes.machine_id
      where measured_from = ${measuredFrom} and up_mbps is not null and at >= ${since}::timestamptz
        and machines.host_id <> ${otherThan}
      group by machines.host_id
    )
    select
      (select up_mbps from hosts order by up_mbps desc offset ${NTH_FASTEST_HOST - 1}::integer limit 1) as "upMbps",
      (select down_mbps from hosts order by down_mbps desc offset ${NTH_FASTEST_HOST - 1}::integer limit 1) as "downMbps"
  `.execute(db);
  const { upMbps = null, downMbps = null } = rows[0] ?? {};
  return upMbps === null || downMbps === null ? undefined : { upMbps, downMbps };
}
