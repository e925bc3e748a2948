import { randomBytes } from "node:crypto";
import type { Clock } from "../../server/src/base/clock.ts";
import { createEncryption, type Encryption } from "../../server/src/base/encryption.ts";
import type { UserId } from "../../server/src/base/ids.ts";
import { nanos, ZERO, type Nanos } from "../../server/src/base/money.ts";
import type { Database } from "../../server/src/db/connect.ts";
import { accountRoutes } from "../../server/src/domains/people/accounts/for-assembly.ts";
import type { QueueMail } from "../../server/src/domains/notifications/index.ts";
import { testHttp, type TestHttp } from "./network/http.ts";

/** Account routes over a test database. Money is a map: the ledger is another domain's. */
export async function accountsHttp(
  database: Database,
  {
    encryption,
    queueMail,
    isSignupOpen = true,
    ...options
  }: {
    readonly clock?: Clock;
    readonly encryption?: Encryption;
    readonly queueMail?: QueueMail;
    readonly isSignupOpen?: boolean;
  } = {},
): Promise<TestHttp & { readonly credit: Map<UserId, Nanos> }> {
  const credit = new Map<UserId, Nanos>();
  const http = await testHttp(
    database,
    (scope, { identities, ipHistory }) =>
      accountRoutes(scope, {
        identities,
        ipHistory,
        actLog: { flush: async () => ({ written: 0 }) },
        random: randomBytes,
        queueMail,
        isSignupOpen,
        encryption: encryption ?? createEncryption(randomBytes(32), randomBytes),
        refuseNewKeys: async () => {},
        factsOf: async (_db, userIds) =>
          userIds.map((userId) => {
            const balance = credit.get(userId) ?? ZERO;
            return {
              userId,
              balance: { balanceNanos: balance, availableNanos: balance },
              payments: { last4: undefined, hasPayoutMethod: false },
              isHost: false,
            };
          }),
        grantCredit: async (_tx, { userId, amount }) => {
          credit.set(userId, nanos((credit.get(userId) ?? 0n) + amount));
        },
      }),
    options,
  );
  return { ...http, credit };
}
