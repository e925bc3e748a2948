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

/** How often the autoscaler looks at endpoints with work under way, and at endpoints without. */
const RESTLESS_EVERY_MS = 1_000;
const QUIET_EVERY_MS = 10_000;
const AFTER_FAILURE_MS = 5_000;
/** How often the list of endpoints is read, to find endpoints that no notification announced. */
const LIST_EVERY_MS = 10_000;
/** Endpoints that are looked at in parallel. */
const LANES = 4;
/** Ids kept ready before a transaction begins: enough for the workers that one decision may rent. */
const ORDERS_AT_HAND = 32;
/** A run returns after this long at most. Looks under way go on, and endpoints that become due wait for the next run. */
const RUN_MS = 2_000;
/** After a pause this long without reading anything, this server may have missed the reports of workers. */
const DEAF_MS = 15_000;

type Watched = {
  readonly memory: EndpointMemory;
  dueAtMs: number;
  machineIds: readonly MachineId[];
  /** The endpoint is looked at right now; `isAgain` if it changed meanwhile. */
  isBusy: boolean;
  isAgain: boolean;
  visitedAtMs: number;
  /** A small change came up while the endpoint was looked at. */
  isSoon: boolean;
};

type Counts = { visited: number; rented: number; ordered: number; failed: number };

/**
 * Looks at every endpoint when it is due: each second while work is under way, now and then otherwise, and at once
 * when it is notified of a change. A failure at one endpoint does not delay the others.
 */
export class Autoscaler {
  readonly #ports: AutoscalerPorts;
  readonly #watched = new Map<EndpointGroupId, Watched>();
  /** Endpoints with a notified change: they come first, in the order of the notifications. */
  readonly #urgent = new Set<EndpointGroupId>();
  readonly #errors: unknown[] = [];
  #laneCount = 0;
  #working: Promise<void> = Promise.resolve();
  /** True from the first run on: a process that only answers requests makes no decisions. */
  #isRunning = false;
  #listedAtMs = -Infinity;
  #heardAtMs = -Infinity;
  #listeningSinceMs = Infinity;
  #counts: Counts = { visited: 0, rented: 0, ordered: 0, failed: 0 };

  constructor(ports: AutoscalerPorts) {
    this.#ports = ports;
  }

