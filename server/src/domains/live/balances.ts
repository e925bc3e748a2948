import type { Log } from "../../base/log.ts";
import type { UserId } from "../../base/ids.ts";
import { toDollars } from "../../base/money.ts";
import type { Database } from "../../db/connect.ts";
import type { Reader } from "../../db/transaction.ts";
import { stateFrame } from "./rules/frames.ts";
import type { LiveStream } from "./stream.ts";

/** Credit as it is booked, in nano-dollars. */
export type BookedBalance = { readonly balance: bigint; readonly held: bigint };

type BalancePorts = {
  readonly database: Database;
  readonly log: Log;
  readonly balancesOf: (db: Reader, userIds: readonly UserId[]) => Promise<ReadonlyMap<UserId, BookedBalance>>;
};

/** Tells booked balances that changed since they were told, from one statement for all accounts. */
export class Balances {
  readonly #ports: BalancePorts;
  readonly #told = new Map<UserId, string>();
  #telling: Promise<void> | undefined;

  constructor(ports: BalancePorts) {
    this.#ports = ports;
  }

  /** Tells new balances to these streams, and to each new one its first. */
  tell(streams: readonly LiveStream[]): Promise<void> {
    this.#telling ??= this.#tell(streams)
      .catch((error: unknown) =>
        this.#ports.log.warn({ err: error }, "balances could not be read; their events are late"),
      )
      .finally(() => {
        this.#telling = undefined;
      });
    return this.#telling;
  }

  async idle(): Promise<void> {
    await this.#telling;
  }

  forget(userId: UserId): void {
    this.#told.delete(userId);
  }

  async #tell(streams: readonly LiveStream[]): Promise<void> {
    const listening = streams.filter((stream) => stream.sees("balance", stream.follower.identity.userId));
    const streamsOf = Map.groupBy(listening, ({ follower }) => follower.identity.userId);
    if (streamsOf.size === 0) return;
    const balances = await this.#ports.balancesOf(this.#ports.database.kysely, [...streamsOf.keys()]);
    for (const [userId, own] of streamsOf) {
      const { balance, held } = balances.get(userId) ?? { balance: 0n, held: 0n };
      const facts = { booked: toDollars(balance), held: toDollars(held) };
      const frame = stateFrame("balance", { id: userId, change: "changed", ...facts });
      const isNew = this.#told.get(userId) !== frame;
      this.#told.set(userId, frame);
      for (const stream of own) {
        if (isNew || !stream.hasBalance) stream.send(frame);
        stream.hasBalance = true;
      }
    }
  }
}
