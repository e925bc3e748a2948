import { Gauge, type Registry } from "prom-client";
import { toDollars } from "../../base/money.ts";
import type { Database } from "../../db/connect.ts";
import { readDatabaseBytes, readDatabaseStanding, type DatabaseStanding } from "../../db/standing.ts";
import { inSnapshot } from "../../db/transaction.ts";
import { readMarketFigures, type MarketFigures } from "../../domains/administration/index.ts";
import { countFindings } from "../../domains/money/audit/index.ts";
import { readDueDeliveries } from "../../domains/notifications/for-assembly.ts";
import { readTaskQueue } from "../../domains/rental/tasks/for-assembly.ts";
import {
  countGpuFailures,
  countGpus,
  readAgentSilence,
  type AgentSilence,
} from "../../domains/supply/hosts/for-assembly.ts";

/** Names of GPUs come from hosts: a host that invents names must not fill the memory of who watches. */
const MODELS_MAX = 100;
const OTHER_MODELS = "other";

type Queue = { readonly count: number; readonly oldestAt: Date | undefined };

/** Everything that is read from the database for one scrape. All servers of a database show the same figures. */
export type MarketReading = MarketFigures & {
  readonly now: Date;
  readonly database: DatabaseStanding;
  readonly databaseBytes: number;
  readonly gpuStates: Readonly<Record<string, number>>;
  readonly gpuFailureCount: number;
  readonly findings: readonly { readonly kind: string; readonly outcome: string; readonly count: number }[];
  readonly silence: AgentSilence;
  readonly queues: Readonly<Record<"rent_requests" | "host_tasks" | "notifications", Queue>>;
};

/** Reads the market in one snapshot, so that its figures agree. */
export function readMarket(database: Database, now: Date): Promise<MarketReading> {
  return inSnapshot(database, async (db) => {
    const figures = await readMarketFigures(db, now);
    const tasks = await readTaskQueue(db);
    const deliveries = await readDueDeliveries(db, now);
    return {
      ...figures,
      now,
      database: await readDatabaseStanding(db),
      databaseBytes: await readDatabaseBytes(db),
      gpuStates: await countGpus(db),
      gpuFailureCount: await countGpuFailures(db),
      findings: await countFindings(db),
      silence: await readAgentSilence(db, now),
      queues: {
        rent_requests: { count: figures.queue.openCount, oldestAt: figures.queue.oldestAt },
        host_tasks: { count: tasks.openCount, oldestAt: tasks.oldestAt },
        notifications: { count: deliveries.dueCount, oldestAt: deliveries.oldestAt },
      },
    };
  });
}

type Setter = (reading: MarketReading) => void;

/**
 * Registers the figures of the market. The result shows a reading in them, or takes them all away when there is none: a
 * figure that is old and looks new is worse than a missing one.
 */
export function registerMarket(registry: Registry): (reading: MarketReading | undefined) => void {
  const gauges: Gauge[] = [];
  const gauge = (name: string, help: string, labelNames: string[] = []) => {
    const made = new Gauge({ name, help, labelNames, registers: [registry] });
    gauges.push(made);
    return made;
  };
  const setters = [suppliesOf(gauge), rentalsOf(gauge), moneyOf(gauge), standingOf(gauge)];
  return (reading) => {
    for (const each of gauges) each.reset();
    if (reading === undefined) for (const each of gauges) each.remove();
    else for (const set of setters) set(reading);
  };
}

type MakeGauge = (name: string, help: string, labelNames?: string[]) => Gauge;

function suppliesOf(gauge: MakeGauge): Setter {
  const models = gauge("berth_model_gpus", "GPUs of a model by state; rare models are counted as `other`", [
    "model",
    "state",
  ]);
  const occupancy = gauge("berth_gpu_occupancy_ratio", "Rented part of the GPUs on connected machines, from 0 to 1");
  const gpus = gauge("berth_gpus", "GPUs by how they are: healthy, sick, or absent from the machine that had them", [
    "state",
  ]);
  const failures = gauge("berth_gpu_failures", "How often a GPU became sick, as long as there are records");
  const machines = gauge("berth_machines", "Machines by state: connected or away", ["state"]);
  const listed = gauge("berth_machines_listed", "Machines that their hosts offer");
  const silence = gauge(
    "berth_agent_silence_seconds",
    "Time since the last word of connected agents: the longest, and the longest but for one in twenty",
    ["agents"],
  );
  const flags = gauge("berth_host_flags", "Open flags of hosts that need a look");
  return (reading) => {
    const common = reading.models.slice(0, MODELS_MAX);
    const rare = reading.models.slice(MODELS_MAX);
    for (const state of ["rented", "free", "broken", "offline", "unlisted"] as const) {
      for (const counts of common) models.set({ model: counts.gpuName, state }, counts[state]);
      if (rare.length > 0)
        models.inc(
          { model: OTHER_MODELS, state },
          rare.reduce((sum, one) => sum + one[state], 0),
        );
    }
    // Without a reachable GPU there is no such part.
    if (reading.occupancy === undefined) occupancy.remove();
    else occupancy.set(reading.occupancy);
    for (const [state, count] of Object.entries(reading.gpuStates)) gpus.set({ state }, count);
    failures.set(reading.gpuFailureCount);
    machines.set({ state: "connected" }, reading.machines.connected);
    machines.set({ state: "away" }, reading.machines.total - reading.machines.connected);
    listed.set(reading.machines.listed);
    silence.set({ agents: "95_percent" }, reading.silence.ninetyFifth);
    silence.set({ agents: "all" }, reading.silence.longest);
    flags.set(reading.flagCount);
  };
}

