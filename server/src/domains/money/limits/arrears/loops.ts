import type { Clock } from "../../../../base/clock.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import type { Loop } from "../../../../base/loop-driver.ts";
import { listRenters } from "../../../rental/instances/for-limits.ts";
import { listReachedCaps } from "../../ledger/for-limits.ts";
import { listVolumeOwners } from "../../../supply/volumes/for-limits.ts";
import { enterCapArrears, followCapArrears, type CapStep } from "./capped-service.ts";
import { listOpenAmong, listOpenCapIds } from "./capped-store.ts";
import { chargeNow, enterArrears, followArrears, watchCredit, type Step } from "./service.ts";
import { listOpenArrears } from "./store.ts";

const USERS_PER_PAGE = 1000;
const CAPS_PER_PAGE = 1000;

type Deps = { readonly database: Database; readonly clock: Clock };

/** Loops that warn accounts whose credit runs out, and follow their arrears. */
export function arrearsLoops({ database, clock }: Deps): readonly Loop[] {
  return [
    {
      name: "watch-credit",
      description: "Tells users that their credit runs out, and keeps the data of those who have none left.",
      everyMs: 60_000,
      run: () => watchAll({ database, clock }),
    },
    {
      name: "follow-arrears",
      description: "Reminds accounts in arrears, ends arrears that were paid, and deletes data as announced.",
      everyMs: 30_000,
      run: () => followAll({ database, clock }),
    },
    {
      name: "watch-capped-storage",
      description: "States how long data is kept when a cap leaves nothing for its storage.",
      everyMs: 60_000,
      run: () => watchCaps({ database, clock }),
    },
    {
      name: "follow-capped-storage",
      description:
        "Reminds of data for whose storage a cap leaves nothing, ends these arrears when the cap allows, and deletes data as announced.",
      everyMs: 30_000,
      run: () => followCaps({ database, clock }),
    },
  ];
}

async function watchAll({ database, clock }: Deps) {
  let [told, entered] = [0, 0];
  for (let afterId = 0; ;) {
    const users = await listUsers(database, afterId);
    const { toldCount, suspects } = await withTransaction(database, clock, (tx) => watchCredit(tx, users));
    told += toldCount;
    for (const userId of suspects) {
      if (!(await withTransaction(database, clock, (tx) => enterArrears(tx, userId)))) continue;
      entered += 1;
      await withTransaction(database, clock, (tx) => chargeNow(tx, userId));
    }
    const last = users.at(-1);
    if (last === undefined || users.length < USERS_PER_PAGE) return { told, entered };
    afterId = last;
  }
}

/** Users with anything that may cost, in pages by id. */
async function listUsers({ kysely: db }: Database, afterId: number): Promise<readonly UserId[]> {
  const [renters, owners] = await Promise.all([
    listRenters(db, afterId, USERS_PER_PAGE),
    listVolumeOwners(db, afterId, USERS_PER_PAGE),
  ]);
  return [...new Set([...renters, ...owners])].toSorted((a, b) => a - b).slice(0, USERS_PER_PAGE);
}

async function followAll({ database, clock }: Deps) {
  const counts: Record<Step, number> = { paid: 0, reminded: 0, waiting: 0, deleting: 0, deleted: 0, over: 0 };
  for (let afterId = 0; ;) {
    const page = await listOpenArrears(database.kysely, afterId, USERS_PER_PAGE);
    for (const { userId } of page) {
      counts[await withTransaction(database, clock, (tx) => followArrears(tx, userId))] += 1;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < USERS_PER_PAGE) return counts;
    afterId = last.userId;
  }
}

async function watchCaps({ database, clock }: Deps) {
  let entered = 0;
  for (let afterId = 0; ;) {
    const caps = await listReachedCaps(database.kysely, clock.now(), { afterId, limit: CAPS_PER_PAGE });
    const open = await listOpenAmong(
      database.kysely,
      caps.map(({ id }) => id),
    );
    for (const cap of caps) {
      if (open.has(cap.id)) continue;
      if (await withTransaction(database, clock, (tx) => enterCapArrears(tx, cap))) entered += 1;
    }
    const last = caps.at(-1);
    if (last === undefined || caps.length < CAPS_PER_PAGE) return { entered };
    afterId = last.id;
  }
}

async function followCaps({ database, clock }: Deps) {
  const counts: Record<CapStep, number> = { lifted: 0, reminded: 0, waiting: 0, deleting: 0, deleted: 0, over: 0 };
  for (let afterId = 0; ;) {
    const page = await listOpenCapIds(database.kysely, afterId, CAPS_PER_PAGE);
    for (const capId of page) counts[await withTransaction(database, clock, (tx) => followCapArrears(tx, capId))] += 1;
    const last = page.at(-1);
    if (last === undefined || page.length < CAPS_PER_PAGE) return counts;
    afterId = last;
  }
}
