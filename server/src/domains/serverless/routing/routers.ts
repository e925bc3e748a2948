import type { Clock } from "../../../base/clock.ts";
import { asId, type EndpointGroupId, type InstanceId, type UserId } from "../../../base/ids.ts";
import type { Log } from "../../../base/log.ts";
import { MicroBatcher } from "../../../base/micro-batcher.ts";
import type { Database } from "../../../db/connect.ts";
import type { ChannelHandler } from "../../../db/listener.ts";
import { inSnapshot, withTransaction } from "../../../db/transaction.ts";
import type { LoopStatus } from "../../../base/loop-driver.ts";
import type { QueueView } from "../autoscaling/rules/types.ts";
import { findEndpointIdByName, notifyFinished } from "../endpoints/store.ts";
import type { EndpointRouter, RouteRequest } from "./endpoint-router.ts";
import { finishedPayloads, readFinished, type Finished } from "./finished-elsewhere.ts";
import {
  addLoad,
  findRoutedEndpointByKey,
  listRoutedFleets,
  readNextRequestIdx,
  takeBlock,
  type RoutedFleet,
} from "./route-store.ts";
import { NUMBERS_PER_BLOCK } from "./request-numbers.ts";
import { RoutedGroup, type RouteOutcome, type WantedEndpoint } from "./routed-group.ts";

export type RoutersPorts = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Distinguishes this process from the others. */
  readonly processName: string;
};

/** A call is held for at most this long; published clients allow ten seconds for a call. */
export const HOLD_MS = 5_000;
/** The form of a key; the database is not asked for anything else. */
const KEY_FORM = /^[\w-]{1,128}$/;
/** Reports arrive every ten seconds at any server; each server reads the reports of the others this often. */
export const REFRESH_MS = 5_000;
/** An endpoint whose requests wait is read this often: the notification that a worker is ready may have been lost. */
const REFRESH_WAITING_MS = 1_000;
/** Endpoints are tended this often. */
export const TEND_MS = 1_000;
const TOLD_AT_ONCE = 500;
const READ_AT_ONCE = 100;
const FORGET_AFTER_MS = 600_000;
/** Requests wake the autoscaler at most this often for one endpoint. */
const PRESSURE_EVERY_MS = 100;

/**
 * The routers of this process: an endpoint is read from the database at its first request, follows its notifications,
 * and answers from memory from then on.
 */
export class Routers {
  readonly #ports: RoutersPorts;
  readonly #groups = new Map<EndpointGroupId, RoutedGroup>();
  readonly #byKey = new Map<string, RoutedGroup>();
  readonly #lookups = new Map<string, Promise<RoutedGroup | undefined>>();
  /** Look-ups under way of accounts' endpoints by name, which are not remembered: names change hands. */
  readonly #namings = new Map<string, Promise<EndpointGroupId | undefined>>();
  /** Reads under way; `isStale` if the endpoint changed meanwhile and is read again. */
  readonly #loads = new Map<EndpointGroupId, { isStale: boolean; readonly done: Promise<RoutedGroup | undefined> }>();
  readonly #listeners: ((id: EndpointGroupId) => void)[] = [];
  readonly #working = new Set<Promise<unknown>>();
  #writing: Promise<LoopStatus> | undefined;
  readonly #telling: MicroBatcher<Finished, undefined>;
  /** Endpoints that become due while others are being read are read together. */
  readonly #reads: MicroBatcher<EndpointGroupId, RoutedFleet | undefined>;

