import type { Clock } from "../base/clock.ts";
import type { EndpointGroupId, InstanceId, MachineId, UserId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { nanos } from "../base/money.ts";
import { createEncryption, type Encryption } from "../base/encryption.ts";
import type { Database } from "../db/connect.ts";
import type { ChannelHandler } from "../db/listener.ts";
import { inSnapshot, type Reader, type Tx } from "../db/transaction.ts";
import {
  accountRoutes,
  createIdentities,
  createIpHistory,
  type IpHistory,
} from "../domains/people/accounts/for-assembly.ts";
import type { RandomBytes } from "../domains/people/accounts/index.ts";
import { JobRunner, scheduleRoutes } from "../domains/people/schedules/index.ts";
import { codeKey, signInRoutes, type SmsSender } from "../domains/people/sign-in/index.ts";
import { ENFORCE_LOOP, freezeAbandonedTeam, freezeRoutes } from "../domains/people/freezes/index.ts";
import { arrearsRoutes, capRoutes, refuseCappedMember, refuseNewKeys } from "../domains/money/limits/index.ts";
import {
  invoiceRoutes,
  grantCredit,
  moveCredit,
  UNNAMED_SELLER,
  type Seller,
} from "../domains/money/invoices/index.ts";
import { depositRoutes } from "../domains/money/deposits/index.ts";
import { hostingRoutes } from "../domains/supply/listings/index.ts";
import { requireReachableRegistry, LEASE_MS } from "../domains/supply/hosts/index.ts";
import { AgentGateway, flagRoutes, hostRoutes, proofMaker, trustRoutes } from "../domains/supply/hosts/for-assembly.ts";
import {
  certificateRoutes,
  instanceKeyMaker,
  instanceRoutes,
  instanceTaskRoutes,
  launchRoutes,
  rootCertificate,
  ReportRecorder,
  workerTokenOf,
} from "../domains/rental/instances/for-assembly.ts";
import { listMachineIdsOf, OrderDesk } from "../domains/rental/instances/index.ts";
import { balanceOf, createTransferPoster, type TransferPoster } from "../domains/money/ledger/index.ts";
import { marketRoutes, OfferTable, searchOffers } from "../domains/supply/market/for-assembly.ts";
import { refreshOffers } from "../domains/supply/market/index.ts";
import { accruedOf, lockSpendable, readBalance } from "../domains/money/charging/index.ts";
import { depositAccrualOf, readBalances, settleInstance } from "../domains/money/charging/for-assembly.ts";
import { DELIVER_LOOP, notificationRoutes } from "../domains/notifications/index.ts";
import {
  createPaymentProvider,
  NO_PAYMENTS,
  platformFeeOf,
  paymentRoutes,
  readPaymentSummaries,
  readPaymentSummary,
  type PaymentProvider,
  type PaymentSettings,
} from "../domains/money/payments/for-assembly.ts";
import { auditRoutes } from "../domains/money/audit/index.ts";
import {
  autoscalerRoutes,
  deploymentRoutes,
  reportRoutes,
  endpointRoutes,
  workerGroupRoutes,
  workerListRoutes,
  metricsRoutes,
  openAiRoutes,
  routeRoutes,
  simulateRoutes,
  Tickets,
  type Agreement,
  type Authenticate,
  type Autoscaler,
  type Routers,
  type WorkerReports,
} from "../domains/serverless/index.ts";
import type { ThisServer } from "../domains/servers/index.ts";
import { benchmarkRoutes } from "../domains/supply/benchmarks/for-assembly.ts";
import { statisticsRoutes } from "../domains/supply/statistics/index.ts";
import { resultRoutes } from "../domains/rental/tasks/index.ts";
import { teamRoutes } from "../domains/people/teams/index.ts";
import { createRegistryClient, templateRoutes } from "../domains/rental/templates/index.ts";
import {
  listRentableSpace,
  networkVolumeRoutes,
  SpaceTable,
  volumeRoutes,
} from "../domains/supply/volumes/for-assembly.ts";
import { unbuiltRoutes } from "../domains/unbuilt/index.ts";
import { MATCH_LOOP, Matcher, queueRoutes } from "../domains/rental/queue/index.ts";
import { registerDocs } from "../http/docs.ts";
import { agentPorts } from "./agent-ports.ts";
import { listBelongings } from "./belongings.ts";
import { createAutoscaling } from "./autoscaling.ts";
import { createChannels } from "./channels.ts";
import { registerHealth } from "./health.ts";
import { registerMetrics } from "./metrics.ts";
import { createRouting } from "./routing.ts";
import { serverPorts } from "./server-ports.ts";
import { createNotificationParts, type NotificationSettings } from "./notification-parts.ts";
import { PortProxy } from "../proxy/port-proxy.ts";
import type { Limits } from "../http/rate-limit.ts";
import { createHttp, type HttpScope } from "../http/server.ts";
import { clientAddressBehind, type TrustedProxies } from "../http/trusted-proxies.ts";
import { LoopDriver } from "../base/loop-driver.ts";
import type { Outside } from "../base/pinned-request.ts";
import { listLoops } from "./loops/list.ts";

export type AppDependencies = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: RandomBytes;
  /** The secret from which instance keys are derived and with which secrets are encrypted; the same at every start. */
  readonly secret: Buffer;
  readonly limits: Limits;
  readonly trustedProxies: TrustedProxies;
  /** Milliseconds for which a host may be cut off before it stops its instances. */
  readonly leaseMs?: number;
  /** The number of hosts that this server simulates; absent when it offers real ones. */
  readonly simulatedHosts?: number | undefined;
  /** Milliseconds that a report without news may wait to be stored with others; none unless given. */
  readonly gatherMs?: number;
  /** Access to instances through this server: the address to listen on, and the name to tell. */
  readonly proxy: { readonly bindHost: string; readonly publicHost: string };
  /** Bytes left on the disk of the data directory; without it `/readyz` does not look. */
  readonly freeBytes?: () => Promise<number>;
  /** The issuer of invoices; without it they name none. */
  readonly seller?: Seller;
  /** The way in which cards are charged and hosts are paid; without it only administrators do so by hand. */
  readonly payments?: PaymentSettings;
  /** The way in which notifications leave; without it webhooks go to public addresses only, and no mail is sent. */
  readonly notifications?: NotificationSettings;
  /** The way to container registries; without it that of webhooks. */
  readonly registries?: Outside;
  /** Sends text messages; without it none are sent. */
  readonly sms?: SmsSender | undefined;
  /** True, as by default, when anybody may make an account. */
  readonly isSignupOpen?: boolean;
  /** This process among the servers of its database; absent where it is the only one, as in tests. */
  readonly server?: ThisServer;
};