function rentalsOf(gauge: MakeGauge): Setter {
  const instances = gauge("berth_instances", "Instances that have not ended, by phase", ["phase"]);
  const lengths = gauge("berth_queue_length", "What waits in a queue of the database", ["queue"]);
  const ages = gauge(
    "berth_queue_oldest_age_seconds",
    "How long the oldest of a queue has waited; 0 when it is empty",
    ["queue"],
  );
  const endpoints = gauge("berth_endpoints_active", "Endpoints that are active");
  const workers = gauge("berth_endpoint_workers", "Workers of endpoints that are not being removed");
  return ({ now, queues, ...reading }) => {
    for (const [phase, count] of reading.instances) instances.set({ phase }, count);
    for (const [queue, { count, oldestAt }] of Object.entries(queues)) {
      lengths.set({ queue }, count);
      ages.set({ queue }, oldestAt === undefined ? 0 : Math.max(0, now.getTime() - oldestAt.getTime()) / 1000);
    }
    endpoints.set(reading.endpoints.active);
    workers.set(reading.endpoints.workers);
  };
}

function moneyOf(gauge: MakeGauge): Setter {
  const money = gauge("berth_money_dollars", "Money in the ledger, all accounts together", ["kind"]);
  const moved = gauge("berth_money_moved_day_dollars", "Money that moved in the last 24 hours, by kind of transfer", [
    "code",
  ]);
  const payouts = gauge("berth_payouts", "Payouts that wait, failed in the last 24 hours, or are held", ["state"]);
  const due = gauge("berth_payouts_waiting_dollars", "Money of the payouts that wait");
  const findings = gauge(
    "berth_reconciliation_findings",
    "How often something was found that did not agree, by kind and by what was done about it",
    ["kind", "outcome"],
  );
  const alarms = gauge("berth_audit_alarms", "Alarms of audits in the last 24 hours");
  const age = gauge("berth_reconciliation_age_seconds", "Time since the last reconciliation; missing before the first");
  return ({ house, now, ...reading }) => {
    for (const kind of ["credit", "held", "deposits", "earnings", "debt", "fees"] as const) {
      money.set({ kind }, toDollars(house[kind]));
    }
    for (const { code, day } of house.movements) moved.set({ code }, toDollars(day));
    payouts.set({ state: "waiting" }, reading.payouts.waitingCount);
    payouts.set({ state: "failed" }, reading.payouts.failedCount);
    payouts.set({ state: "held" }, reading.payouts.holdCount);
    due.set(toDollars(reading.payouts.waitingAmount));
    for (const { kind, outcome, count } of reading.findings) findings.set({ kind, outcome }, count);
    alarms.set(reading.audit.alarmCount);
    const { reconciledAt } = reading.audit;
    if (reconciledAt === undefined) age.remove();
    else age.set((now.getTime() - reconciledAt.getTime()) / 1000);
  };
}

function standingOf(gauge: MakeGauge): Setter {
  const size = gauge("berth_database_size_bytes", "Size of the database on its disk");
  const standby = gauge("berth_database_is_standby", "1 while the database is a standby, which refuses every write");
  const replicas = gauge("berth_database_replicas", "Standbys that follow the database");
  const lag = gauge("berth_database_replica_lag_seconds", "Lag of a standby, where this role may see it", ["replica"]);
  return ({ database, databaseBytes }) => {
    size.set(databaseBytes);
    standby.set(database.isStandby ? 1 : 0);
    replicas.set(database.replicas.length);
    for (const { name, lagSeconds } of database.replicas)
      if (lagSeconds !== undefined) lag.set({ replica: name }, lagSeconds);
  };
}