  constructor(ports: RoutersPorts) {
    this.#ports = ports;
    const { database, clock, processName } = ports;
    this.#telling = new MicroBatcher({
      maxBatch: TOLD_AT_ONCE,
      run: async (batch) => {
        await withTransaction(database, clock, (tx) => notifyFinished(tx, finishedPayloads(processName, batch)));
        return batch.map(() => undefined);
      },
    });
    this.#reads = new MicroBatcher({
      maxBatch: READ_AT_ONCE,
      run: async (ids) => {
        const fleets = await inSnapshot(database, (db) => listRoutedFleets(db, ids));
        return ids.map((id) => fleets.get(id));
      },
    });
  }

  readonly channel: ChannelHandler = {
    onMessage: (payload) => {
      for (const id of payload.split(",")) this.#reloadKnown(asId<EndpointGroupId>(Number(id)));
    },
    onGap: () => {
      for (const id of this.#groups.keys()) this.#reloadKnown(id);
    },
  };

  /** Receives the requests that other servers heard as finished, and those that moved to them. */
  readonly finishedChannel: ChannelHandler = {
    onMessage: (payload) => {
      for (const { endpointId, workerId, requestIdxs } of readFinished(payload, this.#ports.processName)) {
        const router = this.of(endpointId);
        if (workerId !== undefined) router?.finish(workerId, requestIdxs, this.#nowMs());
        else for (const idx of requestIdxs) router?.forget(idx, this.#nowMs());
      }
    },
    // Reports of the workers correct the loss.
    onGap: () => {},
  };

  /** Removes requests that a worker has finished. Those that another server may have given to it are passed on. */
  finish(endpointId: EndpointGroupId, workerId: InstanceId, requestIdxs: readonly number[]): void {
    const elsewhere = this.of(endpointId)?.finish(workerId, requestIdxs, this.#nowMs()) ?? requestIdxs;
    if (elsewhere.length > 0) this.#tell({ endpointId, workerId, requestIdxs: elsewhere });
  }

  /** The router of an endpoint; undefined when this server was never asked for it and gave nothing away. */
  of(id: EndpointGroupId): EndpointRouter | undefined {
    return this.#groups.get(id)?.router;
  }

  /** The queues of this process, one for each endpoint that it was asked for. */
  queues(): readonly QueueView[] {
    return [...this.#groups.values()].map(({ router }) => router.queue());
  }

  /** The endpoint with this name and key, if this process has it: found without the database. */
  known(wanted: WantedEndpoint, apiKey: string): RoutedGroup | undefined {
    const group = this.#byKey.get(apiKey);
    return group?.isNamed(wanted) === true ? group : undefined;
  }

  /** True if the database is being asked for this key: waiting for that read costs nothing. */
  isLookedUp(apiKey: string): boolean {
    return this.#lookups.has(apiKey);
  }

  /** The endpoint with this name or id and this key; undefined when either is wrong. */
  async findByKey(wanted: WantedEndpoint, apiKey: string): Promise<RoutedGroup | undefined> {
    const known = this.known(wanted, apiKey);
    if (known !== undefined || this.#byKey.has(apiKey) || !KEY_FORM.test(apiKey)) return known;
    let lookup = this.#lookups.get(apiKey);
    if (lookup === undefined) {
      lookup = this.#lookUp(apiKey).finally(() => this.#lookups.delete(apiKey));
      this.#lookups.set(apiKey, lookup);
    }
    const group = await lookup;
    return group?.isNamed(wanted) === true ? group : undefined;
  }

  /** The account's endpoint of this id, or its oldest one of this name. */
  async findOwn(userId: UserId, wanted: WantedEndpoint): Promise<RoutedGroup | undefined> {
    if (typeof wanted === "string") return this.#findOwnByName(userId, wanted);
    const group = await this.open(wanted);
    return group?.endpoint.userId === userId ? group : undefined;
  }

  /** Requests that come during a look-up share it. */
  async #findOwnByName(userId: UserId, name: string): Promise<RoutedGroup | undefined> {
    const wanted = `${userId} ${name}`;
    let naming = this.#namings.get(wanted);
    if (naming === undefined) {
      const db = this.#ports.database.kysely;
      naming = findEndpointIdByName(db, userId, name).finally(() => this.#namings.delete(wanted));
      this.#namings.set(wanted, naming);
    }
    const id = await naming;
    return id === undefined ? undefined : this.open(id);
  }

  /** An endpoint by its id, read from the database unless this process has it. */
  async open(id: EndpointGroupId): Promise<RoutedGroup | undefined> {
    return this.#groups.get(id) ?? this.#load(id);
  }

  /** Routes a request: at once, or within the time for which it may be held. `hungUp` is read only when it is held. */
  async route(
    group: RoutedGroup,
    request: RouteRequest,
    { holdMs, hungUp }: { readonly holdMs: number; readonly hungUp: () => AbortSignal },
  ): Promise<RouteOutcome> {
    if (group.endpoint.state === "stopped") return { kind: "stopped" };
    await this.#supplyNumbers(group);
    if (group.isGone) return { kind: "gone" };
    const nowMs = this.#nowMs();
    group.usedAtMs = nowMs;
    const isMoved = request.requestIdx !== 0 && !group.router.knows(request.requestIdx);
    let answer = group.router.route(request, nowMs);
    if (answer.kind === "unknown") {
      await this.#learnNumbers(group);
      answer = group.router.route(request, this.#nowMs());
    }
    this.#notePressure(group, nowMs);
    if (isMoved && (answer.kind === "given" || answer.kind === "held")) {
      this.#tell({ endpointId: group.endpoint.id, workerId: undefined, requestIdxs: [request.requestIdx] });
    }
    if (answer.kind !== "held") return answer;
    return group.hold(answer.requestIdx, { clock: this.#ports.clock, holdMs, hungUp: hungUp() });
  }

  /** Resolves when this server routes by the present state of the endpoint. */
  async takeIn(id: EndpointGroupId): Promise<void> {
    this.#reloadKnown(id);
    await this.#loads.get(id)?.done;
  }

  /** Registers a listener for endpoints with more load than their workers take; called a few times a second at most. */
  onPressure(listener: (id: EndpointGroupId) => void): void {
    this.#listeners.push(listener);
  }

  /** Stores the counted traffic, so that the server that decides sees all of it. */
  writeLoad(): Promise<LoopStatus> {
    const next = (this.#writing ?? Promise.resolve()).then(() => this.#writeOnce());
    const settled = next.catch(() => ({}));
    this.#writing = settled;
    return next;
  }

  /** Gives up abandoned requests, reads what other servers heard, and forgets endpoints without requests. */
  tend(): LoopStatus {
    const nowMs = this.#nowMs();
    let heldCount = 0;
    for (const group of this.#groups.values()) {
      group.router.expire(nowMs);
      const { requestCount } = group.router.queue();
      heldCount += requestCount;
      if (requestCount > 0) this.#notePressure(group, nowMs);
      const refreshMs = requestCount > 0 ? REFRESH_WAITING_MS : REFRESH_MS;
      if (group.router.isIdle() && group.usedAtMs + FORGET_AFTER_MS <= nowMs) this.#forget(group);
      else if (group.loadedAtMs + refreshMs <= nowMs) this.#reloadKnown(group.endpoint.id);
    }
    return { endpoints: this.#groups.size, held: heldCount };
  }

  /** Tells every client with a held call to ask again, as this process ends. */
  release(): void {
    for (const group of this.#groups.values()) group.release();
  }

  /** Finishes the work under way and stores the counted traffic, as the last act of the process. */
  async stop(): Promise<void> {
    await this.settled();
    await this.writeLoad();
  }

  /** Resolves when every change that was notified so far is read. */
  async settled(): Promise<void> {
    while (this.#working.size > 0) await Promise.allSettled(this.#working);
    await this.#telling.idle();
  }

  #tell(finished: Finished): void {
    this.#telling.submit(finished).catch((error: unknown) => {
      // Servers that believe that the worker has such a request learn its end from reports that do not list it.
      const { endpointId } = finished;
      this.#ports.log.warn(
        { err: error, endpoint_id: endpointId },
        "finished requests could not be reported to other servers",
      );
    });
  }

  async #lookUp(apiKey: string): Promise<RoutedGroup | undefined> {
    const endpoint = await findRoutedEndpointByKey(this.#ports.database.kysely, apiKey);
    return endpoint && this.open(endpoint.id);
  }

  #nowMs(): number {
    return this.#ports.clock.now().getTime();
  }

  #reloadKnown(id: EndpointGroupId): void {
    const under = this.#loads.get(id);
    if (under !== undefined) under.isStale = true;
    // The failure is logged, and the next round of `tend` reads the endpoint again.
    else if (this.#groups.has(id)) this.#load(id).catch(() => undefined);
  }

  #load(id: EndpointGroupId): Promise<RoutedGroup | undefined> {
    const under = this.#loads.get(id);
    if (under !== undefined) return under.done;
    const load = { isStale: false, done: this.#readUntilFresh(id) };
    this.#loads.set(id, load);
    void this.#track(load.done);
    return load.done;
  }

  async #readUntilFresh(id: EndpointGroupId): Promise<RoutedGroup | undefined> {
    try {
      let group = await this.#read(id);
      while (this.#takeStale(id)) group = await this.#read(id);
      return group;
    } catch (error) {
      this.#ports.log.warn({ err: error, endpoint_id: id }, "an endpoint could not be read");
      throw error;
    } finally {
      this.#loads.delete(id);
    }
  }

  /** True if the endpoint changed while it was read. */
  #takeStale(id: EndpointGroupId): boolean {
    const load = this.#loads.get(id);
    if (load?.isStale !== true) return false;
    load.isStale = false;
    return true;
  }

  async #read(id: EndpointGroupId): Promise<RoutedGroup | undefined> {
    const { database, clock } = this.#ports;
    const fleet = await this.#reads.submit(id);
    const known = this.#groups.get(id);
    if (fleet === undefined) {
      if (known !== undefined) this.#forget(known);
      return undefined;
    }
    const { endpoint, workers } = fleet;
    const start = known === undefined ? await withTransaction(database, clock, (tx) => takeBlock(tx, id)) : 0;
    if (start === undefined) return undefined;
    const nowMs = this.#nowMs();
    const group = known ?? this.#remember(new RoutedGroup(endpoint, nowMs));
    if (known === undefined) group.numbers.add(start, start + NUMBERS_PER_BLOCK);
    if (group.endpoint.apiKey !== endpoint.apiKey) this.#byKey.delete(group.endpoint.apiKey);
    this.#byKey.set(endpoint.apiKey, group);
    group.learn(endpoint, workers, nowMs);
    return group;
  }

  #remember(group: RoutedGroup): RoutedGroup {
    this.#groups.set(group.endpoint.id, group);
    return group;
  }

  #forget(group: RoutedGroup): void {
    this.#groups.delete(group.endpoint.id);
    this.#byKey.delete(group.endpoint.apiKey);
    group.end();
  }

  /** Takes numbers when less than half a block is left; waits for them only when none is left. */
  async #supplyNumbers(group: RoutedGroup): Promise<void> {
    const { left } = group.numbers;
    if (left > NUMBERS_PER_BLOCK / 2) return;
    if (group.supplying === undefined) {
      group.supplying = this.#fetchNumbers(group).finally(() => {
        group.supplying = undefined;
      });
      void this.#track(group.supplying);
    }
    if (left > 0) return;
    await group.supplying;
    // Other requests may have used them up meanwhile.
    if (group.numbers.left === 0 && !group.isGone) await this.#supplyNumbers(group);
  }

  async #fetchNumbers(group: RoutedGroup): Promise<void> {
    const { database, clock } = this.#ports;
    const start = await withTransaction(database, clock, (tx) => takeBlock(tx, group.endpoint.id));
    if (start === undefined) this.#forget(group);
    else group.numbers.add(start, start + NUMBERS_PER_BLOCK);
  }

  /** Reads up to which number other servers have taken numbers. All requests that arrive meanwhile wait for one read. */
  #learnNumbers(group: RoutedGroup): Promise<void> {
    group.learning ??= readNextRequestIdx(this.#ports.database.kysely, group.endpoint.id)
      .then((end) => group.numbers.learnEnd(end))
      .finally(() => {
        group.learning = undefined;
      });
    return group.learning;
  }

  #notePressure(group: RoutedGroup, nowMs: number): void {
    if (nowMs < group.pressedAtMs + PRESSURE_EVERY_MS || !group.router.isPressed(nowMs)) return;
    group.pressedAtMs = nowMs;
    for (const listener of this.#listeners) listener(group.endpoint.id);
  }

  async #writeOnce(): Promise<LoopStatus> {
    const counted = [...this.#groups.values()]
      .map((group) => ({ group, endpointGroupId: group.endpoint.id, samples: group.router.takeSamples() }))
      .filter(({ samples }) => samples.length > 0);
    if (counted.length === 0) return { written: 0 };
    try {
      await withTransaction(this.#ports.database, this.#ports.clock, (tx) => addLoad(tx, counted));
    } catch (error) {
      for (const { group, samples } of counted) group.router.putBackSamples(samples);
      throw error;
    }
    return { written: counted.length };
  }

  async #track(work: Promise<unknown>): Promise<void> {
    const ignore = () => undefined;
    const tracked = work.then(ignore, ignore);
    this.#working.add(tracked);
    await tracked;
    this.#working.delete(tracked);
  }
}
