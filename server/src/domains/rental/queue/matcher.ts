import { AppError } from "../../../base/errors.ts";
import type { Clock } from "../../../base/clock.ts";
import { asId, type MachineId, type StandingRequestId } from "../../../base/ids.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Database } from "../../../db/connect.ts";
import type { ChannelHandler } from "../../../db/listener.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { LoopStatus } from "../../../base/loop-driver.ts";
import type { OrderDesk, Wish } from "../instances/index.ts";
import { claimOffer, failRequest, wishOfRequest } from "./claim-service.ts";
import { RequestBook, type WaitingRequest } from "./request-book.ts";
import {
  isWithinLimit,
  kindsOf,
  searchAmong,
  type FoundOffer,
  type Query,
  type StandingRequest,
} from "./rules/standing-request.ts";
import { noteAttempt } from "./store.ts";

export type MatcherPorts = {
  readonly database: Database;
  readonly clock: Clock;
  readonly encryption: Encryption;
  readonly desk: Pick<OrderDesk, "orderFor">;
  readonly search: (query: Query) => readonly FoundOffer[];
};

/** Bounds of one run: searches and time. The rest waits for the next run, which is due soon after. */
export const SEARCHES_PER_RUN = 200;
const MS_PER_RUN = 1_000;
export const MATCH_EVERY_MS = 250;
/** Bounds of one stretch of searches, after which other work of the process gets its turn. */
const SEARCHES_AT_ONCE = 10;
const MS_AT_ONCE = 10;
/**
 * Changed machines that are given away together; also the number of machines that a search names (some 1,000 values).
 */
export const MACHINES_PER_ROUND = 100;
/**
 * A machine that was claimed, or that refused a claim, is left out until searches show its new state: for 5 s at most.
 */
const STALE_MS = 5_000;
const RETRY_MS = 15_000;
/**
 * Some requests are searched for without a cause every second, so that changes that nobody announces, such as the end
 * of a rest, are found too.
 */
const SWEEP_EVERY_MS = 1_000;
const SWEEP_COUNT = 10;
/**
 * The part of the time that searches without a cause may take, however costly the searches of a hundred requests are.
 */
const SWEEP_SHARE = 0.05;

/** The open requests that a set of changed machines may concern, oldest first, and the index of the next one to ask. */
type Round = { readonly machineIds: readonly MachineId[]; readonly ids: readonly StandingRequestId[]; next: number };

type Done = { searches: number; claimed: number; readonly errors: unknown[] };

/**
 * Finds offers for standing requests, fairly: when machines changed, the requests that they may concern are asked one by
 * one, oldest first, and claim only those machines. A request that is new, or is searched for without a cause, claims
 * nothing by itself: the machines that it found are treated as changed, so that older requests are asked first.
 */
export class Matcher {
  readonly book: RequestBook;
  readonly #ports: MatcherPorts;
  readonly #changed = new Set<MachineId>();
  /** Requests to be searched for among all offers. */
  readonly #look = new Set<StandingRequestId>();
  /** Requests for which a search among all offers found something: the next round asks them. */
  readonly #found = new Set<StandingRequestId>();
  /** Requests to be searched for again in the next run, because the offers that they found could not be had. */
  readonly #again = new Set<StandingRequestId>();
  #round: Round | undefined;
  readonly #staleUntilMs = new Map<MachineId, number>();
  readonly #restUntilMs = new Map<StandingRequestId, number>();
  #sweptId = asId<StandingRequestId>(0);
  #sweptAtMs = 0;
  /** Milliseconds that searches among all offers took since the last sweep. */
  #lookedMs = 0;
  #ranAtMs = -Infinity;
  #isRunning = false;

  constructor(ports: MatcherPorts) {
    this.#ports = ports;
    this.book = new RequestBook(ports);
  }

  /** The listener on the channel that names changed requests. */
  channel(wake: () => void): ChannelHandler {
    return {
      onMessage: (payload) => {
        this.book.markStale(asId<StandingRequestId>(Number(payload)));
        wake();
      },
      onGap: () => {
        this.book.markAllStale();
        wake();
      },
    };
  }

  /**
   * Notes that machines changed, in the same turn in which searches begin to see their new state. Returns true when the
   * matcher should run.
   */
  note(machineIds: readonly MachineId[]): boolean {
    if (this.book.isEmpty) return false;
    for (const id of machineIds) this.#changed.add(id);
    // A change wakes the matcher no more often than its loop runs anyway.
    return !this.#isRunning && this.#ports.clock.monotonicMs() - this.#ranAtMs >= MATCH_EVERY_MS;
  }

  async run(): Promise<LoopStatus> {
    this.#isRunning = true;
    try {
      return await this.#runOnce();
    } finally {
      this.#ranAtMs = this.#ports.clock.monotonicMs();
      this.#isRunning = false;
    }
  }

