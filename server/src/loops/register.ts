import { hostname } from "node:os";
import type { Clock } from "../base/clock.ts";
import type { MachineId, ServerId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Sealer } from "../base/seal.ts";
import type { Database } from "../db/connect.ts";
import { IP_HISTORY_FLUSH_MS, type IpHistory } from "../domains/accounts/index.ts";
import { billingLoops, moveCredit, type Seller } from "../domains/billing/index.ts";
import { arrearsLoops } from "../domains/arrears/index.ts";
import { capLoops } from "../domains/caps/index.ts";
import { contractLoops } from "../domains/contracts/index.ts";
import { creditNoticeLoop } from "../domains/billing/index.ts";
import { defaultJobLoop, hostingNoticeLoops, lowerPricesLoop, rollListingsLoop } from "../domains/hosting/index.ts";
import { freezeLoops } from "../domains/freezes/index.ts";
import { hostLoops, notifyMarket, type AgentGateway, type OpenConnections } from "../domains/hosts/index.ts";
import { refreshOffers } from "../domains/market/index.ts";
import { destroyIfPresent, instanceLoops } from "../domains/instances/index.ts";
import { ledgerLoops } from "../domains/ledger/index.ts";
import { chargeDayLoop, meteringLoops } from "../domains/metering/index.ts";
import { noticeLoops } from "../domains/notices/index.ts";
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
import { payoutDoubtLoop } from "../process/payout-doubt-loop.ts";
import { lineProbeLoop } from "../process/line-probe-loop.ts";
import { proxiedTrafficLoop } from "../process/proxied-traffic-loop.ts";
import { proxyLoop } from "../process/proxy-loop.ts";
import { sealLoop } from "../process/seal-loop.ts";
import { sharedAddressLoop } from "../process/shared-address-loop.ts";
import { startEvidenceLoop } from "../process/start-evidence-loop.ts";
import type { PortProxy } from "../proxy/port-proxy.ts";
import type { Loop } from "./driver.ts";

type LoopBasis = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** This server; undefined where it is the only one. */
  readonly server?: { readonly id: ServerId } | undefined;
};

/** Every background loop of the server, in one list. */
export function listLoops(
  { database, clock, log, server }: LoopBasis,
  {
    ipHistory,
    gateway,
    proxy,
    matcher,
    routers,
    autoscaler,
    deliveryLoops,
    provider,
    sealer,
    seller,
    connections,
  }: {
    readonly ipHistory: IpHistory;
    readonly gateway: AgentGateway;
    readonly connections: () => OpenConnections;
    readonly proxy: PortProxy;
    readonly matcher: Matcher;
    readonly routers: Routers;
    readonly autoscaler: Autoscaler;
    readonly deliveryLoops: readonly Loop[];
    readonly provider: PaymentProvider;
    readonly sealer: Sealer;
    readonly seller: Seller;
  },
): readonly Loop[] {
  return [
    ipHistoryLoop(ipHistory),
    ...endpointLoops({ database, clock }, { routers, autoscaler }),
    ...hostLoops({ database, clock, notifyMarket, refreshOffers }),
    ...instanceLoops({ database, clock }),
    ...meteringLoops({ database, clock }),
    chargeDayLoop({ database, clock }),
    ...billingLoops({ database, clock, seller }),
    ...limitLoops({ database, clock }),
    ...ledgerLoops({ database, clock }),
    defaultJobLoop({ database, clock, sealer }),
    rollListingsLoop({ database, clock }),
    lowerPricesLoop({ database, clock }),
    ...hostingNoticeLoops({ database, clock }),
    creditNoticeLoop({ database, clock }),
    ...contractLoops({ database, clock }),
    ...taskLoops({ database, clock }),
    ...teamLoops({ database, clock, moveCredit }),
    ...volumeLoops({ database, clock }),
    idempotencyLoop({ database, clock }),
    sealLoop({ database, clock, sealer }),
    proxyLoop({ database, proxy }),
    proxiedTrafficLoop({ database, clock, proxy }),
    lineProbeLoop({ database, clock, gateway, measuredFrom: hostname() }),
    startEvidenceLoop({ database, clock, gateway, serverId: () => server?.id }),
    sharedAddressLoop({ database, clock, log }),
    payoutDoubtLoop({ database, clock }),
    ...statisticsLoops({ database, clock }),
    matchLoop(matcher),
    ...waitlistLoops({ database, clock }),
    ...deliveryLoops,
    ...noticeLoops({ database, clock }),
    ...paymentLoops({ database, clock, log, provider, sealer }),
    ...reconciliationLoops({ database, clock, log, connections, ...whatHostsSay(gateway) }),
  ];
}

/** What ends what an account may do: its credit, its caps, an administrator. */
function limitLoops(deps: { readonly database: Database; readonly clock: Clock }): readonly Loop[] {
  return [...arrearsLoops(deps), ...capLoops(deps), ...freezeLoops(deps)];
}

function ipHistoryLoop(ipHistory: IpHistory): Loop {
  return {
    name: "write-ip-history",
    description: "Writes the addresses that requests came from.",
    everyMs: IP_HISTORY_FLUSH_MS,
    run: () => ipHistory.flush(),
  };
}

function whatHostsSay(gateway: AgentGateway) {
  return {
    inventories: () => gateway.inventories(),
    tellAgain: (machineIds: readonly MachineId[]) => gateway.push(machineIds),
  };
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