export type BerthApp = {
  readonly http: HttpScope;
  readonly gateway: AgentGateway;
  readonly loops: LoopDriver;
  readonly offers: OfferTable;
  readonly space: SpaceTable;
  readonly proxy: PortProxy;
  readonly routers: Routers;
  readonly autoscaler: Autoscaler;
  readonly jobs: Pick<JobRunner, "idle">;
  readonly channels: ReadonlyMap<string, ChannelHandler>;
  /** Finishes what is under way; nothing new may arrive any more. */
  drain(): Promise<void>;
};

/** Puts the parts together. Nothing listens, runs or reads the database yet. */
export function buildApp(dependencies: AppDependencies): BerthApp {
  const { database, clock, log, random, secret } = dependencies;
  const identities = createIdentities({ database, clock });
  const ipHistory = createIpHistory({ database, clock, log });
  const listVolumeSpace = (db: Reader, ids: readonly MachineId[]) => listRentableSpace(db, ids, clock.now());
  const offers = new OfferTable(database, {
    clock,
    log,
    listVolumeSpace,
    platformFee: platformFeeOf(dependencies.payments),
  });
  const space = new SpaceTable(database, { clock, log });
  const encryption = createEncryption(secret, random);
  const desk = new OrderDesk(database, clock, {
    ...{ secret, encryption },
    onUsedUp: (ids) => offers.retire(ids),
    bundleOf: (id) => offers.index.bundleOf(id),
  });
  const poster = createTransferPoster(database, clock);
  const leaseMs = dependencies.leaseMs ?? LEASE_MS;
  const { gateway, recorder } = createGateway({ ...dependencies, encryption, leaseMs });
  const http = createHttp({
    ...dependencies,
    authenticate: (presented, pause) => identities.authenticate(presented, pause),
    onAuthenticated: (identity, ipAddress) => ipHistory.record(identity, ipAddress),
  });
  const proxy = createProxy(dependencies, gateway);
  const search = (query: Readonly<Record<string, unknown>>) =>
    searchOffers(offers.index, query, { now: clock.now(), rentedMachines: new Set() });
  const matcher = new Matcher({ database, clock, encryption, desk, search });
  const notificationParts = createNotificationParts({ ...dependencies, encryption }, dependencies.notifications ?? {});
  const { deliverer, deliveryLoops } = notificationParts;
  const provider = createPaymentProvider(dependencies.payments ?? NO_PAYMENTS);
  const { routers, agreement } = createRouting(dependencies);
  const { autoscaler, reports } = createAutoscaling({
    ...{ database, clock, secret, encryption, desk, routers, search },
    reportAddress: dependencies.payments?.publicUrl,
    gatherMs: dependencies.gatherMs ?? 0,
  });
  const jobRunner = new JobRunner({ database, clock, log, encryption, sendAs: http.sendAs });
  const loops = createLoops(dependencies, {
    ...{ jobRunner, routers, autoscaler, provider, encryption, ipHistory },
    ...{ gateway, proxy, matcher, deliveryLoops },
  });
  deliverer.whenFree(() => loops.wake(DELIVER_LOOP));
  offers.follow((machineIds) => {
    if (matcher.note(machineIds)) loops.wake(MATCH_LOOP);
  });

  const means = { identities, ipHistory, offers, space, encryption, desk, poster, gateway, loops, routers, reports };
  const parts = { ...dependencies, ...means, agreement, search, provider, notificationParts };
  void http.app.register(async () => registerRoutes(http, parts));

  return {
    http,
    gateway,
    loops,
    offers,
    space,
    proxy,
    routers,
    autoscaler,
    jobs: jobRunner,
    channels: createChannels({ identities, offers, space, gateway, loops, matcher, routers, agreement, autoscaler }),
    async drain() {
      await jobRunner.stop();
      await autoscaler.stop();
      await reports.idle();
      await Promise.all([offers.stop(), space.stop()]);
      await Promise.all([desk.idle(), poster.idle(), recorder.idle(), agreement.idle(), deliverer.stop()]);
      await routers.stop();
      await ipHistory.flush();
    },
  };
}