  async #runOnce(): Promise<LoopStatus> {
    for (const id of await this.book.refresh()) this.#look.add(id);
    if (this.book.size === 0) {
      this.#forget();
      return { open: 0, searches: 0, claimed: 0 };
    }
    this.#sweep();
    const done: Done = { searches: 0, claimed: 0, errors: [] };
    const untilMs = this.#ports.clock.monotonicMs() + MS_PER_RUN;
    while (done.searches < SEARCHES_PER_RUN && this.#ports.clock.monotonicMs() < untilMs) {
      if (this.#round !== undefined) await this.#serve(this.#round, done);
      else if (this.#changed.size > 0) this.#round = this.#formRound(done);
      else if (this.#look.size > 0) await this.#lookAround(done);
      else break;
    }
    // A request that cannot be handled does not keep the others waiting, and its error is still reported.
    if (done.errors.length > 0) throw done.errors[0];
    return { open: this.book.size, searches: done.searches, claimed: done.claimed };
  }

  #forget(): void {
    for (const kept of [this.#changed, this.#look, this.#found, this.#again, this.#staleUntilMs, this.#restUntilMs]) {
      kept.clear();
    }
    this.#round = undefined;
  }

  /** Takes up the machines that changed, and the requests that their offers may concern. */
  #formRound(done: Done): Round {
    const machineIds = [...this.#changed].slice(0, MACHINES_PER_ROUND);
    for (const id of machineIds) {
      this.#changed.delete(id);
      this.#staleUntilMs.delete(id);
    }
    done.searches += 1;
    const query = { machine_id: { in: machineIds }, rentable: { eq: true }, allocated_storage: 0 };
    const offers = this.#ports.search({ ...query, disable_bundling: true, limit: 10_000 });
    const ids = new Set([...this.book.listConcerned(kindsOf(offers)), ...this.#found]);
    return { machineIds, ids: [...ids].toSorted((a, b) => a - b), next: 0 };
  }

  /** Asks the next few requests. */
  async #serve(round: Round, done: Done): Promise<void> {
    const isTurnOver = this.#beginTurn(done);
    for (; !isTurnOver(); round.next += 1) {
      const id = round.ids[round.next];
      if (id === undefined) {
        this.#round = undefined;
        break;
      }
      const wasFound = this.#found.delete(id);
      const waiting = this.book.find(id);
      if (waiting === undefined || this.#isResting(id)) continue;
      const isServed = await this.#guarded(id, done, () => this.#serveOne(waiting, round.machineIds, done));
      // An older request took the offer that this one had found; other machines may have more.
      if (wasFound && !isServed) this.#again.add(id);
    }
    await aTurn();
  }

  async #serveOne(waiting: WaitingRequest, machineIds: readonly MachineId[], done: Done): Promise<boolean> {
    const usable = machineIds.filter((id) => this.#isUsable(id));
    if (usable.length === 0) return false;
    done.searches += 1;
    const among = new Set<number>(usable);
    const hits = this.#ports
      .search(searchAmong(waiting.request, { in: usable }))
      .filter((offer) => among.has(offer.machine_id) && isWithinLimit(waiting.request, offer));
    return hits.length > 0 && (await this.#attempt(waiting, hits, done));
  }

  /**
   * Runs `work` for one request. An error keeps that request from another attempt for a while, and no other request.
   * True when the request counts as served.
   */
  async #guarded(id: StandingRequestId, done: Done, work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError) await this.#failOrRest(id, error);
      else {
        this.#rest(id);
        done.errors.push(error);
      }
      return true;
    }
  }

  /** False for a machine that changed after the round began: older requests have not been asked about it. */
  #isUsable(id: MachineId): boolean {
    return !this.#changed.has(id) && !this.#staleUntilMs.has(id);
  }

  /** Tries one offer after the other. True when the request is settled, for now or for good. */
  async #attempt({ request }: WaitingRequest, hits: readonly FoundOffer[], done: Done): Promise<boolean> {
    const { database, encryption } = this.#ports;
    const wish = await wishOfRequest(database.kysely, request, encryption);
    if (wish === undefined) {
      this.#drop(request.id);
      return true;
    }
    for (const offer of hits) {
      // An earlier attempt of this process may have changed the machine.
      if (!this.#isUsable(asId<MachineId>(offer.machine_id))) continue;
      if (await this.#claim(request, { wish, offer }, done)) return true;
    }
    return false;
  }

  async #claim(
    { id, totalMaxNanosPerHour }: StandingRequest,
    { wish, offer }: { readonly wish: Wish; readonly offer: FoundOffer },
    done: Done,
  ): Promise<boolean> {
    const { database, clock, desk } = this.#ports;
    const order = await desk.orderFor(wish, offer.id, { totalMaxNanosPerHour });
    try {
      const outcome = await withTransaction(database, clock, (tx) => claimOffer(tx, id, order));
      if (outcome.kind === "refused") throw outcome.error;
      if (outcome.kind === "claimed") {
        done.claimed += 1;
        this.#setAside(offer);
      }
      this.#drop(id);
      return true;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const isOfferToBlame = isAbout(error, offer.id);
      if (isOfferToBlame && error.kind !== "insufficient_funds") {
        this.#setAside(offer);
        return false;
      }
      return this.#failOrRest(id, error);
    }
  }

  /**
   * Fails a request that can never be served, or lets it rest when the obstacle may pass. True when no other offer can
   * help.
   */
  async #failOrRest(id: StandingRequestId, error: AppError): Promise<boolean> {
    const { database, clock } = this.#ports;
    const isForGood = error.kind === "not_found" || error.code === "no_such_volume_offer";
    // Resting comes first: if the failure cannot be stored either, the round goes on without this request.
    this.#rest(id);
    await withTransaction(database, clock, (tx) =>
      isForGood ? failRequest(tx, id, error.publicMessage) : noteAttempt(tx, id, error.publicMessage),
    );
    if (isForGood) this.#drop(id);
    // A volume may be out of reach of one machine and within reach of the next.
    return error.kind !== "invalid";
  }

  #drop(id: StandingRequestId): void {
    this.book.remove(id);
    this.#restUntilMs.delete(id);
  }

