import { notFound } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { readBalance } from "../../money/charging/index.ts";
import { listMoneyOf, NO_MONEY, type UserMoney } from "../../money/ledger/for-administration.ts";
import { listOpenPayoutHolds } from "../../money/payments/index.ts";
import {
  countAccountParts,
  findAnyUser,
  listFreezesOf,
  searchUsers,
  type FoundUser,
  type UserSearch,
} from "../../people/accounts/for-administration.ts";
import { countInstancesOfEach } from "../../rental/instances/for-administration.ts";
import { countOpenRequestsOf } from "../../rental/queue/index.ts";
import { countEndpointGroupsOf } from "../../serverless/index.ts";
import { countMachinesOfEach, listFlags } from "../../supply/hosts/for-administration.ts";
import { countStorageOf } from "../../supply/volumes/for-administration.ts";

/** Freezes and flags of one account in its record. */
const ROWS_MAX = 50;

/** An account with its money in the ledger and the numbers of what it rents and hosts. */
export type AccountRow = {
  readonly user: FoundUser;
  readonly money: UserMoney;
  readonly instances: { readonly kept: number; readonly running: number };
  readonly machineCount: number;
};

/** Accounts that match a search, the newest first. */
export async function listAccounts(db: Reader, search: UserSearch): Promise<readonly AccountRow[]> {
  return withCounts(db, await searchUsers(db, search));
}

/** The record of one account for administrators, deleted accounts included. Throws `no_such_user`. */
export async function readAccount(db: Reader, now: Date, id: UserId) {
  const user = await findAnyUser(db, id);
  const [row] = user === undefined ? [] : await withCounts(db, [user]);
  if (row === undefined) throw notFound("no_such_user", `There is no account ${id}.`);
  return {
    ...row,
    balance: await readBalance(db, now, id),
    parts: await countAccountParts(db, now, id),
    storage: await countStorageOf(db, id),
    endpointCount: await countEndpointGroupsOf(db, id),
    requestCount: await countOpenRequestsOf(db, id),
    freezes: await listFreezesOf(db, id, ROWS_MAX),
    flags: await listFlags(db, { hostId: id, isOpen: true, limit: ROWS_MAX }),
    payoutHolds: await listOpenPayoutHolds(db, id),
  };
}
export type AccountRecord = Awaited<ReturnType<typeof readAccount>>;

async function withCounts(db: Reader, users: readonly FoundUser[]): Promise<readonly AccountRow[]> {
  const ids = users.map(({ id }) => id);
  const money = await listMoneyOf(db, ids);
  const instances = await countInstancesOfEach(db, ids);
  const machines = await countMachinesOfEach(db, ids);
  return users.map((user) => ({
    user,
    money: money.get(user.id) ?? NO_MONEY,
    instances: instances.get(user.id) ?? { kept: 0, running: 0 },
    machineCount: machines.get(user.id) ?? 0,
  }));
}
