import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { MachineId, OfferId } from "../../../base/ids.ts";
import type { Database } from "../../../db/connect.ts";
import type { ChannelHandler } from "../../../db/listener.ts";
import { Mirror } from "../../../db/mirror.ts";
import type { Reader } from "../../../db/transaction.ts";
import { listMachines } from "../hosts/index.ts";
import type { VolumeSpace } from "./search/rules/offer-fields.ts";
import { OfferIndex } from "./search/rules/offer-index.ts";
import { listLiveGpuGrants, listLiveOffers, listOfferedMachines } from "./store.ts";

export type OfferTableDependencies = {
  readonly clock: Clock;
  readonly log: Log;
  /** Rentable volume space on these machines' disks; machines without such space are left out. */
  readonly listVolumeSpace?: (
    db: Reader,
    machineIds: readonly MachineId[],
  ) => Promise<ReadonlyMap<MachineId, VolumeSpace>>;
  /** The fraction of hosts' earnings that the platform keeps; 0 when absent. */
  readonly platformFee?: number;
};

/** Retired offer ids kept in memory, so that an offer rented a moment ago appears in no search. */
const RETIRED_MAX = 100_000;

/**
 * Keeps every live offer in memory, updated by the database's notifications. PostgreSQL stays the authority: a rental
 * of an offer that this table still shows may be refused.
 */
export class OfferTable {
  /** The index that searches read. */
  readonly index = new OfferIndex();
  readonly #database: Database;
  readonly #dependencies: OfferTableDependencies;
  readonly #mirror: Mirror<MachineId>;
  /** Ids removed ahead of the notification: a read that began before must not bring them back. */
  readonly #retired = new Set<OfferId>();
  readonly #followers: ((machineIds: readonly MachineId[]) => void)[] = [];

  constructor(database: Database, dependencies: OfferTableDependencies) {
    this.#database = database;
    this.#dependencies = dependencies;
    this.#mirror = new Mirror<MachineId>({
      ...dependencies,
      name: "offers",
      listAll: async () => [...(await listOfferedMachines(database.kysely)), ...this.index.machineIds],
      read: (ids) => this.#read(ids),
    });
  }

  /** Handler for `MARKET_CHANNEL`. */
  get channel(): ChannelHandler {
    return this.#mirror.channel;
  }

  get size(): number {
    return this.index.offers.size;
  }

  /**
   * Calls `follower` with the machines that were read again, in the same turn in which searches begin to see the
   * change.
   */
  follow(follower: (machineIds: readonly MachineId[]) => void): void {
    this.#followers.push(follower);
  }

  /**
   * Removes offers at once, so that a caller who was told that an offer is rented finds it in no further search. An id
   * never comes back.
   */
  retire(ids: readonly OfferId[]): void {
    if (this.#retired.size > RETIRED_MAX) this.#retired.clear();
    for (const id of ids) {
      this.#retired.add(id);
      this.index.removeOffer(id);
    }
  }

  /** Reads all offers; call it before the first search. */
  load(): Promise<void> {
    return this.#mirror.load();
  }

  /** Resolves when every change announced so far is visible. */
  settled(): Promise<void> {
    return this.#mirror.settled();
  }

  /** Stops reading changes. */
  stop(): Promise<void> {
    return this.#mirror.stop();
  }

  async #read(ids: readonly MachineId[]): Promise<void> {
    const { kysely } = this.#database;
    // Ids first, prices afterwards: an id shown with a newer price is retired and refused, while an id shown with an
    // older price would be rented for more than was shown.
    const offers = await listLiveOffers(kysely, ids);
    const [machines, grants, volumes] = await Promise.all([
      listMachines(kysely, ids),
      listLiveGpuGrants(kysely, ids),
      this.#dependencies.listVolumeSpace?.(kysely, ids),
    ]);
    const grantsOf = Map.groupBy(grants, (grant) => grant.machineId);
    const offersOf = Map.groupBy(offers, (offer) => offer.machineId);
    for (const id of ids) {
      const machine = machines.get(id);
      if (machine === undefined) this.index.remove(id);
      else {
        this.index.replace({
          machine,
          grants: grantsOf.get(id) ?? [],
          offers: (offersOf.get(id) ?? []).filter((offer) => !this.#retired.has(offer.id)),
          volume: volumes?.get(id),
          platformFee: this.#dependencies.platformFee ?? 0,
        });
      }
    }
    for (const follower of this.#followers) follower(ids);
  }
}
