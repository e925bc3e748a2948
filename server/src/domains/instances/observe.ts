import type { Report } from "../../../../protocol/index.ts";
import { asId, type InstanceId, type MachineId } from "../../base/ids.ts";
import type { Clock } from "../../base/clock.ts";
import { MicroBatcher } from "../../base/micro-batcher.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction, type Tx } from "../../db/transaction.ts";
import { LEASE_MS, lockMachines, touchMachines } from "../hosts/index.ts";
import type { LifecycleEvent } from "./lifecycle.ts";
import { eventOf } from "./observation.ts";
import { lockInstances, raiseCounters, updateObservations } from "./store.ts";
import { applyHappenings } from "./transitions.ts";

const REPORTS_PER_BATCH = 200;

type Arrived = { readonly machineId: MachineId; readonly report: Report };

/** Stores what hosts report, many hosts in one transaction when they report at once. */
export class ReportRecorder {
  private readonly batcher: MicroBatcher<Arrived, undefined>;
  private readonly wake: (() => void) | undefined;
  /** What each machine last said, counters aside: a heartbeat that repeats it needs no look at any instance. */
  private readonly lastSaid = new Map<MachineId, string>();

  constructor(database: Database, clock: Clock, { onChange }: { readonly onChange?: () => void } = {}) {
    this.wake = onChange;
    this.batcher = new MicroBatcher({
      maxBatch: REPORTS_PER_BATCH,
      run: async (batch) => {
        await withTransaction(database, clock, (tx) => this.record(tx, batch));
        for (const { machineId, report } of batch) this.lastSaid.set(machineId, gist(report));
        return batch.map(() => undefined);
      },
    });
  }

  async submit(machineId: MachineId, report: Report): Promise<void> {
    await this.batcher.submit({ machineId, report });
  }

  /** A machine that connects anew is looked at afresh. */
  forget(machineId: MachineId): void {
    this.lastSaid.delete(machineId);
  }

  async idle(): Promise<void> {
    await this.batcher.idle();
  }

  private async record(tx: Tx, batch: readonly Arrived[]): Promise<void> {
    const machineIds = [...new Set(batch.map(({ machineId }) => machineId))].toSorted((a, b) => a - b);
    const news = batch.filter(({ machineId, report }) => this.lastSaid.get(machineId) !== gist(report));
    await lockMachines(tx, machineIds);
    await touchMachines(tx, machineIds, new Date(tx.now.getTime() + LEASE_MS));
    await raiseCounters(tx, lastOfEach(batch));
    if (news.length === 0) return;
    await this.recordNews(tx, news);
    tx.afterCommit(() => this.wake?.());
  }

  private async recordNews(tx: Tx, news: readonly Arrived[]): Promise<void> {
    const observed = lastOfEach(news);
    const reporters = new Map(
      news.flatMap(({ machineId, report }) =>
        report.instances.map((seen) => [asId<InstanceId>(seen.instance_id), machineId] as const),
      ),
    );
    const locked = await lockInstances(tx, [...reporters.keys()]);
    // A host may speak only of what runs on it.
    const own = new Map(
      locked.filter((instance) => reporters.get(instance.id) === instance.machineId).map((i) => [i.id, i]),
    );
    const trusted = observed.filter((seen) => own.has(asId<InstanceId>(seen.instance_id)));
    await updateObservations(tx, trusted);
    const happenings = trusted.flatMap((seen) => {
      const instance = own.get(asId<InstanceId>(seen.instance_id));
      const event = instance && eventOf(seen, instance);
      if (instance === undefined || event === undefined) return [];
      return [{ instance, event, actor: `host:${instance.machineId}`, cause: CAUSES[event] ?? event }];
    });
    await applyHappenings(tx, happenings);
  }
}

const CAUSES: Partial<Record<LifecycleEvent, string>> = {
  containerRunning: "container_running",
  containerStopped: "container_stopped",
  containerAbsent: "container_removed",
};

/** The newest word on each instance: reports of one machine arrive in order. */
function lastOfEach(arrived: readonly Arrived[]) {
  const byInstance = new Map(
    arrived.flatMap(({ report }) => report.instances.map((seen) => [seen.instance_id, seen] as const)),
  );
  return [...byInstance.values()];
}

function gist(report: Report): string {
  return JSON.stringify(report.instances.map(({ counters: _, ...said }) => said));
}
