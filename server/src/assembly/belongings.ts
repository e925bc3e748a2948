import type { UserId } from "../base/ids.ts";
import type { Reader } from "../db/transaction.ts";
import { countMachinesOf } from "../domains/supply/hosts/for-assembly.ts";
import { countInstancesOf } from "../domains/rental/instances/for-assembly.ts";
import { balanceOf, prepaidBalanceOf } from "../domains/money/ledger/index.ts";
import { accruedOf } from "../domains/money/charging/index.ts";
import { countOpenPayoutsOf, readPaymentSummary } from "../domains/money/payments/for-assembly.ts";
import { countEndpointGroupsOf } from "../domains/serverless/index.ts";
import { countStorageOf } from "../domains/supply/volumes/for-assembly.ts";
import { countOpenRequestsOf } from "../domains/rental/queue/index.ts";

/** The account's belongings besides credit, in words: each must be gone before the account can be deleted. */
export async function listBelongings(db: Reader, now: Date, userId: UserId): Promise<readonly string[]> {
  const instances = await countInstancesOf(db, userId);
  const { volumes, networkDisks } = await countStorageOf(db, userId);
  const { machines, credentials, joinTokens } = await countMachinesOf(db, now, userId);
  const requests = await countOpenRequestsOf(db, userId);
  const endpointGroups = await countEndpointGroupsOf(db, userId);
  const { balance: earned } = await balanceOf(db, userId, "earnings");
  const { balance: credit } = await balanceOf(db, userId);
  const prepaid = await prepaidBalanceOf(db, userId);
  const openPayouts = await countOpenPayoutsOf(db, userId);
  const { last4 } = await readPaymentSummary(db, userId);
  const accrued = await accruedOf(db, now, userId);
  return [
    ...counted(instances, "instance"),
    ...counted(volumes, "volume"),
    ...counted(networkDisks, "network disk"),
    ...counted(machines, "machine"),
    // The credential of a machine goes with it: those without one are named only where no machine is.
    ...counted(machines > 0 ? 0 : credentials, "host credential"),
    ...counted(joinTokens, "join token"),
    ...counted(requests, "standing request"),
    ...counted(endpointGroups, "endpoint group"),
    ...counted(openPayouts, "payout"),
    ...(last4 === undefined ? [] : [`a saved card that ends in ${last4}`]),
    ...(earned === 0n ? [] : ["earnings that are not paid out"]),
    ...(prepaid === credit ? [] : ["deposits that are not returned"]),
    ...(accrued === 0n ? [] : ["usage that is not charged yet"]),
  ];
}

function counted(count: number, noun: string): readonly string[] {
  if (count === 0) return [];
  return [`${count} ${noun}${count === 1 ? "" : "s"}`];
}
