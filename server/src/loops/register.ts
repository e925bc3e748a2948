import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Sealer } from "../base/seal.ts";
import type { Database } from "../db/connect.ts";
import { IP_HISTORY_FLUSH_MS, type IpHistory } from "../domains/accounts/index.ts";
import { billingLoops, moveCredit, type Seller } from "../domains/billing/index.ts";
import { arrearsLoops } from "../domains/arrears/index.ts";
import { capLoops } from "../domains/caps/index.ts";
import { contractLoops } from "../domains/contracts/index.ts";
import { creditNoticeLoop } from "../domains/billing/index.ts";
import { defaultJobLoop, hostingNoticeLoops, rollListingsLoop } from "../domains/hosting/index.ts";
import { hostLoops, notifyMarket, type AgentGateway } from "../domains/hosts/index.ts";
import { destroyIfPresent, instanceLoops } from "../domains/instances/index.ts";
import { ledgerLoops } from "../domains/ledger/index.ts";
import { chargeDayLoop, meteringLoops } from "../domains/metering/index.ts";
import { deliverLoop, noticeLoops, type Deliverer } from "../domains/notices/index.ts";
import { paymentLoops, type PaymentProvider } from "../domains/payments/index.ts";
import { reconciliationLoops } from "../domains/reconciliation/index.ts";
import {
  autoscaleLoops,
  deploymentLoops,
  retryWorkerRemoval,
  routerLoops,
  type Autoscaler,
  type Routers,
} from "../domains/serverless/index.ts";
import { statisticsLoops } from "../domains/statistics/index.ts";
import { taskLoops } from "../domains/tasks/index.ts";
import { teamLoops } from "../domains/teams/index.ts";
import { volumeLoops } from "../domains/volumes/index.ts";
import { matchLoop, waitlistLoops, type Matcher } from "../domains/waitlist/index.ts";
import { idempotencyLoop } from "../process/idempotency-loop.ts";
import { proxyLoop } from "../process/proxy-loop.ts";
import type { PortProxy } from "../proxy/port-proxy.ts";
import type { Loop } from "./driver.ts";

/** Every background loop of the server, in one list. */
export function listLoops(
  { database, clock, log }: { readonly database: Database; readonly clock: Clock; readonly log: Log },
  {
    ipHistory,
    gateway,
    proxy,
    matcher,
    routers,
    autoscaler,
    deliverer,
    provider,
    sealer,
    seller,
  }: {
    readonly ipHistory: IpHistory;
    readonly gateway: AgentGateway;
    readonly proxy: PortProxy;
    readonly matcher: Matcher;
    readonly routers: Routers;
    readonly autoscaler: Autoscaler;
    readonly deliverer: Deliverer;
    readonly provider: PaymentProvider;
    readonly sealer: Sealer;
    readonly seller: Seller;
  },
): readonly Loop[] {
  return [
    {
      name: "write-ip-history",
      description: "Writes the addresses that requests came from.",
      everyMs: IP_HISTORY_FLUSH_MS,
      run: () => ipHistory.flush(),
    },
    ...endpointLoops({ database, clock }, { routers, autoscaler }),
    ...hostLoops({ database, clock, notifyMarket }),
    ...instanceLoops({ database, clock }),
    ...meteringLoops({ database, clock }),
    chargeDayLoop({ database, clock }),
    ...billingLoops({ database, clock, seller }),
    ...arrearsLoops({ database, clock }),
    ...capLoops({ database, clock }),
    ...ledgerLoops({ database, clock }),
    defaultJobLoop({ database, clock }),
    rollListingsLoop({ database, clock }),
    ...hostingNoticeLoops({ database, clock }),
    creditNoticeLoop({ database, clock }),
    ...contractLoops({ database, clock }),
    ...taskLoops({ database, clock }),
    ...teamLoops({ database, clock, moveCredit }),
    ...volumeLoops({ database, clock }),
    idempotencyLoop({ database, clock }),
    proxyLoop({ database, proxy }),
    ...statisticsLoops({ database, clock }),
    matchLoop(matcher),
    ...waitlistLoops({ database, clock }),
    deliverLoop(deliverer),
    ...noticeLoops({ database, clock }),
    ...paymentLoops({ database, clock, log, provider, sealer }),
    ...reconciliationLoops({
      database,
      clock,
      log,
      inventories: () => gateway.inventories(),
      tellAgain: (machineIds) => gateway.push(machineIds),
    }),
  ];
}

/** Everything that goes on in endpoints without being asked. */
function endpointLoops(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  { routers, autoscaler }: { readonly routers: Routers; readonly autoscaler: Autoscaler },
): readonly Loop[] {
  return [
    {
      name: "retry-worker-removal",
      description: "Tries again to remove workers of deleted endpoint groups.",
      everyMs: 5_000,
      run: () =>
        retryWorkerRemoval({ database, clock, destroyInstance: destroyIfPresent, maxPerRun: 100 }, clock.now()),
    },
    ...routerLoops({ database, clock, routers }),
    ...autoscaleLoops({ database, clock, autoscaler }),
    ...deploymentLoops({ database, clock, destroyInstance: destroyIfPresent }),
  ];
}
