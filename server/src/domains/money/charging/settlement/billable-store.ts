import { sql } from "kysely";
import type { InstanceId, MachineId, UserId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import { bigints, integers, timestamps } from "../../../../db/arrays.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { asHoldId, parseCapScope, type CapScope, type HoldId } from "../../ledger/index.ts";
import type { DesiredState, Phase, RunKey, StartEvidence, Terms } from "../../../rental/instances/for-charging.ts";

/** The fields of an instance that a settlement needs, of any owner. */
export type Billable = {
  readonly id: InstanceId;
  readonly userId: UserId;
  readonly machineId: MachineId;
  readonly capScopes: readonly CapScope[];
  readonly isBackground: boolean;
  readonly desired: DesiredState;
  readonly phase: Phase;
  readonly generation: number;
  readonly observedGeneration: number;
  readonly observedState: string | undefined;
  readonly holdId: HoldId | undefined;
  readonly terms: Terms;
  readonly diskBytes: bigint;
  /** The first proven running; undefined before it: an instance that never ran costs nothing. */
  readonly meteredFromAt: Date | undefined;
  readonly storageChargedUntilAt: Date | undefined;
  readonly endAt: Date;
  /** True once the instance's traffic has reached its limit: it may not run until the limit is raised. */
  readonly isTrafficReached: boolean;
};

/** The counters of a run, and how far they are charged. */
export type BillableRun = RunKey & {
  readonly runningMs: bigint;
  readonly receivedBytes: bigint;
  readonly sentBytes: bigint;
  readonly chargedMs: bigint;
  readonly chargedReceivedBytes: bigint;
  readonly chargedSentBytes: bigint;
  readonly meteredFromAt: Date | undefined;
  readonly lastCountedAt: Date;
  readonly isClosed: boolean;
  /** The end of chargeable time; undefined while the run is wanted. */
  readonly chargeableUntilAt: Date | undefined;
} & StartEvidence;

const COLUMNS = sql`
  i.id, i.user_id, i.machine_id, i.cap_scopes, i.is_background, i.desired, i.phase, i.generation, i.observed_generation,
  i.observed_state, t.hold_id, i.price_nanos_per_hour, i.storage_nanos_per_gb_month, i.inet_up_nanos_per_gb,
  i.inet_down_nanos_per_gb, i.discount_ppm, i.disk_bytes, t.metered_from_at, t.storage_charged_until_at,
  i.end_at, i.traffic_reached_at
`;

/** The rental, and how far it is charged. */
const TABS = sql`instances i join instance_tabs t on t.instance_id = i.id`;

/** The instances of a user that are not over, or are not settled to the end. */
const openOf = (userId: UserId) => sql`
  select id from instances where user_id = ${userId}::integer and ended_at is null
  union all
  select instance_id from instance_tabs where user_id = ${userId}::integer and settle_at is not null
`;

type Row = {
  readonly id: InstanceId;
  readonly user_id: UserId;
  readonly machine_id: MachineId;
  readonly cap_scopes: readonly string[];
  readonly is_background: boolean;
  readonly desired: DesiredState;
  readonly phase: Phase;
  readonly generation: number;
  readonly observed_generation: number;
  readonly observed_state: string | null;
  readonly hold_id: bigint | null;
  readonly price_nanos_per_hour: bigint;
  readonly storage_nanos_per_gb_month: bigint;
  readonly inet_up_nanos_per_gb: bigint;
  readonly inet_down_nanos_per_gb: bigint;
  readonly discount_ppm: number;
  readonly disk_bytes: bigint;
  readonly metered_from_at: Date | null;
  readonly storage_charged_until_at: Date | null;
  readonly end_at: Date;
  readonly traffic_reached_at: Date | null;
};

/**
 * Locks instances that are due for settlement, longest due first, and skips those that another transaction has locked.
 */
export async function lockDueInstances(tx: Tx, limit: number): Promise<readonly Billable[]> {
  const { rows } = await sql<Row>`
    select ${COLUMNS} from instance_tabs t join instances i on i.id = t.instance_id
    where t.settle_at <= ${tx.now}::timestamptz
    order by t.settle_at
    limit ${limit}::integer
    for update of t, i skip locked
  `.execute(tx.db);
  return rows.map(toBillable);
}

/**
 * Postpones the instance that has been due longest: it could not be settled, and others wait behind it. The moment
 * since when it is due is kept.
 */
export async function postponeFirstDue(tx: Tx, ms: number): Promise<void> {
  const [first] = await lockDueInstances(tx, 1);
  if (first === undefined) return;
  await tx.db
    .updateTable("instance_tabs")
    .set({
      settle_at: new Date(tx.now.getTime() + ms),
      unsettled_since_at: sql<Date>`coalesce(unsettled_since_at, settle_at)`,
    })
    .where("instance_id", "=", first.id)
    .execute();
}

/** Locks one instance; the caller holds the lock of its machine. */
export async function lockBillable(tx: Tx, id: InstanceId): Promise<Billable | undefined> {
  const { rows } = await sql<Row>`select ${COLUMNS} from ${TABS} where i.id = ${id} for update of i, t`.execute(tx.db);
  return rows.map(toBillable)[0];
}

/** Locks instances in the order of their ids; the caller holds the locks of their machines. */
export async function lockBillables(tx: Tx, ids: readonly InstanceId[]): Promise<readonly Billable[]> {
  const { rows } = await sql<Row>`
    select ${COLUMNS} from ${TABS} where i.id = any(${ids}::integer[]) order by i.id for update of i, t
  `.execute(tx.db);
  return rows.map(toBillable);
}

/** Reads one instance without a lock; undefined when it does not exist. */
export async function findBillable(db: Reader, id: InstanceId): Promise<Billable | undefined> {
  const { rows } = await sql<Row>`select ${COLUMNS} from ${TABS} where i.id = ${id}`.execute(db);
  return rows.map(toBillable)[0];
}

/** The instances of a user that may have usage to charge. */
export async function listBillablesOf(db: Reader, userId: UserId): Promise<readonly Billable[]> {
  const { rows } = await sql<Row>`
    select ${COLUMNS} from ${TABS}
    where i.id in (${openOf(userId)}) and t.metered_from_at is not null and not i.is_background
    order by i.id
  `.execute(db);
  return rows.map(toBillable);
}

/** Those of these users who have an instance that may have usage to charge. */
export async function listInstancePayers(db: Reader, userIds: readonly UserId[]): Promise<readonly UserId[]> {
  if (userIds.length === 0) return [];
  const ids = [...new Set(userIds)];
  const { rows } = await sql<{ user_id: UserId }>`
    select i.user_id from ${TABS}
    where i.user_id = any(${ids}::integer[]) and i.ended_at is null
      and t.metered_from_at is not null and not i.is_background
    union
    select t.user_id from instance_tabs t
    where t.user_id = any(${ids}::integer[]) and t.settle_at is not null
      and t.metered_from_at is not null and not t.is_free
  `.execute(db);
  return rows.map((row) => row.user_id);
}

/**
 * The instances of a user within a scope that have cost something or have a hold, and are not settled to their ends.
 */
export async function listOpenWithin(
  db: Reader,
  { userId, scope }: { readonly userId: UserId; readonly scope: CapScope },
): Promise<readonly InstanceId[]> {
  const { rows } = await sql<{ id: InstanceId }>`
    select i.id from ${TABS}
    where i.id in (${openOf(userId)})
      and (t.metered_from_at is not null or t.hold_id is not null) and not i.is_background
      and (${scope}::text = any (i.cap_scopes) or ${scope}::text = 'instance:' || i.id or ${scope}::text = 'account:' || i.user_id)
    order by i.id
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** The last counts of the current runs of these instances; runs that are not proven to run are left out. */
export async function listLastCounts(db: Reader, ids: readonly InstanceId[]): Promise<ReadonlyMap<InstanceId, Date>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ id: InstanceId; at: Date }>`
    select r.instance_id as id, r.last_counted_at as at
    from instances i join instance_runs r on r.instance_id = i.id and r.generation = i.generation
    where i.id = any(${integers(ids)}::integer[]) and r.metered_from_at is not null
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row.at]));
}

