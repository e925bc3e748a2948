import { sql } from "kysely";
import type { MachineId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { Verification, VerificationFacts } from "./rules/verification.ts";

/** Facts about a machine that its verification depends on. */
export type Candidate = {
  readonly id: MachineId;
  readonly hostId: UserId;
  readonly verification: Verification;
  /** True when an administrator has decided. */
  readonly isFixed: boolean;
  /** True for the operator's own machines, which need no verification. */
  readonly isTrusted: boolean;
  readonly hostingType: number;
  readonly restsUntil: Date | undefined;
  readonly facts: VerificationFacts;
};

type CandidateRow = Omit<Candidate, "facts" | "restsUntil"> & {
  readonly restsUntil: Date | null;
} & Readonly<Record<"gpuCount" | "gpuMemoryMb" | "totalMemoryMb" | "cudaMax" | "portCount", number>> &
  Readonly<Record<"inetUpMbps" | "inetDownMbps" | "reliabilityPpm", number>> &
  Readonly<Record<"isReal" | "hasGpus" | "hasStarted" | "isUplinkMeasured" | "hasSlowUplink", boolean>>;

const CANDIDATES = sql`
  select m.id, m.host_id as "hostId", m.verification, m.is_verification_fixed as "isFixed",
    agent_credentials.is_trusted as "isTrusted", m.hosting_type as "hostingType", m.rests_until_at as "restsUntil",
    m.engine_kind <> 'simulated' and not (m.facts ->> 'is_simulated')::boolean and not gpus.has_declared as "isReal",
    m.resource_type = 'gpu' as "hasGpus", gpus.count as "gpuCount", gpus.least_mb as "gpuMemoryMb",
    gpus.total_mb as "totalMemoryMb", (m.facts ->> 'cuda_max_good')::double precision as "cudaMax",
    greatest(0, (m.facts ->> 'direct_port_end')::integer - (m.facts ->> 'direct_port_start')::integer + 1) as "portCount",
    (m.facts ->> 'inet_up_mbps')::double precision as "inetUpMbps",
    (m.facts ->> 'inet_down_mbps')::double precision as "inetDownMbps",
    m.reliability_ppm as "reliabilityPpm", m.first_start_succeeded_at is not null as "hasStarted",
    exists (select from line_probes where machine_id = m.id and up_mbps is not null) as "isUplinkMeasured",
    exists (
      select from host_flags
      where host_id = m.host_id and machine_id = m.id and kind = 'slow_line' and cleared_at is null
    ) as "hasSlowUplink"
  from machines as m
  join agent_credentials on agent_credentials.id = m.agent_credential_id
  cross join lateral (
    select count(*)::integer as count, coalesce(bool_or((facts ->> 'is_declared')::boolean), false) as has_declared,
      coalesce(min((facts ->> 'memory_mb')::double precision), 0) as least_mb,
      coalesce(sum((facts ->> 'memory_mb')::double precision), 0) as total_mb
    from devices where machine_id = m.id and kind = 'gpu' and is_present
  ) as gpus
`;

/** Machines whose verification the rule decides, in id order after `afterId`. */
export async function listCandidates(
  db: Reader,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<readonly Candidate[]> {
  const { rows } = await sql<CandidateRow>`
    ${CANDIDATES} where m.id > ${afterId} and not m.is_verification_fixed and not agent_credentials.is_trusted
    order by m.id limit ${limit}
  `.execute(db);
  return rows.map(toCandidate);
}

export async function findCandidate(db: Reader, id: MachineId): Promise<Candidate | undefined> {
  const { rows } = await sql<CandidateRow>`${CANDIDATES} where m.id = ${id}`.execute(db);
  return rows[0] && toCandidate(rows[0]);
}

/** Those of these machines that the operator answers for: joined by an administrator's token, or verified by hand. */
export async function listOperated(db: Reader, ids: readonly MachineId[]): Promise<ReadonlySet<MachineId>> {
  const { rows } = await sql<{ id: MachineId }>`
    select m.id from machines as m join agent_credentials on agent_credentials.id = m.agent_credential_id
    where m.id = any(${[...ids]}::integer[])
      and (agent_credentials.is_trusted or (m.is_verification_fixed and m.verification = 'verified'))
  `.execute(db);
  return new Set(rows.map((row) => row.id));
}

function toCandidate(row: CandidateRow): Candidate {
  const { id, hostId, verification, isFixed, isTrusted, hostingType, restsUntil, ...facts } = row;
  return { id, hostId, verification, isFixed, isTrusted, hostingType, restsUntil: restsUntil ?? undefined, facts };
}

/**
 * Stores decisions of the rule unless an administrator has decided meanwhile; returns the machines that changed. The
 * caller holds the locks.
 */
export async function setVerifications(
  tx: Tx,
  decided: readonly { readonly id: MachineId; readonly verification: Verification }[],
): Promise<readonly MachineId[]> {
  const { rows } = await sql<{ id: MachineId }>`
    update machines set verification = decided.verification
    from unnest(${decided.map((one) => one.id)}::integer[], ${decided.map((one) => one.verification)}::text[])
      as decided (id, verification)
    where machines.id = decided.id and not machines.is_verification_fixed
      and machines.verification <> decided.verification
    returning machines.id
  `.execute(tx.db);
  return rows.map((row) => row.id);
}

/** Stores an administrator's decision. */
export async function setTrust(
  tx: Tx,
  id: MachineId,
  decided: { readonly verification: Verification; readonly isFixed: boolean; readonly hostingType: number },
): Promise<void> {
  await tx.db
    .updateTable("machines")
    .set({
      verification: decided.verification,
      is_verification_fixed: decided.isFixed,
      hosting_type: decided.hostingType,
    })
    .where("id", "=", id)
    .execute();
}