type Parts = AppDependencies & {
  readonly identities: ReturnType<typeof createIdentities>;
  readonly ipHistory: IpHistory;
  readonly offers: OfferTable;
  readonly space: SpaceTable;
  readonly encryption: Encryption;
  readonly desk: OrderDesk;
  readonly poster: TransferPoster;
  readonly gateway: AgentGateway;
  readonly loops: LoopDriver;
  readonly routers: Routers;
  readonly agreement: Agreement;
  readonly reports: WorkerReports;
  readonly search: (query: Readonly<Record<string, unknown>>) => ReturnType<typeof searchOffers>;
  readonly provider: PaymentProvider;
  readonly notificationParts: ReturnType<typeof createNotificationParts>;
};

/** Registers every operation with its services. */
function registerRoutes(http: HttpScope, parts: Parts): void {
  const { database, clock, log, secret, random, encryption, loops } = parts;
  const { identities, ipHistory, offers, desk, poster, gateway, search } = parts;
  const { queueMail } = parts.notificationParts;
  const keyOf = instanceKeyMaker(secret);
  const balanceNow = (userId: UserId) => inSnapshot(database, (db) => readBalance(db, clock.now(), userId));
  accountRoutes(http, {
    ...{ identities, ipHistory, random, encryption, queueMail },
    isSignupOpen: parts.isSignupOpen ?? true,
    balanceOf: balanceNow,
    balancesOf: (userIds) => inSnapshot(database, (db) => readBalances(db, clock.now(), userIds)),
    refuseNewKeys,
    paymentStandingsOf: (userIds) => readPaymentSummaries(database.kysely, userIds),
    paymentStandingOf: (userId) => readPaymentSummary(database.kysely, userId),
    grantCredit: (tx, { userId, amount, actor }) =>
      grantCredit(tx, { userId, amount: nanos(amount), reason: "credit granted", actor }),
  });
  signInRoutes(http, {
    ...{ identities, random, encryption, queueMail, refuseNewKeys, refuseCappedMember },
    codeKey: codeKey(secret),
    sms: parts.sms,
    balanceOf: balanceNow,
    paymentStandingOf: (userId) => readPaymentSummary(database.kysely, userId),
  });
  invoiceRoutes(http, { poster });
  paymentRoutes(http, { provider: parts.provider, encryption, log, publicUrl: parts.payments?.publicUrl });
  const wakeEnforcer = () => loops.wake(ENFORCE_LOOP);
  const freezeAbandoned = async (tx: Tx, teamId: UserId) => {
    if (await freezeAbandonedTeam(tx, teamId)) tx.afterCommit(wakeEnforcer);
  };
  teamRoutes(http, {
    ...{ identities, random, queueMail, moveCredit, listBelongings, refuseNewKeys, freezeAbandoned },
    balanceOf: balanceNow,
  });
  const registries = createRegistryClient({ clock, ...(parts.registries ?? parts.notificationParts.outside) });
  templateRoutes(http, { encryption, registries, requireRegistry: requireReachableRegistry });
  marketRoutes(http, {
    offers,
    machinesRentedBy: async (userId) => new Set(await listMachineIdsOf(database.kysely, userId)),
  });
  const view = {
    proxyHost: parts.proxy.publicHost,
    instanceKeySecret: (id: InstanceId) => keyOf(id).secret,
    encryption,
  };
  instanceRoutes(http, { desk, accruedOf, settle: settleInstance, ...view });
  launchRoutes(http, { desk, searchOffers: search });
  statisticsRoutes(http);
  benchmarkRoutes(http);
  queueRoutes(http, {
    desk,
    encryption,
    search,
    creditOf: async (db, userId) => (await balanceOf(db, userId)).available,
  });
  instanceTaskRoutes(http, { means: { random, encryption }, view });
  resultRoutes(http);
  depositRoutes(http, {
    ...{ settle: settleInstance, lockSpendable, accrualOf: depositAccrualOf },
    platformFee: platformFeeOf(parts.payments),
  });
  arrearsRoutes(http);
  freezeRoutes(http, { identities, wakeEnforcer });
  capRoutes(http);
  hostSideRoutes(http, parts);
  endpointSideRoutes(http, parts);
  notificationRoutes(http, parts.notificationParts.ports);
  auditRoutes(http, { log });
  scheduleRoutes(http, { encryption });
  unbuiltRoutes(http);
  registerHealth(http, { loops, freeBytes: parts.freeBytes ?? (async () => undefined) });
  registerMetrics(http, { loops, gateway, offers });
  registerDocs(http);
}