const RUN_COLUMNS = sql`
  r.instance_id as "instanceId", r.generation, r.running_ms as "runningMs", r.received_bytes as "receivedBytes",
  r.sent_bytes as "sentBytes", r.charged_running_ms as "chargedMs", r.charged_received_bytes as "chargedReceivedBytes",
  r.charged_sent_bytes as "chargedSentBytes", r.metered_from_at as "meteredFromAt", r.last_counted_at as "lastCountedAt",
  r.sealed_at is not null as "isClosed", nullif(r.chargeable_until_at, 'infinity') as "chargeableUntilAt",
  r.needs_evidence as "needsEvidence", r.evidence_at as "evidenceAt"
`;
const UNCHARGED = sql`r.metered_from_at is not null and (
  r.charged_running_ms < r.running_ms or r.charged_received_bytes < r.received_bytes
  or r.charged_sent_bytes < r.sent_bytes
)`;

/**
 * Locks the runs of these instances that counted more than is charged, in the order of their starts. Skips a run that
 * is being counted, since that transaction may wait for the instance; the next settlement charges it.
 */
export async function lockUnchargedRuns(tx: Tx, ids: readonly InstanceId[]): Promise<readonly BillableRun[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<RunRow>`
    select ${RUN_COLUMNS} from instance_runs r
    where r.instance_id = any(${integers(ids)}::integer[]) and ${UNCHARGED}
    order by r.instance_id, r.generation
    for update of r skip locked
  `.execute(tx.db);
  return rows.map(toRun);
}