  readonly channel: ChannelHandler = {
    onMessage: (payload) => {
      for (const id of payload.split(",")) this.note(asId<EndpointGroupId>(Number(id)));
    },
    onGap: () => {
      this.#listedAtMs = -Infinity;
      for (const id of this.#watched.keys()) this.note(id);
    },
  };

  /** Notes a change in this endpoint: it is looked at at once. */
  note(id: EndpointGroupId): void {
    // The first run looks at all endpoints.
    if (!this.#isRunning) return;
    const watched = this.#watch(id);
    if (watched.isBusy) watched.isAgain = true;
    else this.#urgent.add(id);
    this.#openLane();
  }

  /**
   * Notes a small change, which is frequent on a busy endpoint: the endpoint is looked at as soon as an endpoint with
   * work under way would be.
   */
  noteSoon(id: EndpointGroupId): void {
    if (!this.#isRunning) return;
    const watched = this.#watch(id);
    const soonMs = watched.visitedAtMs + RESTLESS_EVERY_MS;
    if (watched.isBusy) watched.isSoon = true;
    else if (soonMs <= this.#ports.clock.monotonicMs()) this.note(id);
    else watched.dueAtMs = Math.min(watched.dueAtMs, soonMs);
  }

  /** Notes a change on these machines: every endpoint with a worker there is looked at. */
  noteMachines(machineIds: readonly MachineId[]): void {
    const changed = new Set(machineIds);
    for (const [id, { machineIds: own }] of this.#watched) if (own.some((one) => changed.has(one))) this.note(id);
  }

  /** Looks at every endpoint that is due. Resolves when that is done, or when the time of a run is over. */
  async run(): Promise<LoopStatus> {
    this.#isRunning = true;
    await this.#list();
    const nowMs = this.#ports.clock.monotonicMs();
    for (const [id, { dueAtMs, isBusy }] of this.#watched) if (dueAtMs <= nowMs && !isBusy) this.#urgent.add(id);
    this.#openLane();
    const done = new AbortController();
    await Promise.race([this.idle(), this.#ports.clock.sleep(RUN_MS, done.signal)]);
    done.abort();
    const counts = this.#counts;
    this.#counts = { visited: 0, rented: 0, ordered: 0, failed: 0 };
    const [error] = this.#errors.splice(0);
    if (error !== undefined) throw error;
    return { endpoints: this.#watched.size, ...counts };
  }

  /** Resolves when no look is under way. */
  async idle(): Promise<void> {
    while (this.#laneCount > 0) await this.#working;
  }

  /** Starts no further look, and waits for those under way. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#urgent.clear();
    await this.idle();
  }

  async #list(): Promise<void> {
    const { database, clock } = this.#ports;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#listedAtMs < LIST_EVERY_MS) return;
    this.#noteDeafness();
    const ids = new Set(await listEndpointIds(database.kysely));
    this.#listedAtMs = nowMs;
    this.#heardAtMs = nowMs;
    for (const id of ids) this.#watch(id);
    for (const [id, { isBusy }] of this.#watched) if (!ids.has(id) && !isBusy) this.#watched.delete(id);
  }

  /**
   * After this server or the database stood still, no worker could be heard: the silence of workers is counted from
   * now.
   */
  #noteDeafness(): void {
    const { clock } = this.#ports;
    if (clock.monotonicMs() - this.#heardAtMs > DEAF_MS) this.#listeningSinceMs = clock.now().getTime();
  }

  #watch(id: EndpointGroupId): Watched {
    const known = this.#watched.get(id);
    if (known !== undefined) return known;
    const watched: Watched = {
      ...{ memory: new EndpointMemory(), machineIds: [], dueAtMs: -Infinity, visitedAtMs: -Infinity },
      ...{ isBusy: false, isAgain: false, isSoon: false },
    };
    this.#watched.set(id, watched);
    return watched;
  }

  #openLane(): void {
    if (!this.#isRunning || this.#laneCount >= LANES || this.#urgent.size === 0) return;
    this.#laneCount += 1;
    const lane = this.#serve().finally(() => {
      this.#laneCount -= 1;
      this.#openLane();
    });
    this.#working = Promise.all([this.#working, lane]).then(() => undefined);
    this.#openLane();
  }

  /** Looks at the next due endpoints until none is left. Never throws. */
  async #serve(): Promise<void> {
    for (let id = this.#takeUrgent(); id !== undefined; id = this.#takeUrgent()) {
      const watched = this.#watch(id);
      watched.isBusy = true;
      watched.isAgain = false;
      watched.isSoon = false;
      try {
        await this.#visit(id, watched);
      } catch (error) {
        this.#counts.failed += 1;
        this.#errors.push(error);
        watched.dueAtMs = this.#ports.clock.monotonicMs() + AFTER_FAILURE_MS;
      }
      watched.isBusy = false;
      if (watched.isAgain && this.#isRunning) this.#urgent.add(id);
    }
  }

  #takeUrgent(): EndpointGroupId | undefined {
    const [id] = this.#urgent;
    if (id !== undefined) this.#urgent.delete(id);
    return id;
  }

  async #visit(id: EndpointGroupId, watched: Watched): Promise<void> {
    const ports = this.#ports;
    const { clock, database } = ports;
    const { memory } = watched;
    this.#counts.visited += 1;
    watched.visitedAtMs = clock.monotonicMs();
    this.#noteDeafness();
    await ports.desk.prepare(ORDERS_AT_HAND);
    const outcome = await withTransaction(database, clock, (tx) => {
      const rules = { nowMs: tx.now.getTime(), listeningSinceMs: this.#listeningSinceMs };
      return decideOnEndpoint(tx, { id, memory, rules }, ports);
    });
    this.#heardAtMs = clock.monotonicMs();
    if (outcome.kind === "gone") {
      this.#watched.delete(id);
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
    this.#counts.rented += rented;
    const failed: unknown[] = [];
    for (const order of orders) {
      try {
        if ((await carryOut({ endpoint, order, memory }, ports)) === "done") this.#counts.ordered += 1;
      } catch (error) {
        // The other orders do not wait for the failed one; the next decision gives it again.
        failed.push(error);
      }
    }
    if (failed.length > 0) throw failed[0];
  }
}