/** Registers the routes of endpoints, of their workers, and of requests to them. */
function endpointSideRoutes(http: HttpScope, parts: Parts): void {
  const { database, clock, random, secret, encryption, desk, search, routers, identities, ipHistory } = parts;
  const keyOf = instanceKeyMaker(secret);
  const tickets = new Tickets({ clock, tokenOf: (id) => workerTokenOf(keyOf(id).secret) });
  const authenticate: Authenticate = async (presented, ipAddress, pause) => {
    const identity = await identities.authenticate(presented, pause);
    if (identity !== undefined) ipHistory.record(identity, ipAddress);
    return identity;
  };
  routeRoutes(http, { routers, encryption, tickets, authenticate });
  reportRoutes(http, parts.reports);
  const agreeOn = (id: EndpointGroupId) => parts.agreement.reach(id);
  endpointRoutes(http, { random, agreeOn });
  autoscalerRoutes(http);
  workerListRoutes(http, { routers });
  metricsRoutes(http);
  simulateRoutes(http);
  openAiRoutes(http, {
    routers,
    tickets,
    encryption,
    authenticate,
    rootCertificate: () => rootCertificate({ database, clock, encryption }),
  });
  workerGroupRoutes(http, { desk, encryption, search });
  deploymentRoutes(http, { desk, encryption, search, random, secret, agreeOn });
}

