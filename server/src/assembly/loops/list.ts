import { hostname } from "node:os";
import type { Clock } from "../../base/clock.ts";
import type { MachineId, ServerId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Encryption } from "../../base/encryption.ts";
import type { Database } from "../../db/connect.ts";
import {
  ACTS_FLUSH_MS,
  IP_HISTORY_FLUSH_MS,
  type ActLog,
  type IpHistory,
} from "../../domains/people/accounts/for-assembly.ts";
import { invoiceLoops, moveCredit, type Seller } from "../../domains/money/invoices/index.ts";
import { arrearsLoops, capLoops } from "../../domains/money/limits/index.ts";
import { depositLoops } from "../../domains/money/deposits/index.ts";
import { creditNotificationLoop } from "../../domains/money/invoices/index.ts";
import {
  defaultJobLoop,
  hostingNotificationLoops,
  lowerPricesLoop,
  rollListingsLoop,
} from "../../domains/supply/listings/index.ts";
import { runJobsLoop, scheduleLoops, type JobRunner } from "../../domains/people/schedules/index.ts";
import { freezeLoops } from "../../domains/people/freezes/index.ts";
import { hostLoops, type AgentGateway } from "../../domains/supply/hosts/for-assembly.ts";
import type { OpenConnections } from "../../domains/supply/hosts/index.ts";
import { bidFloorLoop, type OfferTable } from "../../domains/supply/market/for-assembly.ts";
import { refreshOffers } from "../../domains/supply/market/index.ts";
import { instanceLoops, rentals } from "../../domains/rental/instances/for-assembly.ts";
import { ledgerLoops } from "../../domains/money/ledger/index.ts";
import { chargeDayLoop } from "../../domains/money/charging/for-assembly.ts";
import { chargingLoops } from "../../domains/money/charging/index.ts";
import { liveLoops } from "../../domains/live/index.ts";
import { notificationLoops } from "../../domains/notifications/index.ts";
import { paymentLoops, type PaymentProvider } from "../../domains/money/payments/for-assembly.ts";
import { auditLoops } from "../../domains/money/audit/index.ts";
import {
  autoscaleLoops,
  deploymentLoops,
  retryWorkerRemoval,
  routerLoops,
  type Autoscaler,
  type Routers,
} from "../../domains/serverless/index.ts";
import { measurementLoops, type MeasurementIntake } from "../../domains/supply/measurements/for-assembly.ts";
import { statisticsLoops } from "../../domains/supply/statistics/index.ts";
import { backupLoops, type BackupSettings } from "../../domains/rental/backups/index.ts";
import { taskLoops } from "../../domains/rental/tasks/index.ts";
import { viewLoops } from "../../domains/people/sign-in/index.ts";
import { teamLoops } from "../../domains/people/teams/index.ts";
import { volumeLoops } from "../../domains/supply/volumes/for-assembly.ts";
import { matchLoop, queueLoops, type Matcher } from "../../domains/rental/queue/index.ts";
import { emptyLimitsLoop } from "./empty-limits.ts";
import { idempotencyLoop } from "./idempotency.ts";
import { payoutDoubtLoop } from "./payout-doubt.ts";
import { uplinkProbeLoop } from "./uplink-probe.ts";
import { proxiedTrafficLoop } from "./proxied-traffic.ts";
import type { PauseWatch } from "../../domains/administration/index.ts";
import { proxyLoop } from "./proxy.ts";
import { encryptionLoop } from "./encrypt-earlier.ts";
import { sharedAddressLoop } from "./shared-address.ts";
import { startEvidenceLoop } from "./start-evidence.ts";
import type { PortProxy } from "../../proxy/port-proxy.ts";
import type { Loop } from "../../base/loop-driver.ts";

type LoopBasis = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: (byteCount: number) => Buffer;
  readonly backups?: BackupSettings | undefined;
  /** This server; undefined where it is the only one. */
  readonly server?: { readonly id: ServerId } | undefined;
};