/** The uncharged runs without locks, and the current runs also when they are charged completely. */
export async function listOpenRuns(db: Reader, ids: readonly InstanceId[]): Promise<readonly BillableRun[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<RunRow>`
    select ${RUN_COLUMNS} from instance_runs r join instances i on i.id = r.instance_id
    where r.instance_id = any(${[...ids]}::integer[]) and (${UNCHARGED} or r.generation = i.generation)
    order by r.instance_id, r.generation
  `.execute(db);
  return rows.map(toRun);
}

type RunRow = Omit<BillableRun, "meteredFromAt" | "chargeableUntilAt" | "evidenceAt"> &
  Readonly<Record<"meteredFromAt" | "chargeableUntilAt" | "evidenceAt", Date | null>>;

function toRun(row: RunRow): BillableRun {
  return {
    ...row,
    meteredFromAt: row.meteredFromAt ?? undefined,
    chargeableUntilAt: row.chargeableUntilAt ?? undefined,
    evidenceAt: row.evidenceAt ?? undefined,
  };
}

/** Stores how far these runs are charged. The caller holds their locks. */
export async function markCharged(tx: Tx, runs: readonly BillableRun[]): Promise<void> {
  if (runs.length === 0) return;
  await sql`
    update instance_runs as run set
      charged_running_ms = charged.running_ms, charged_received_bytes = charged.received_bytes,
      charged_sent_bytes = charged.sent_bytes
    from unnest(
      ${integers(runs.map((run) => run.instanceId))}::integer[], ${integers(runs.map((run) => run.generation))}::integer[],
      ${bigints(runs.map((run) => run.runningMs))}::bigint[], ${bigints(runs.map((run) => run.receivedBytes))}::bigint[],
      ${bigints(runs.map((run) => run.sentBytes))}::bigint[]
    ) as charged (instance_id, generation, running_ms, received_bytes, sent_bytes)
    where run.instance_id = charged.instance_id and run.generation = charged.generation
  `.execute(tx.db);
}

/** The state of an instance from a moment on, as far as it matters for charges. */
export type PhaseChange = {
  readonly instanceId: InstanceId;
  readonly at: Date;
  readonly phase: Phase;
  readonly cause: string;
};

/** SQL: groups phases that are charged alike. */
const GROUP = (column: "from_phase" | "to_phase") => sql`
  case when ${sql.ref(column)} in ('running', 'yielding') then 'running' when ${sql.ref(column)} = 'starting' then 'loading'
    when ${sql.ref(column)} in ('ending', 'ended') then 'over' when ${sql.ref(column)} is not null then 'stopped' end
`;