/** Registers the routes of machines, and of the disks and volumes that are on them. */
function hostSideRoutes(http: HttpScope, { encryption, random, secret, space }: Parts): void {
  certificateRoutes(http, { encryption });
  hostRoutes(http, { random, secret });
  trustRoutes(http, { refreshOffers });
  flagRoutes(http);
  hostingRoutes(http, { encryption });
  volumeRoutes(http, { space, means: { random, encryption } });
  networkVolumeRoutes(http);
}

function createLoops(
  dependencies: AppDependencies,
  means: Omit<Parameters<typeof listLoops>[1], "seller" | "connections">,
): LoopDriver {
  const { server, seller = UNNAMED_SELLER, leaseMs = LEASE_MS } = dependencies;
  const { gateway } = means;
  const ports = serverPorts({ ...dependencies, gateway, leaseMs });
  const connections = () => ({ open: gateway.registrations(), serverId: server?.id, leaseMs });
  const serverLoops = dependencies.server?.loops(ports, (name) => driver.wake(name)) ?? [];
  const driver = new LoopDriver(
    [...listLoops(dependencies, { ...means, seller, connections }), ...serverLoops],
    dependencies,
  );
  return driver;
}

function createGateway(
  dependencies: AppDependencies & {
    readonly encryption: Encryption;
    readonly leaseMs: number;
  },
): { readonly gateway: AgentGateway; readonly recorder: ReportRecorder } {
  const { database, clock, log, secret, random, leaseMs, gatherMs = 0 } = dependencies;
  const serverId = () => dependencies.server?.id;
  const recorder = new ReportRecorder(database, clock, { leaseMs, serverId, gatherMs });
  const keyOf = instanceKeyMaker(secret);
  const instanceKeySecret = (id: InstanceId) => keyOf(id).secret;
  const proofs = proofMaker(secret, random);
  const isPrivateAllowed = dependencies.notifications?.isPrivateAllowed ?? false;
  const addresses = dependencies.server?.agentAddresses ?? { own: () => [], all: () => [] };
  const means = { isPrivateAllowed, serverId, proofs, addresses, instanceKeySecret, recorder };
  const ports = agentPorts({ ...dependencies, ...means });
  return {
    gateway: new AgentGateway(ports, { clock, log, addressOf: clientAddressBehind(dependencies.trustedProxies) }),
    recorder,
  };
}

function createProxy({ clock, log, proxy }: AppDependencies, gateway: AgentGateway): PortProxy {
  return new PortProxy({
    bindHost: proxy.bindHost,
    openTunnel: ({ machineId, instanceId, service }) =>
      gateway.openTunnel(machineId, { instance_id: instanceId, service }),
    clock,
    log,
  });
}