/** Every background loop of the server, in one list. */
export function listLoops(
  { database, clock, log, random, backups, server }: LoopBasis,
  {
    people: { ipHistory, actLog, pauses },
    jobRunner,
    gateway,
    proxy,
    matcher,
    offers,
    routers,
    autoscaler,
    deliveryLoops,
    provider,
    encryption,
    seller,
    connections,
    measurements,
  }: {
    readonly people: { readonly ipHistory: IpHistory; readonly actLog: ActLog; readonly pauses: PauseWatch };
    readonly jobRunner: JobRunner;
    readonly gateway: AgentGateway;
    readonly connections: () => OpenConnections;
    readonly proxy: PortProxy;
    readonly matcher: Matcher;
    readonly offers: OfferTable;
    readonly routers: Routers;
    readonly autoscaler: Autoscaler;
    readonly deliveryLoops: readonly Loop[];
    readonly provider: PaymentProvider;
    readonly encryption: Encryption;
    readonly seller: Seller;
    readonly measurements: MeasurementIntake;
  },
): readonly Loop[] {
  return [
    ...[ipHistoryLoop(ipHistory), actLogLoop(actLog), pauses.loop()],
    ...endpointLoops({ database, clock }, { routers, autoscaler }),
    ...hostLoops({ database, clock, refreshOffers, rentals }),
    ...instanceLoops({ database, clock }),
    ...chargingLoops({ database, clock }),
    chargeDayLoop({ database, clock }),
    ...invoiceLoops({ database, clock, seller }),
    ...limitLoops({ database, clock }),
    ...ledgerLoops({ database, clock }),
    ...listingLoops({ database, clock, encryption }),
    creditNotificationLoop({ database, clock }),
    ...depositLoops({ database, clock }),
    ...taskLoops({ database, clock }),
    ...backupLoops({ database, clock, means: { random, encryption }, settings: backups }),
    ...[...teamLoops({ database, clock, moveCredit }), ...viewLoops({ database, clock })],
    ...volumeLoops({ database, clock }),
    idempotencyLoop({ database, clock }),
    emptyLimitsLoop({ database }),
    encryptionLoop({ database, clock, encryption }),
    ...proxyLoops({ database, clock, proxy }),
    uplinkProbeLoop({ database, clock, gateway, measuredFrom: hostname() }),
    startEvidenceLoop({ database, clock, gateway, serverId: () => server?.id }),
    sharedAddressLoop({ database, clock, log }),
    payoutDoubtLoop({ database, clock }),
    ...marketLoops({ database, clock, offers, intake: measurements }),
    runJobsLoop(jobRunner),
    ...scheduleLoops({ database, clock }),
    ...[pauses.pausing(matchLoop(matcher)), ...queueLoops({ database, clock })],
    ...deliveryLoops,
    ...liveLoops({ database, clock }),
    ...notificationLoops({ database, clock }),
    ...paymentLoops({ database, clock, log, provider, encryption }),
    ...auditLoops({ database, clock, log, connections, ...whatHostsSay(gateway) }),
  ];
}

/** Loops that keep what hosts offer. */
function listingLoops(deps: Parameters<typeof defaultJobLoop>[0]): readonly Loop[] {
  return [defaultJobLoop(deps), rollListingsLoop(deps), lowerPricesLoop(deps), ...hostingNotificationLoops(deps)];
}

function proxyLoops(deps: Parameters<typeof proxyLoop>[0] & Parameters<typeof proxiedTrafficLoop>[0]): readonly Loop[] {
  return [proxyLoop(deps), proxiedTrafficLoop(deps)];
}

/** Loops that store the history of the market. */
function marketLoops(
  deps: Parameters<typeof bidFloorLoop>[0] & { readonly intake: MeasurementIntake },
): readonly Loop[] {
  return [...statisticsLoops(deps), ...measurementLoops(deps), bidFloorLoop(deps)];
}

/** Loops that stop an account's instances: its credit is used up, a cap is reached, or an administrator froze it. */
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

function actLogLoop(actLog: ActLog): Loop {
  return {
    name: "write-acts",
    description: "Writes what accounts did into the audit log.",
    everyMs: ACTS_FLUSH_MS,
    run: () => actLog.flush(),
  };
}

function whatHostsSay(gateway: AgentGateway) {
  return {
    inventories: () => gateway.inventories(),
    tellAgain: (machineIds: readonly MachineId[]) => gateway.push(machineIds),
  };
}

/** Background loops of endpoints and their workers. */
function endpointLoops(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  { routers, autoscaler }: { readonly routers: Routers; readonly autoscaler: Autoscaler },
): readonly Loop[] {
  return [
    {
      name: "retry-worker-removal",
      description: "Tries again to remove workers of deleted endpoint groups.",
      everyMs: 5_000,
      run: () => retryWorkerRemoval({ database, clock, maxPerRun: 100 }, clock.now()),
    },
    ...routerLoops({ database, clock, routers }),
    ...autoscaleLoops({ database, clock, autoscaler }),
    ...deploymentLoops({ database, clock }),
  ];
}
