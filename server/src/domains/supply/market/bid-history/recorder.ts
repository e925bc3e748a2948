import type { Clock } from "../../../../base/clock.ts";
import type { Loop } from "../../../../base/loop-driver.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import type { OfferTable } from "../offer-table.ts";
import { machineKey, modelKey, readFloors, type Floors } from "./read-floors.ts";
import {
  deleteEarlierFloors,
  insertMachineFloors,
  insertModelFloors,
  keepWatching,
  listOpenMachineFloors,
  listOpenModelFloors,
} from "./store.ts";

const EVERY_MS = 30_000;
/** A longer silence is a time that nobody watched. */
const SILENCE_MAX_MS = 4 * EVERY_MS;
/** After its start a server waits for hosts to connect again: until then an empty market says nothing. */
const RECONNECTION_MS = 300_000;
const KEPT_MS = 8 * 86_400_000;
const DELETED_PER_RUN = 10_000;
const ROWS_PER_STATEMENT = 1_000;

/**
 * Stores the lowest bids that run, whenever they change. It reads the offers that this server keeps in memory, and
 * writes those that differ from what it saw last; the statement itself compares them with the last row, since another
 * server may have written it.
 */
export function bidFloorLoop({
  database,
  clock,
  offers,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly offers: OfferTable;
}): Loop {
  const startedMs = clock.monotonicMs();
  let seen: Floors | undefined;
  return {
    name: "record-bid-floors",
    description: "Stores the lowest bids that would run on each machine, whenever they change.",
    everyMs: EVERY_MS,
    run: async () => {
      const now = readFloors(offers.index, clock.now());
      if (now.machines.size === 0 && clock.monotonicMs() - startedMs < RECONNECTION_MS) return { stored: 0 };
      const status = await withTransaction(database, clock, (tx) => record(tx, now, seen));
      seen = now;
      return status;
    },
  };
}

async function record(tx: Tx, now: Floors, seen: Floors | undefined) {
  await keepWatching(tx, new Date(tx.now.getTime() - SILENCE_MAX_MS));
  const machines = [
    ...changed(now.machines, seen?.machines),
    ...gone(seen?.machines.values() ?? (await listOpenMachineFloors(tx.db)), (one) =>
      now.machines.has(machineKey(one)),
    ),
  ];
  const models = [
    ...changed(now.models, seen?.models),
    ...gone(seen?.models.values() ?? (await listOpenModelFloors(tx.db)), (one) => now.models.has(modelKey(one))),
  ];
  let stored = 0;
  for (let from = 0; from < machines.length; from += ROWS_PER_STATEMENT) {
    stored += await insertMachineFloors(tx, machines.slice(from, from + ROWS_PER_STATEMENT));
  }
  await insertModelFloors(tx, models);
  const forgotten = await deleteEarlierFloors(tx, new Date(tx.now.getTime() - KEPT_MS), DELETED_PER_RUN);
  return { stored, forgotten };
}

type Floor = { readonly floorNanos: bigint | undefined };

/** Floors that are not what was seen last. */
function changed<One extends Floor>(now: ReadonlyMap<string, One>, seen: ReadonlyMap<string, One> | undefined) {
  return [...now].filter(([key, one]) => seen?.get(key)?.floorNanos !== one.floorNanos).map(([, one]) => one);
}

/** Floors that ended, as floors that no bid reaches. */
function gone<One extends Floor>(before: Iterable<One>, isThere: (one: One) => boolean) {
  return [...before].filter((one) => !isThere(one)).map((one) => ({ ...one, floorNanos: undefined }));
}
