import type { Clock } from "../base/clock.ts";
import type { Database } from "../db/connect.ts";
import { IP_HISTORY_FLUSH_MS, type IpHistory } from "../domains/accounts/index.ts";
import { contractLoops } from "../domains/contracts/index.ts";
import { defaultJobLoop, rollListingsLoop } from "../domains/hosting/index.ts";
import { hostLoops, notifyMarket } from "../domains/hosts/index.ts";
import { destroyIfPresent, instanceLoops } from "../domains/instances/index.ts";
import { ledgerLoops } from "../domains/ledger/index.ts";
import { meteringLoops } from "../domains/metering/index.ts";
import { retryWorkerRemoval } from "../domains/serverless/index.ts";
import { statisticsLoops } from "../domains/statistics/index.ts";
import { taskLoops } from "../domains/tasks/index.ts";
import { volumeLoops } from "../domains/volumes/index.ts";
import { matchLoop, waitlistLoops, type Matcher } from "../domains/waitlist/index.ts";
import { idempotencyLoop } from "../process/idempotency-loop.ts";
import { proxyLoop } from "../process/proxy-loop.ts";
import type { PortProxy } from "../proxy/port-proxy.ts";
import type { Loop } from "./driver.ts";

/** Every background loop of the server, in one list. */
export function listLoops(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  {
    ipHistory,
    proxy,
    matcher,
  }: {
    readonly ipHistory: IpHistory;
    readonly proxy: PortProxy;
    readonly matcher: Matcher;
  },
): readonly Loop[] {
  return [
    {
      name: "write-ip-history",
      description: "Writes the addresses that requests came from.",
      everyMs: IP_HISTORY_FLUSH_MS,
      run: () => ipHistory.flush(),
    },
    {
      name: "retry-worker-removal",
      description: "Tries again to remove workers of deleted endpoint groups.",
      everyMs: 5_000,
      run: () =>
        retryWorkerRemoval({ database, clock, destroyInstance: destroyIfPresent, maxPerRun: 100 }, clock.now()),
    },
    ...hostLoops({ database, clock, notifyMarket }),
    ...instanceLoops({ database, clock }),
    ...meteringLoops({ database, clock }),
    ...ledgerLoops({ database, clock }),
    defaultJobLoop({ database, clock }),
    rollListingsLoop({ database, clock }),
    ...contractLoops({ database, clock }),
    ...taskLoops({ database, clock }),
    ...volumeLoops({ database, clock }),
    idempotencyLoop({ database, clock }),
    proxyLoop({ database, proxy }),
    ...statisticsLoops({ database, clock }),
    matchLoop(matcher),
    ...waitlistLoops({ database, clock }),
  ];
}
