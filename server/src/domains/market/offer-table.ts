import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { asId, type MachineId } from "../../base/ids.ts";
import type { Database } from "../../db/connect.ts";
import type { ChannelHandler } from "../../db/listener.ts";
import { listMachines } from "../hosts/index.ts";
import { indexOffer, type IndexedOffer } from "./offer-columns.ts";
import { offerRowsOf } from "./offer-record.ts";
import { listLiveLeases, listLiveOffers } from "./store.ts";

/**
 * Every live offer, in memory, kept current by the database's notifications. PostgreSQL stays the truth: an offer that
 * this table still shows may be refused when it is claimed.
 */
export class OfferTable {
  private readonly byMachine = new Map<MachineId, readonly IndexedOffer[]>();
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly log: Log;
  private stale = new Set<MachineId>();
  private isAllStale = false;
  private refreshing: Promise<void> | undefined;

  constructor(database: Database, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.database = database;
    this.clock = clock;
    this.log = log;
  }

  /** For `MARKET_CHANNEL`. */
  get channel(): ChannelHandler {
    return {
      onMessage: (payload) => this.refreshSoon(payload.split(",").map((id) => asId<MachineId>(Number(id)))),
      onGap: () => {
        this.isAllStale = true;
        this.refreshSoon([]);
      },
    };
  }

  *offers(): Iterable<IndexedOffer> {
    for (const offers of this.byMachine.values()) yield* offers;
  }

  get size(): number {
    let size = 0;
    for (const offers of this.byMachine.values()) size += offers.length;
    return size;
  }

  /** Reads everything anew; before the first search. */
  async load(): Promise<void> {
    this.isAllStale = true;
    this.refreshSoon([]);
    await this.settled();
  }

  /** Resolves when every change announced so far is visible. */
  async settled(): Promise<void> {
    while (this.refreshing !== undefined) await this.refreshing;
  }

  private refreshSoon(machineIds: readonly MachineId[]): void {
    for (const id of machineIds) this.stale.add(id);
    this.refreshing ??= this.refresh().finally(() => {
      this.refreshing = undefined;
      // Something may have become stale since the last look.
      if (this.isAllStale || this.stale.size > 0) this.refreshSoon([]);
    });
  }

  private async refresh(): Promise<void> {
    while (this.isAllStale || this.stale.size > 0) {
      const ids = this.isAllStale ? undefined : [...this.stale];
      this.isAllStale = false;
      this.stale = new Set();
      try {
        await this.read(ids);
      } catch (error) {
        this.log.error({ err: error }, "offers could not be read; what is shown may be old");
        for (const id of ids ?? []) this.stale.add(id);
        this.isAllStale ||= ids === undefined;
        await this.clock.sleep(500);
      }
    }
  }

  private async read(ids: readonly MachineId[] | undefined): Promise<void> {
    const { kysely } = this.database;
    const [machines, leases, offers] = await Promise.all([
      listMachines(kysely, ids),
      listLiveLeases(kysely, ids),
      listLiveOffers(kysely, ids),
    ]);
    const leasesOf = Map.groupBy(leases, (lease) => lease.machineId);
    const offersOf = Map.groupBy(offers, (offer) => offer.machineId);
    const now = this.clock.now();
    if (ids === undefined) this.byMachine.clear();
    for (const id of ids ?? machines.keys()) {
      const machine = machines.get(id);
      const state = machine && { machine, leases: leasesOf.get(id) ?? [], offers: offersOf.get(id) ?? [] };
      const rows = state === undefined ? [] : offerRowsOf(state);
      if (rows.length === 0) this.byMachine.delete(id);
      else
        this.byMachine.set(
          id,
          rows.map((row) => indexOffer(row, now)),
        );
    }
  }
}
