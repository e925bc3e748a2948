import type { Clock } from "../../../base/clock.ts";
import { asId, type EndpointGroupId, type MachineId } from "../../../base/ids.ts";
import type { Database } from "../../../db/connect.ts";
import type { ChannelHandler } from "../../../db/listener.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { LoopStatus } from "../../../base/loop-driver.ts";
import type { OrderDesk } from "../../rental/instances/index.ts";
import { decideOnEndpoint, type DecisionPorts } from "./decision-service.ts";
import { EndpointMemory } from "../routing/endpoint-memory.ts";
import { carryOut, type OrderPorts } from "./order-service.ts";
import { listEndpointIds } from "../workers/store.ts";

export type AutoscalerPorts = DecisionPorts &
  OrderPorts & {
    readonly database: Database;
    readonly clock: Clock;
    readonly desk: Pick<OrderDesk, "wishOf" | "orderFor" | "prepare">;
  };

/** How often endpoints are looked at in which something is under way, and the others. */
const RESTLESS_EVERY_MS = 1_000;
const QUIET_EVERY_MS = 10_000;
const AFTER_FAILURE_MS = 5_000;
/** Endpoints that nobody announced are found so often. */
const LIST_EVERY_MS = 10_000;
/** So many endpoints are looked at side by side. */
const LANES = 4;
/** Ids for as many workers as one decision may rent are at hand before a transaction begins. */
const ORDERS_AT_HAND = 32;
/** A run ends after so long, whatever takes longer: what is due meanwhile is for the next one. */
const RUN_MS = 2_000;
/** When nothing could be read for so long, nobody could be heard of either. */
const DEAF_MS = 15_000;

type Watched = {
  readonly memory: EndpointMemory;
  dueAtMs: number;
  machineIds: readonly MachineId[];
  /** It is looked at right now; `isAgain` when something came up meanwhile. */
  isBusy: boolean;
  isAgain: boolean;
  visitedAtMs: number;
  /** Something small came up while it was looked at. */
  isSoon: boolean;
};

type Counts = { visited: number; rented: number; ordered: number; failed: number };

/**
 * Looks at every endpoint when it is due: each second while something is under way, now and then otherwise, and at once
 * when somebody tells of it. What goes wrong with one endpoint keeps no other waiting.
 */
export class Autoscaler {
  private readonly ports: AutoscalerPorts;
  private readonly watched = new Map<EndpointGroupId, Watched>();
  /** Told of: these come first, in the order in which they were told of. */
  private readonly urgent = new Set<EndpointGroupId>();
  private readonly errors: unknown[] = [];
  private laneCount = 0;
  private working: Promise<void> = Promise.resolve();
  /** From the first run on: who only answers requests decides nothing. */
  private isRunning = false;
  private listedAtMs = -Infinity;
  private heardAtMs = -Infinity;
  private listeningSinceMs = Infinity;
  private counts: Counts = { visited: 0, rented: 0, ordered: 0, failed: 0 };

  constructor(ports: AutoscalerPorts) {
    this.ports = ports;
  }

  readonly channel: ChannelHandler = {
    onMessage: (payload) => {
      for (const id of payload.split(",")) this.note(asId<EndpointGroupId>(Number(id)));
    },
    onGap: () => {
      this.listedAtMs = -Infinity;
      for (const id of this.watched.keys()) this.note(id);
    },
  };

  /** Something came up in this endpoint: it is looked at at once. */
  note(id: EndpointGroupId): void {
    // The first run looks at all of them.
    if (!this.isRunning) return;
    const watched = this.watch(id);
    if (watched.isBusy) watched.isAgain = true;
    else this.urgent.add(id);
    this.openLane();
  }

  /**
   * Something small came up, as it does all the time where there is work: it is looked at as soon as an endpoint is in
   * which something is under way.
   */
  noteSoon(id: EndpointGroupId): void {
    if (!this.isRunning) return;
    const watched = this.watch(id);
    const soonMs = watched.visitedAtMs + RESTLESS_EVERY_MS;
    if (watched.isBusy) watched.isSoon = true;
    else if (soonMs <= this.ports.clock.monotonicMs()) this.note(id);
    else watched.dueAtMs = Math.min(watched.dueAtMs, soonMs);
  }

  /** Something came up on these machines: whoever has workers there is looked at. */
  noteMachines(machineIds: readonly MachineId[]): void {
    const changed = new Set(machineIds);
    for (const [id, { machineIds: own }] of this.watched) if (own.some((one) => changed.has(one))) this.note(id);
  }

