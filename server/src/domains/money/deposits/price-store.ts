import { sql } from "kysely";
import { asId, type InstanceId, type MachineId, type PriceIncreaseId, type UserId } from "../../../base/ids.ts";
import { nanos } from "../../../base/money.ts";
import { insertRows } from "../../../db/insert-rows.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { endsBefore, isOnMachine, openRentalsOf, type Prices } from "../../rental/instances/for-deposits.ts";
import { agreedPrices } from "./rules/price-increase.ts";

type PriceColumns = {
  readonly price_nanos_per_hour: bigint;
  readonly storage_nanos_per_gb_month: bigint;
  readonly inet_up_nanos_per_gb: bigint;
  readonly inet_down_nanos_per_gb: bigint;
};

function toPrices(row: PriceColumns): Prices {
  return {
    priceNanosPerHour: nanos(row.price_nanos_per_hour),
    storageNanosPerGbMonth: nanos(row.storage_nanos_per_gb_month),
    inetUpNanosPerGb: nanos(row.inet_up_nanos_per_gb),
    inetDownNanosPerGb: nanos(row.inet_down_nanos_per_gb),
  };
}

function toColumns(prices: Prices): PriceColumns {
  return {
    price_nanos_per_hour: prices.priceNanosPerHour,
    storage_nanos_per_gb_month: prices.storageNanosPerGbMonth,
    inet_up_nanos_per_gb: prices.inetUpNanosPerGb,
    inet_down_nanos_per_gb: prices.inetDownNanosPerGb,
  };
}

export type NewIncrease = {
  readonly instanceId: InstanceId;
  readonly hostId: UserId;
  readonly prices: Prices;
  readonly endAt: Date;
};

/** Replaces all pending price increases of a machine's rentals by new ones. The caller holds the machine's lock. */
export async function replaceIncreases(tx: Tx, machineId: MachineId, increases: readonly NewIncrease[]): Promise<void> {
  await sql`
    delete from pending_price_increases as pending where ${isOnMachine(sql`pending.instance_id`, machineId)}
  `.execute(tx.db);
  if (increases.length === 0) return;
  await insertRows(
    tx,
    "pending_price_increases",
    increases.map(({ instanceId, hostId, prices, endAt }) => ({
      instance_id: instanceId,
      host_id: hostId,
      ...toColumns(prices),
      end_at: endAt,
      created_at: tx.now,
    })),
  );
}

export type PendingIncrease = NewIncrease & {
  readonly id: PriceIncreaseId;
  readonly deviceCount: number;
  /** The prices until the present end of the rental. */
  readonly oldPrices: Prices;
  readonly contractEndAt: Date;
  readonly createdAt: Date;
};

type IncreaseRow = PriceColumns & {
  readonly id: PriceIncreaseId;
  readonly instance_id: InstanceId;
  readonly host_id: UserId;
  readonly end_at: Date;
  readonly created_at: Date;
  readonly device_count: number;
  readonly contract_end_at: Date;
  readonly is_bid: boolean;
  readonly price_now: bigint;
  readonly old_price: bigint;
  readonly old_storage: bigint;
  readonly old_inet_up: bigint;
  readonly old_inet_down: bigint;
};

