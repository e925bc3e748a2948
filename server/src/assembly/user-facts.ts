import type { Clock } from "../base/clock.ts";
import { invariant } from "../base/invariant.ts";
import { readBalances } from "../domains/money/charging/for-assembly.ts";
import { readPaymentSummaries } from "../domains/money/payments/for-assembly.ts";
import type { ReadUserFacts } from "../domains/people/accounts/for-assembly.ts";
import { listHostsAmong } from "../domains/supply/hosts/for-assembly.ts";

/** Reads money, payments and hosting of users, for the records of their accounts. */
export function userFactsReader(clock: Clock): ReadUserFacts {
  return async (db, userIds) => {
    const balances = await readBalances(db, clock.now(), userIds);
    const payments = await readPaymentSummaries(db, userIds);
    const hosts = await listHostsAmong(db, userIds);
    return userIds.map((userId) => {
      const balance = balances.get(userId);
      invariant(balance !== undefined, `user ${userId} has a balance`);
      return {
        ...{ userId, balance, isHost: hosts.has(userId) },
        payments: payments.get(userId) ?? { last4: undefined, hasPayoutMethod: false },
      };
    });
  };
}