  /** Looks at everything that is due, and resolves when that is done, or goes on by itself. */
  async run(): Promise<LoopStatus> {
    this.isRunning = true;
    await this.list();
    const nowMs = this.ports.clock.monotonicMs();
    for (const [id, { dueAtMs, isBusy }] of this.watched) if (dueAtMs <= nowMs && !isBusy) this.urgent.add(id);
    this.openLane();
    const done = new AbortController();
    await Promise.race([this.idle(), this.ports.clock.sleep(RUN_MS, done.signal)]);
    done.abort();
    const { counts } = this;
    this.counts = { visited: 0, rented: 0, ordered: 0, failed: 0 };
    const [error] = this.errors.splice(0);
    if (error !== undefined) throw error;
    return { endpoints: this.watched.size, ...counts };
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.laneCount > 0) await this.working;
  }

  /** Looks at nothing more, and waits for what is under way. */
  async stop(): Promise<void> {
    this.isRunning = false;
    this.urgent.clear();
    await this.idle();
  }

  private async list(): Promise<void> {
    const { database, clock } = this.ports;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.listedAtMs < LIST_EVERY_MS) return;
    this.noteDeafness();
    const ids = new Set(await listEndpointIds(database.kysely));
    this.listedAtMs = nowMs;
    this.heardAtMs = nowMs;
    for (const id of ids) this.watch(id);
    for (const [id, { isBusy }] of this.watched) if (!ids.has(id) && !isBusy) this.watched.delete(id);
  }

  /** While this server stood still, or the database did, no worker could be heard: its silence begins anew. */
  private noteDeafness(): void {
    const { clock } = this.ports;
    if (clock.monotonicMs() - this.heardAtMs > DEAF_MS) this.listeningSinceMs = clock.now().getTime();
  }

  private watch(id: EndpointGroupId): Watched {
    const known = this.watched.get(id);
    if (known !== undefined) return known;
    const watched: Watched = {
      ...{ memory: new EndpointMemory(), machineIds: [], dueAtMs: -Infinity, visitedAtMs: -Infinity },
      ...{ isBusy: false, isAgain: false, isSoon: false },
    };
    this.watched.set(id, watched);
    return watched;
  }

  private openLane(): void {
    if (!this.isRunning || this.laneCount >= LANES || this.urgent.size === 0) return;
    this.laneCount += 1;
    const lane = this.serve().finally(() => {
      this.laneCount -= 1;
      this.openLane();
    });
    this.working = Promise.all([this.working, lane]).then(() => undefined);
    this.openLane();
  }

  /** Never throws. */
  private async serve(): Promise<void> {
    for (let id = this.takeUrgent(); id !== undefined; id = this.takeUrgent()) {
      const watched = this.watch(id);
      watched.isBusy = true;
      watched.isAgain = false;
      watched.isSoon = false;
      try {
        await this.visit(id, watched);
      } catch (error) {
        this.counts.failed += 1;
        this.errors.push(error);
        watched.dueAtMs = this.ports.clock.monotonicMs() + AFTER_FAILURE_MS;
      }
      watched.isBusy = false;
      if (watched.isAgain && this.isRunning) this.urgent.add(id);
    }
  }

  private takeUrgent(): EndpointGroupId | undefined {
    const [id] = this.urgent;
    if (id !== undefined) this.urgent.delete(id);
    return id;
  }

  private async visit(id: EndpointGroupId, watched: Watched): Promise<void> {
    const { ports } = this;
    const { clock, database } = ports;
    const { memory } = watched;
    this.counts.visited += 1;
    watched.visitedAtMs = clock.monotonicMs();
    this.noteDeafness();
    await ports.desk.prepare(ORDERS_AT_HAND);
    const outcome = await withTransaction(database, clock, (tx) => {
      const rules = { nowMs: tx.now.getTime(), listeningSinceMs: this.listeningSinceMs };
      return decideOnEndpoint(tx, { id, memory, rules }, ports);
    });
    this.heardAtMs = clock.monotonicMs();
    if (outcome.kind === "gone") {
      this.watched.delete(id);
      return;
    }
    if (outcome.kind === "busy") {
      watched.dueAtMs = clock.monotonicMs() + RESTLESS_EVERY_MS;
      return;
    }
    const { endpoint, orders, rented, isRestless, machineIds } = outcome;
    watched.machineIds = machineIds;
    const isSoon = isRestless || watched.isSoon;
    watched.dueAtMs = clock.monotonicMs() + (isSoon ? RESTLESS_EVERY_MS : QUIET_EVERY_MS);
    this.counts.rented += rented;
    const failed: unknown[] = [];
    for (const order of orders) {
      try {
        if ((await carryOut({ endpoint, order, memory }, ports)) === "done") this.counts.ordered += 1;
      } catch (error) {
        // The other orders do not wait for it; the next decision gives it again.
        failed.push(error);
      }
    }
    if (failed.length > 0) throw failed[0];
  }
}
