import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";
import type { Loop, LoopStatus } from "../../../base/loop-driver.ts";
import { endListings, listEndedListings } from "./terms/listing-end-store.ts";
import type { RentalsInSql } from "./presence/presence-store.ts";
import { COUNT_EVERY_MS } from "./presence/rules/presence.ts";
import { clearRests, deleteOldFacts, listRested } from "./starts/start-store.ts";
import { notifyMarket } from "./market-channel-store.ts";
import { lockMachines } from "./store.ts";
import { accruePresence, rateMachines, verifyMachines, type Page, type RefreshOffers } from "./trust/service.ts";

/** Machines that one transaction locks: rentals on these machines wait for its commit. */
const MACHINES_PER_PAGE = 1_000;
const ROWS_PER_RUN = 500;
/**
 * Three times the period from which reliability is computed, so that the source of a shown score can still be
 * inspected.
 */
const FACTS_KEPT_DAYS = 90;
const FACTS_PER_RUN = 20_000;
const DAY_MS = 86_400_000;

type Deps = {
  readonly database: Database;
  readonly clock: Clock;
  readonly refreshOffers: RefreshOffers;
  readonly rentals: RentalsInSql;
};

/** Loops that update presence, reliability and verification of machines, and end listings whose date has come. */
export function hostLoops(deps: Deps): readonly Loop[] {
  const { database, clock, refreshOffers, rentals } = deps;
  return [
    {
      name: "count-presence",
      description: "Counts how long machines were online, of the time that they should be.",
      everyMs: COUNT_EVERY_MS,
      run: async () => ({ machines: await withTransaction(database, clock, (tx) => accruePresence(tx, rentals)) }),
    },
    {
      name: "rate-machines",
      description: "Computes how reliable machines are, from their last 30 days.",
      everyMs: 600_000,
      run: () => eachPage(deps, rateMachines),
    },
    {
      name: "verify-machines",
      description:
        "Verifies machines that meet the requirements, and takes verification from those that do not any more.",
      everyMs: 600_000,
      run: () => eachPage(deps, (tx, page) => verifyMachines(tx, page, refreshOffers)),
    },
    {
      name: "forget-old-presence",
      description: "Deletes facts about reliability that are older than 90 days.",
      everyMs: 3_600_000,
      run: () =>
        withTransaction(database, clock, async (tx) => {
          const before = new Date(tx.now.getTime() - FACTS_KEPT_DAYS * DAY_MS);
          return { rows: await deleteOldFacts(tx, before, FACTS_PER_RUN) };
        }),
    },
    {
      name: "end-rests",
      description: "Returns machines to the market when their rest after failed starts is over.",
      everyMs: 10_000,
      run: () =>
        withTransaction(database, clock, async (tx) => {
          const ids = await listRested(tx.db, tx.now, ROWS_PER_RUN);
          if (ids.length === 0) return { machines: 0 };
          await lockMachines(tx, ids);
          const rested = await clearRests(tx, ids);
          await notifyMarket(tx, rested);
          return { machines: rested.length };
        }),
    },
    {
      name: "end-listings",
      description: "Takes machines off the market when their listing has ended.",
      everyMs: 30_000,
      run: () =>
        withTransaction(database, clock, async (tx) => {
          const ids = await listEndedListings(tx.db, tx.now, ROWS_PER_RUN);
          if (ids.length === 0) return { machines: 0 };
          await lockMachines(tx, ids);
          const ended = await endListings(tx, ids);
          await notifyMarket(tx, ended);
          return { machines: ended.length };
        }),
    },
  ];
}

type Work = (tx: Tx, page: { readonly afterId: number; readonly limit: number }) => Promise<Page>;

/** Runs over all machines in transactions of a bounded number of machines. */
async function eachPage({ database, clock }: Pick<Deps, "database" | "clock">, work: Work): Promise<LoopStatus> {
  let changed = 0;
  for (let afterId: number | undefined = 0; afterId !== undefined;) {
    const at = { afterId, limit: MACHINES_PER_PAGE };
    const page: Page = await withTransaction(database, clock, (tx) => work(tx, at));
    changed += page.changed;
    afterId = page.lastId;
  }
  return { changed };
}
