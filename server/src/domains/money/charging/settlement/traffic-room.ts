import type { InstanceId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import {
  listTrafficAccounts,
  noteTraffic,
  trafficLeft,
  type TrafficUse,
} from "../../../rental/instances/for-charging.ts";
import { readTrafficRules } from "../../../supply/hosts/index.ts";
import { lineAmount } from "../lines/lines.ts";
import type { PaidLine, TrafficRoom } from "./payment.ts";
import type { Item } from "./item.ts";

const isTraffic = (component: string) => component === "bwu" || component === "bwd";

type Rooms = ReadonlyMap<InstanceId, TrafficRoom & { readonly ranMs: bigint }>;

/** The amounts that the traffic of these instances may still cost, for instances with traffic to pay. */
export class TrafficRooms {
  readonly #rooms: Rooms;
  readonly #uses: TrafficUse[] = [];

  private constructor(rooms: Rooms) {
    this.#rooms = rooms;
  }

  /** Reads the rooms; the caller holds the locks of the instances. */
  static async open(tx: Tx, items: readonly Item[]): Promise<TrafficRooms> {
    const busy = items.filter(({ bill }) => bill.lines.some(({ component }) => isTraffic(component)));
    if (busy.length === 0) return new TrafficRooms(new Map());
    const rules = await readTrafficRules(tx.db);
    const prices = new Map(busy.map(({ facts }) => [facts.instance.id, facts.instance.terms.priceNanosPerHour]));
    const accounts = await listTrafficAccounts(tx.db, [...prices.keys()]);
    return new TrafficRooms(
      new Map(
        accounts.map((account) => {
          const { id, ranMs } = account;
          return [
            id,
            { leftNanos: trafficLeft(account, { priceNanosPerHour: prices.get(id) ?? 0n, ranMs, rules }), ranMs },
          ];
        }),
      ),
    );
  }

  /** The room of an instance; undefined when it has no traffic to pay. */
  of(id: InstanceId): TrafficRoom | undefined {
    return this.#rooms.get(id);
  }

  /** Records the paid charge lines of an instance, which used up its room. */
  note(id: InstanceId, paid: readonly PaidLine[]): void {
    const room = this.#rooms.get(id);
    if (room === undefined) return;
    const lines = paid.filter(({ component }) => isTraffic(component));
    const paidNanos = lines.reduce((sum, line) => sum + line.amountNanos, 0n);
    const dueNanos = lines.reduce((sum, line) => sum + lineAmount(line), 0n);
    const isReached = room.leftNanos === 0n && dueNanos > paidNanos;
    this.#uses.push({ id, paidNanos, leftNanos: room.leftNanos, ranMs: room.ranMs, isReached });
  }

  /** Stores all recorded traffic; returns the instances that have reached their limits. */
  async store(tx: Tx): Promise<readonly InstanceId[]> {
    await noteTraffic(tx, this.#uses);
    return this.#uses.flatMap(({ id, isReached }) => (isReached ? [id] : []));
  }
}