  #setAside({ machine_id: machine }: FoundOffer): void {
    this.#staleUntilMs.set(asId<MachineId>(machine), this.#ports.clock.monotonicMs() + STALE_MS);
  }

  #rest(id: StandingRequestId): void {
    this.#restUntilMs.set(id, this.#ports.clock.monotonicMs() + RETRY_MS);
  }

  #isResting(id: StandingRequestId): boolean {
    return (this.#restUntilMs.get(id) ?? 0) > this.#ports.clock.monotonicMs();
  }

  /** Searches all offers for a few requests. The machines found are given away in a round of their own. */
  async #lookAround(done: Done): Promise<void> {
    const isTurnOver = this.#beginTurn(done);
    for (const id of [...this.#look].toSorted((a, b) => a - b)) {
      if (isTurnOver()) break;
      this.#look.delete(id);
      const waiting = this.book.find(id);
      if (waiting === undefined || this.#isResting(id)) continue;
      await this.#guarded(id, done, async () => this.#lookFor(waiting, done));
    }
    await aTurn();
  }

  #beginTurn(done: Done): () => boolean {
    const { clock } = this.#ports;
    const [searchesMax, untilMs] = [done.searches + SEARCHES_AT_ONCE, clock.monotonicMs() + MS_AT_ONCE];
    return () => done.searches >= searchesMax || clock.monotonicMs() >= untilMs;
  }

  #lookFor({ request }: WaitingRequest, done: Done): boolean {
    done.searches += 1;
    const startedAtMs = this.#ports.clock.monotonicMs();
    // Each search leaves out the machines that earlier ones found, so that it finds another one while there are any, and
    // one round serves all these requests.
    const taken = [...this.#changed, ...this.#staleUntilMs.keys()].slice(0, MACHINES_PER_ROUND);
    const hits = this.#ports
      .search(searchAmong(request, { notin: taken }))
      .filter((offer) => isWithinLimit(request, offer));
    this.#lookedMs += this.#ports.clock.monotonicMs() - startedAtMs;
    const hit = hits.find((offer) => this.#isUsable(asId<MachineId>(offer.machine_id)));
    if (hit !== undefined) {
      this.#changed.add(asId<MachineId>(hit.machine_id));
      this.#found.add(request.id);
    } else if (hits.length > 0) this.#again.add(request.id);
    return hit !== undefined;
  }

  /** Adds the requests whose rest is over, and a few more each second, in turn. */
  #sweep(): void {
    const nowMs = this.#ports.clock.monotonicMs();
    for (const id of this.#again) this.#look.add(id);
    this.#again.clear();
    for (const [id, untilMs] of this.#staleUntilMs) if (untilMs <= nowMs) this.#staleUntilMs.delete(id);
    for (const [id, untilMs] of this.#restUntilMs) {
      if (untilMs > nowMs) continue;
      this.#restUntilMs.delete(id);
      this.#look.add(id);
    }
    if (nowMs - this.#sweptAtMs < Math.max(SWEEP_EVERY_MS, this.#lookedMs / SWEEP_SHARE)) return;
    this.#sweptAtMs = nowMs;
    this.#lookedMs = 0;
    for (const id of this.book.listAfter(this.#sweptId, SWEEP_COUNT)) {
      this.#look.add(id);
      this.#sweptId = id;
    }
  }
}

/** True when the offer itself cannot be had, rather than something that the request orders with it. */
function isAbout(error: AppError, offerId: number): boolean {
  return error.code !== "no_such_volume_offer" && (error.kind === "gone" || error.extra["ask_id"] === offerId);
}

/** Lets other work of the process run first. */
function aTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
