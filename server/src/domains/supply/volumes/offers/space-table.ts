import type { Clock } from "../../../../base/clock.ts";
import type { Log } from "../../../../base/log.ts";
import type { MachineId } from "../../../../base/ids.ts";
import type { Database } from "../../../../db/connect.ts";
import type { ChannelHandler } from "../../../../db/listener.ts";
import { Mirror } from "../../../../db/mirror.ts";
import { describeMachines, type MachineDescription } from "../../hosts/index.ts";
import { listSpaceOf, type SpaceOf } from "../local/companion-service.ts";
import { freeBytes } from "./rules/listing.ts";
import { listMachinesWithSpace } from "../local/store.ts";
import { spaceRow, type SpaceRow } from "../views.ts";

/**
 * Keeps every live listing of space on machines' own disks in memory, updated by the market's notifications. PostgreSQL
 * stays the authority: a rental of space that this table still shows may be refused.
 */
export class SpaceTable {
  readonly #database: Database;
  readonly #mirror: Mirror<MachineId>;
  readonly #rowOf = new Map<MachineId, SpaceRow>();

  constructor(database: Database, dependencies: { readonly clock: Clock; readonly log: Log }) {
    this.#database = database;
    this.#mirror = new Mirror<MachineId>({
      ...dependencies,
      name: "volume offers",
      listAll: async () => [...(await listMachinesWithSpace(database.kysely)), ...this.#rowOf.keys()],
      read: (ids) => this.#read(ids),
    });
  }

  /** Handler for `MARKET_CHANNEL`. */
  get channel(): ChannelHandler {
    return this.#mirror.channel;
  }

  /** Listings of connected machines with space left; some may be past their end. */
  get rows(): Iterable<SpaceRow> {
    return this.#rowOf.values();
  }

  /** Reads all listings; call it before the first search. */
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
    const spaces = await listSpaceOf(kysely, ids);
    const machines = await describeMachines(kysely, [...spaces.keys()]);
    for (const id of ids) {
      const [listing, machine] = [spaces.get(id), machines.get(id)];
      const row = listing && machine?.isConnected && rowFor(listing, machine);
      if (row) this.#rowOf.set(id, row);
      else this.#rowOf.delete(id);
    }
  }
}

/** The row of a listing; undefined when no space is left. */
function rowFor(listing: SpaceOf, machine: MachineDescription): SpaceRow | undefined {
  const free = BigInt(machine.facts.disk_bytes) - machine.promisedDiskBytes;
  const space = { ...listing, diskFreeBytes: free > 0n ? free : 0n };
  if (freeBytes(space) === 0n) return undefined;
  return spaceRow({ id: listing.id, listing, space, hostId: machine.hostId, machine });
}
