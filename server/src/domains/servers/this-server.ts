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

/** What the rest of the server does when servers come and go. */
export type ServerPorts = {
  /** Ends the connections that a dead server had, in the transaction that removes it; returns of how many machines. */
  readonly release: (tx: Tx, ids: readonly ServerId[]) => Promise<number>;
  /** Ends connections that no server has; returns of how many machines. */
  readonly releaseUnowned: (tx: Tx) => Promise<number>;
  /** Takes the connections that are open here for this server, which was taken for dead and has a new id. */
  readonly reclaim: (tx: Tx) => Promise<void>;
};

export const SAY_ALIVE_LOOP = "say-alive";
const REAP_LOOP = "remove-dead-servers";

/** This process among the servers of its database. */
export class ThisServer {
  private current: ServerId;
  private description: ServerDescription;
  private readonly deps: Deps;
  private watch: Watch = FIRST_WATCH;
  private dead: readonly Beat[] = [];
  /** The other servers that live, as of the last look. */
  private others: readonly OtherServer[] = [];
  /** What agents are told. */
  private published: readonly string[];

  constructor(id: ServerId, description: ServerDescription, deps: Deps) {
    this.current = id;
    this.description = description;
    this.published = description.agentAddresses;
    this.deps = deps;
  }

  get id(): ServerId {
    return this.current;
  }

  /** Where agents reach this server, and all that live. */
  readonly agentAddresses = {
    own: () => this.description.agentAddresses,
    all: () => this.published,
  };

  /** Tells the other servers with the next beat where this one is reached, and where agents reach it. */
  listensAt(address: string, agentAddresses = this.description.agentAddresses): void {
    this.description = { ...this.description, address, agentAddresses };
    this.publish(this.others);
  }

  /** The loops that say that this server lives and that remove those which do not. */
  loops(ports: ServerPorts, wake: (name: string) => void): readonly Loop[] {
    return [
      {
        name: SAY_ALIVE_LOOP,
        description: "Tells the other servers of this database that this one lives, and watches them.",
        everyMs: BEAT_EVERY_MS,
        run: async () => {
          await this.sayAlive(ports);
          await this.look();
          if (this.dead.length > 0) wake(REAP_LOOP);
          return { others: this.watch.seen.size, dead: this.dead.length };
        },
      },
      {
        name: REAP_LOOP,
        description: "Ends the connections that dead servers had, so that their machines count as away.",
        everyMs: 60_000,
        run: () => this.reap(ports),
      },
    ];
  }

  /** Notes that this server stops: the others need not wait until it has been silent for long enough. */
  async stop(): Promise<void> {
    const { database, clock } = this.deps;
    await withTransaction(database, clock, (tx) => markStopped(tx, this.current));
  }

  private async sayAlive({ reclaim }: ServerPorts): Promise<void> {
    const { database, clock, log } = this.deps;
    const { id, isNew } = await withTransaction(database, clock, async (tx) => {
      if (await beat(tx, this.current, this.description)) return { id: this.current, isNew: false };
      return { id: await insertServer(tx, this.description), isNew: true };
    });
    this.current = id;
    if (!isNew) return;
    log.warn({ server_id: id }, "other servers took this one for dead; it takes its connections back");
    await withTransaction(database, clock, reclaim);
  }

  private async look(): Promise<void> {
    const { database, clock } = this.deps;
    const beats = await listOtherBeats(database.kysely, this.current);
    const { watch, dead } = watchBeats(this.watch, beats, clock.monotonicMs());
    this.watch = watch;
    this.dead = dead;
    const deadIds = new Set(dead.map(({ id }) => id));
    this.publish(beats.filter(({ id }) => !deadIds.has(id)));
  }

  /** The same list goes on while nothing in it changes: whoever was told it is told no more. */
  private publish(others: readonly OtherServer[]): void {
    this.others = others;
    const own = this.description.agentAddresses;
    const all = [...new Set([...own, ...others.flatMap(({ agentAddresses }) => agentAddresses)])];
    const now = all.slice(0, SERVER_ADDRESSES_MAX);
    if (now.join("\n") !== this.published.join("\n")) this.published = now;
  }

  private async reap({ release, releaseUnowned }: ServerPorts): Promise<LoopStatus> {
    const { database, clock, log } = this.deps;
    let [servers, machines] = [0, 0];
    for (const found of this.dead) {
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
