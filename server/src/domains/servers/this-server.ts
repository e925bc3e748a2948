import { SERVER_ADDRESSES_MAX } from "../../../../protocol/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { ServerId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction, type Tx } from "../../db/transaction.ts";
import type { Loop, LoopStatus } from "../../base/loop-driver.ts";
import { BEAT_EVERY_MS, FIRST_WATCH, watchBeats, type Beat, type Watch } from "./rules/liveness.ts";
import {
  beat,
  deleteServers,
  insertServer,
  listOtherBeats,
  lockDeadServer,
  markStopped,
  type OtherServer,
  type ServerDescription,
} from "./store.ts";

type Deps = { readonly database: Database; readonly clock: Clock; readonly log: Log };

/** Reactions of the rest of the server to servers that come and go. */
export type ServerPorts = {
  /** Ends the connections of dead servers, in the transaction that removes them; returns the number of machines. */
  readonly release: (tx: Tx, ids: readonly ServerId[]) => Promise<number>;
  /** Ends connections without a server; returns the number of machines. */
  readonly releaseUnowned: (tx: Tx) => Promise<number>;
  /** Gives the connections that are open here back to this server, which was taken for dead and has a new id. */
  readonly reclaim: (tx: Tx) => Promise<void>;
};

export const SAY_ALIVE_LOOP = "say-alive";
const REAP_LOOP = "remove-dead-servers";

/** This process among the servers of its database. */
export class ThisServer {
  #current: ServerId;
  #description: ServerDescription;
  readonly #deps: Deps;
  #watch: Watch = FIRST_WATCH;
  #dead: readonly Beat[] = [];
  /** The other live servers, as of the last look. */
  #others: readonly OtherServer[] = [];
  /** Server addresses that agents are told. */
  #published: readonly string[];

  constructor(id: ServerId, description: ServerDescription, deps: Deps) {
    this.#current = id;
    this.#description = description;
    this.#published = description.agentAddresses;
    this.#deps = deps;
  }

  get id(): ServerId {
    return this.#current;
  }

  /** The servers of this database that live, this one included, as of the last look. */
  get liveCount(): number {
    return 1 + this.#others.filter(({ isStopped }) => !isStopped).length;
  }

  /** Agents' addresses of this server, and those of all live servers. */
  readonly agentAddresses = {
    own: () => this.#description.agentAddresses,
    all: () => this.#published,
  };

  /** Publishes, with the next beat, the addresses at which other servers and agents reach this one. */
  listensAt(address: string, agentAddresses = this.#description.agentAddresses): void {
    this.#description = { ...this.#description, address, agentAddresses };
    this.#publish(this.#others);
  }

  /** The loops that write this server's beat and remove dead servers. */
  loops(ports: ServerPorts, wake: (name: string) => void): readonly Loop[] {
    return [
      {
        name: SAY_ALIVE_LOOP,
        description: "Writes this server's beat to the database, and watches the beats of the others.",
        everyMs: BEAT_EVERY_MS,
        run: async () => {
          await this.#sayAlive(ports);
          await this.#look();
          if (this.#dead.length > 0) wake(REAP_LOOP);
          return { others: this.#watch.seen.size, dead: this.#dead.length };
        },
      },
      {
        name: REAP_LOOP,
        description: "Ends the connections that dead servers had, so that their machines count as away.",
        everyMs: 60_000,
        run: () => this.#reap(ports),
      },
    ];
  }

  /** The other servers that have neither stopped nor been found dead. */
  async listOthers(): Promise<readonly ServerId[]> {
    const beats = await listOtherBeats(this.#deps.database.kysely, this.#current);
    const deadIds = new Set(this.#dead.map(({ id }) => id));
    return beats.filter(({ id, isStopped }) => !isStopped && !deadIds.has(id)).map(({ id }) => id);
  }

  /** Notes that this server stops, so that the others need not wait for its silence. */
  async stop(): Promise<void> {
    const { database, clock } = this.#deps;
    await withTransaction(database, clock, (tx) => markStopped(tx, this.#current));
  }

  async #sayAlive({ reclaim }: ServerPorts): Promise<void> {
    const { database, clock, log } = this.#deps;
    const { id, isNew } = await withTransaction(database, clock, async (tx) => {
      if (await beat(tx, this.#current, this.#description)) return { id: this.#current, isNew: false };
      return { id: await insertServer(tx, this.#description), isNew: true };
    });
    this.#current = id;
    if (!isNew) return;
    log.warn({ server_id: id }, "other servers took this one for dead; it takes its connections back");
    await withTransaction(database, clock, reclaim);
  }

  async #look(): Promise<void> {
    const { database, clock } = this.#deps;
    const beats = await listOtherBeats(database.kysely, this.#current);
    const { watch, dead } = watchBeats(this.#watch, beats, clock.monotonicMs());
    this.#watch = watch;
    this.#dead = dead;
    const deadIds = new Set(dead.map(({ id }) => id));
    this.#publish(beats.filter(({ id }) => !deadIds.has(id)));
  }

  /** Keeps the same array while the addresses are unchanged: an agent that was told this array is not told again. */
  #publish(others: readonly OtherServer[]): void {
    this.#others = others;
    const own = this.#description.agentAddresses;
    const all = [...new Set([...own, ...others.flatMap(({ agentAddresses }) => agentAddresses)])];
    const now = all.slice(0, SERVER_ADDRESSES_MAX);
    if (now.join("\n") !== this.#published.join("\n")) this.#published = now;
  }

  async #reap({ release, releaseUnowned }: ServerPorts): Promise<LoopStatus> {
    const { database, clock, log } = this.#deps;
    let [servers, machines] = [0, 0];
    for (const found of this.#dead) {
      const released = await withTransaction(database, clock, async (tx) => {
        if (!(await lockDeadServer(tx, found))) return undefined;
        const count = await release(tx, [found.id]);
        await deleteServers(tx, [found.id]);
        return count;
      });
      if (released === undefined) continue;
      servers += 1;
      machines += released;
      if (!found.isStopped) log.warn({ server_id: found.id, machines: released }, "a server of this database is dead");
    }
    const unowned = await withTransaction(database, clock, releaseUnowned);
    return { servers, machines, unowned };
  }
}