/** The pending price increases of a renter, oldest first, without those that can no longer be accepted. */
export async function listIncreases(
  db: Reader,
  userId: UserId,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<readonly PendingIncrease[]> {
  const { rows } = await sql<IncreaseRow>`
    select pending.*, rental.device_count, rental.end_at as contract_end_at,
      rental.is_bid, rental.price_nanos_per_hour as price_now,
      coalesce(last.price_nanos_per_hour, rental.price_nanos_per_hour) as old_price,
      coalesce(last.storage_nanos_per_gb_month, rental.storage_nanos_per_gb_month) as old_storage,
      coalesce(last.inet_up_nanos_per_gb, rental.inet_up_nanos_per_gb) as old_inet_up,
      coalesce(last.inet_down_nanos_per_gb, rental.inet_down_nanos_per_gb) as old_inet_down
    from ${openRentalsOf(userId)} as rental
    join pending_price_increases as pending on pending.instance_id = rental.id
    left join lateral (
      select * from price_changes
      where instance_id = rental.id and applied_at is null
      order by starts_at desc limit 1
    ) as last on true
    where pending.end_at > ${now}::timestamptz and pending.end_at > rental.end_at
    order by pending.id
    limit ${limit}
  `.execute(db);
  return rows.map((row) => {
    const rental = { isBid: row.is_bid, priceNanosPerHour: nanos(row.price_now) };
    return {
      id: row.id,
      instanceId: row.instance_id,
      hostId: row.host_id,
      prices: agreedPrices(rental, toPrices(row)),
      endAt: row.end_at,
      createdAt: row.created_at,
      deviceCount: row.device_count,
      contractEndAt: row.contract_end_at,
      oldPrices: agreedPrices(rental, {
        priceNanosPerHour: nanos(row.old_price),
        storageNanosPerGbMonth: nanos(row.old_storage),
        inetUpNanosPerGb: nanos(row.old_inet_up),
        inetDownNanosPerGb: nanos(row.old_inet_down),
      }),
    };
  });
}

/** The pending price increase of an instance, without a lock. */
export async function findIncreaseOf(db: Reader, instanceId: InstanceId): Promise<PriceIncreaseId | undefined> {
  const row = await db
    .selectFrom("pending_price_increases")
    .select("id")
    .where("instance_id", "=", instanceId)
    .executeTakeFirst();
  return row && asId<PriceIncreaseId>(row.id);
}

/** The instance of a price increase, without a lock. */
export async function findIncreaseInstance(db: Reader, id: PriceIncreaseId): Promise<InstanceId | undefined> {
  const row = await db
    .selectFrom("pending_price_increases")
    .select("instance_id")
    .where("id", "=", id)
    .executeTakeFirst();
  return row?.instance_id;
}

/**
 * Deletes a price increase and returns it; undefined when it is not pending any more. The caller holds the lock of its
 * instance.
 */
export async function takeIncrease(
  tx: Tx,
  id: PriceIncreaseId,
): Promise<{ readonly prices: Prices; readonly endAt: Date } | undefined> {
  const row = await tx.db.deleteFrom("pending_price_increases").where("id", "=", id).returningAll().executeTakeFirst();
  return row && { prices: toPrices(row), endAt: row.end_at };
}

/**
 * Deletes price increases that can no longer be accepted, because their rental or their time is over. Rows that another
 * transaction has locked are skipped, since the locks of the machines are not held here.
 */
export async function dropStaleIncreases(tx: Tx, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from pending_price_increases where id in (
      select pending.id from pending_price_increases as pending
      where pending.end_at <= ${tx.now}::timestamptz
        or not ${endsBefore(sql`pending.instance_id`, sql`pending.end_at`)}
      limit ${limit}
      for update of pending skip locked
    )
  `.execute(tx.db);
  return Number(numAffectedRows ?? 0n);
}

export async function insertChange(
  tx: Tx,
  { instanceId, startsAt, prices }: { instanceId: InstanceId; startsAt: Date; prices: Prices },
): Promise<void> {
  await tx.db
    .insertInto("price_changes")
    .values({ instance_id: instanceId, starts_at: startsAt, ...toColumns(prices), accepted_at: tx.now })
    .execute();
}

/** The next change of a rental's price; undefined when none is agreed. */
export async function findNextChange(db: Reader, instanceId: InstanceId): Promise<Date | undefined> {
  const row = await db
    .selectFrom("price_changes")
    .select("starts_at")
    .where("instance_id", "=", instanceId)
    .where("applied_at", "is", null)
    .orderBy("starts_at")
    .limit(1)
    .executeTakeFirst();
  return row?.starts_at;
}

/** The last prices that renters have accepted and that do not hold yet. */
export async function listLastChanges(
  db: Reader,
  instanceIds: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, Prices>> {
  const rows = await db
    .selectFrom("price_changes")
    .selectAll()
    .where("instance_id", "=", sql<InstanceId>`any(${instanceIds}::integer[])`)
    .where("applied_at", "is", null)
    .orderBy("starts_at")
    .execute();
  return new Map(rows.map((row) => [row.instance_id, toPrices(row)]));
}

/** Rentals with a change of price that is due. */
export async function listDueChanges(db: Reader, now: Date, limit: number): Promise<readonly InstanceId[]> {
  const rows = await db
    .selectFrom("price_changes")
    .select("instance_id")
    .where("starts_at", "<=", now)
    .where("applied_at", "is", null)
    .orderBy("starts_at")
    .limit(limit)
    .execute();
  return [...new Set(rows.map((row) => row.instance_id))];
}

/** Marks the due changes of a rental as done, and returns the prices of the last one. */
export async function takeDueChange(tx: Tx, instanceId: InstanceId): Promise<Prices | undefined> {
  const rows = await tx.db
    .updateTable("price_changes")
    .set({ applied_at: tx.now })
    .where("instance_id", "=", instanceId)
    .where("starts_at", "<=", tx.now)
    .where("applied_at", "is", null)
    .returningAll()
    .execute();
  const last = rows.toSorted((a, b) => a.starts_at.getTime() - b.starts_at.getTime()).at(-1);
  return last && toPrices(last);
}