/**
 * The changes of these instances' states since `since`, in order, after the state of each at that time. Changes between
 * phases that are charged alike are left out.
 */
export async function listPhaseChanges(
  db: Reader,
  since: readonly { readonly id: InstanceId; readonly at: Date }[],
): Promise<readonly PhaseChange[]> {
  if (since.length === 0) return [];
  const { rows } = await sql<PhaseChange>`
    select wanted.id as "instanceId", change.at, change.to_phase as phase, change.cause
    from unnest(
      ${integers(since.map(({ id }) => id))}::integer[], ${timestamps(since.map(({ at }) => at.getTime()))}::timestamptz[]
    ) as wanted (id, at)
    cross join lateral (
      (
        select e.id, e.at, e.to_phase, e.cause from instance_events e
        where e.instance_id = wanted.id and e.at <= wanted.at and ${GROUP("from_phase")} is distinct from ${GROUP("to_phase")}
        order by e.id desc limit 1
      )
      union all
      (
        select e.id, e.at, e.to_phase, e.cause from instance_events e
        where e.instance_id = wanted.id and e.at > wanted.at and ${GROUP("from_phase")} is distinct from ${GROUP("to_phase")}
      )
    ) as change
    order by wanted.id, change.id
  `.execute(db);
  return rows;
}

export type Settled = {
  readonly id: InstanceId;
  readonly storageChargedUntilAt: Date | undefined;
  readonly settleAt: Date | undefined;
  readonly holdId: HoldId | undefined;
};

/** Delay until a run of an ended instance, which is being counted now, is settled. */
const LEFT_MS = 10_000;

/**
 * Stores how far instances are settled and when they are due again. An ended instance is due once more when one of its
 * runs was skipped. The caller holds their locks.
 */
export async function markSettled(tx: Tx, settled: readonly Settled[]): Promise<void> {
  if (settled.length === 0) return;
  await sql`
    update instance_tabs as tab set
      storage_charged_until_at = settled.storage_until, hold_id = settled.hold_id, unsettled_since_at = null,
      settle_at = coalesce(settled.settle_at, (
        select ${new Date(tx.now.getTime() + LEFT_MS)}::timestamptz
        from instance_runs r where r.instance_id = tab.instance_id and ${UNCHARGED} limit 1
      ))
    from unnest(
      ${integers(settled.map(({ id }) => id))}::integer[],
      ${timestamps(settled.map(({ storageChargedUntilAt }) => storageChargedUntilAt?.getTime()))}::timestamptz[],
      ${timestamps(settled.map(({ settleAt }) => settleAt?.getTime()))}::timestamptz[],
      ${bigints(settled.map(({ holdId }) => holdId))}::bigint[]
    ) as settled (id, storage_until, settle_at, hold_id)
    where tab.instance_id = settled.id
  `.execute(tx.db);
}

function toBillable(row: Row): Billable {
  return {
    id: row.id,
    userId: row.user_id,
    machineId: row.machine_id,
    capScopes: row.cap_scopes.map(parseCapScope),
    isBackground: row.is_background,
    desired: row.desired,
    phase: row.phase,
    generation: row.generation,
    observedGeneration: row.observed_generation,
    observedState: row.observed_state ?? undefined,
    holdId: row.hold_id === null ? undefined : asHoldId(row.hold_id),
    terms: {
      priceNanosPerHour: nanos(row.price_nanos_per_hour),
      storageNanosPerGbMonth: nanos(row.storage_nanos_per_gb_month),
      inetUpNanosPerGb: nanos(row.inet_up_nanos_per_gb),
      inetDownNanosPerGb: nanos(row.inet_down_nanos_per_gb),
      discountPpm: row.discount_ppm,
    },
    diskBytes: row.disk_bytes,
    meteredFromAt: row.metered_from_at ?? undefined,
    storageChargedUntilAt: row.storage_charged_until_at ?? undefined,
    endAt: row.end_at,
    isTrafficReached: row.traffic_reached_at !== null,
  };
}
