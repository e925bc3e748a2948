import { asId, type StandingRequestId } from "../../../base/ids.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { glanceOf, mayConcern, type Glance, type Kind, type StandingRequest } from "./rules/standing-request.ts";
import { listOpen } from "./store.ts";

export type WaitingRequest = { readonly request: StandingRequest; readonly glance: Glance };

/**
 * The open requests in memory, oldest first, so that a change of the market does not read ten thousand rows. Their
 * present state is read again when one is locked; notifications of the database name the requests to read again.
 */
export class RequestBook {
  readonly #database: Database;
  readonly #clock: Clock;
  #waiting = new Map<StandingRequestId, WaitingRequest>();
  #stale = new Set<StandingRequestId>();
  #isAllStale = true;

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** True while the queue has no request that this process knows of, and none that it still has to read. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0 && this.#stale.size === 0 && !this.#isAllStale;
  }

  markStale(id: StandingRequestId): void {
    this.#stale.add(id);
  }

  markAllStale(): void {
    this.#isAllStale = true;
  }

  /**
   * Brings the book up to date and returns the requests that are new to it. After a failure the next call reads the
   * same requests.
   */
  async refresh(): Promise<readonly StandingRequestId[]> {
    if (!this.#isAllStale && this.#stale.size === 0) return [];
    const [isAll, ids] = [this.#isAllStale, [...this.#stale]];
    this.#isAllStale = false;
    this.#stale = new Set();
    try {
      const open = await listOpen(this.#database.kysely, this.#clock.now(), isAll ? undefined : ids);
      const fresh = open.map(({ id }) => id).filter((id) => !this.#waiting.has(id));
      if (isAll) this.#waiting.clear();
      else for (const id of ids) this.#waiting.delete(id);
      for (const request of open) this.#waiting.set(request.id, { request, glance: glanceOf(request) });
      this.#sort();
      return fresh;
    } catch (error) {
      this.#isAllStale ||= isAll;
      for (const id of ids) this.#stale.add(id);
      throw error;
    }
  }

  find(id: StandingRequestId): WaitingRequest | undefined {
    return this.#waiting.get(id);
  }

  remove(id: StandingRequestId): void {
    this.#waiting.delete(id);
  }

  /** The requests that an offer of one of these kinds may concern, oldest first. */
  listConcerned(kinds: readonly Kind[]): readonly StandingRequestId[] {
    if (kinds.length === 0) return [];
    const concerned: StandingRequestId[] = [];
    for (const [id, { glance }] of this.#waiting) {
      if (kinds.some((kind) => mayConcern(glance, kind))) concerned.push(id);
    }
    return concerned;
  }

  /** The next `count` requests after this id; past the end it goes on at the beginning. */
  listAfter(last: StandingRequestId, count: number): readonly StandingRequestId[] {
    const ids = [...this.#waiting.keys()];
    const start = ids.findIndex((id) => id > last);
    const from = start === -1 ? 0 : start;
    return ids.slice(from, from + count);
  }

  /** A map keeps the order of insertion, and requests become known nearly always in the order of their ids. */
  #sort(): void {
    let last = asId<StandingRequestId>(0);
    for (const id of this.#waiting.keys()) {
      if (id < last) {
        this.#waiting = new Map([...this.#waiting].toSorted(([a], [b]) => a - b));
        return;
      }
      last = id;
    }
  }
}
