// Routes of all domains with the services behind them.
import manifest from "../../../package.json" with { type: "json" };
import type { EndpointGroupId, InstanceId, UserId } from "../base/ids.ts";
import { nanos } from "../base/money.ts";
import type { Encryption } from "../base/encryption.ts";
import { inSnapshot, type Tx } from "../db/transaction.ts";
import {
  accountRoutes,
  type ActLog,
  type createIdentities,
  type IpHistory,
} from "../domains/people/accounts/for-assembly.ts";
import { cloudRoutes } from "../domains/people/clouds/index.ts";
import { scheduleRoutes } from "../domains/people/schedules/index.ts";
import { codeKey, signInRoutes } from "../domains/people/sign-in/index.ts";
import { ENFORCE_LOOP, freezeAbandonedTeam, freezeRoutes } from "../domains/people/freezes/index.ts";
import { arrearsRoutes, capRoutes, refuseCappedMember, refuseNewKeys } from "../domains/money/limits/index.ts";
import { invoiceRoutes, grantCredit, moveCredit } from "../domains/money/invoices/index.ts";
import { depositRoutes } from "../domains/money/deposits/index.ts";
import { hostingRoutes } from "../domains/supply/listings/index.ts";
import { requireReachableRegistry } from "../domains/supply/hosts/index.ts";
import { type AgentGateway, flagRoutes, hostRoutes, trustRoutes } from "../domains/supply/hosts/for-assembly.ts";
import {
  certificateRoutes,
  instanceKeyMaker,
  instanceRoutes,
  instanceTaskRoutes,
  logRoutes,
  terminalRoutes,
  fileRoutes,
  launchRoutes,
  rootCertificate,
  workerTokenOf,
} from "../domains/rental/instances/for-assembly.ts";
import { listMachineIdsOf, type OrderDesk } from "../domains/rental/instances/index.ts";
import { balanceOf, type TransferPoster } from "../domains/money/ledger/index.ts";
import {
  countOffers,
  marketRoutes,
  type OfferTable,
  type searchOffers,
} from "../domains/supply/market/for-assembly.ts";
import { refreshOffers } from "../domains/supply/market/index.ts";
import { accruedOf, lockSpendable, readBalance } from "../domains/money/charging/index.ts";
import { depositAccrualOf, settleInstance } from "../domains/money/charging/for-assembly.ts";
import type { ServedNames } from "../domains/names/index.ts";
import { liveRoutes, type LiveHub } from "../domains/live/index.ts";
import { notificationRoutes } from "../domains/notifications/index.ts";
import { platformFeeOf, paymentRoutes, type PaymentProvider } from "../domains/money/payments/for-assembly.ts";
import { administrationRoutes, type PauseWatch } from "../domains/administration/index.ts";
import { auditRoutes } from "../domains/money/audit/index.ts";
import {
  autoscalerRoutes,
  historyRoutes,
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
  type Routers,
  type WorkerReports,
} from "../domains/serverless/index.ts";
import { benchmarkRoutes } from "../domains/supply/benchmarks/for-assembly.ts";
import { measurementRoutes } from "../domains/supply/measurements/for-assembly.ts";
import { statisticsRoutes } from "../domains/supply/statistics/index.ts";
import { backupRoutes, restore, START_BACKUPS_LOOP } from "../domains/rental/backups/index.ts";
import { resultRoutes } from "../domains/rental/tasks/index.ts";
import { teamRoutes } from "../domains/people/teams/index.ts";
import { createRegistryClient, templateOutlookRoutes, templateRoutes } from "../domains/rental/templates/index.ts";
import { networkVolumeRoutes, type SpaceTable, volumeRoutes } from "../domains/supply/volumes/for-assembly.ts";
import { unbuiltRoutes } from "../domains/unbuilt/index.ts";
import { queueRoutes } from "../domains/rental/queue/index.ts";
import { portNameOf } from "../proxy/port-name.ts";
import { registerConsole } from "../http/console.ts";
import { registerDocs } from "../http/docs.ts";
import { listBelongings } from "./belongings.ts";
import { collectPersonalData, erasePersonalData } from "./personal-data.ts";
import type { AgentReleases } from "./agent-release/release.ts";
import { registerAgentRelease } from "./agent-release/routes.ts";
import { registerHealth } from "./health.ts";
import { settingsInForce } from "./settings-table.ts";
import { registerMetrics } from "./metrics/register.ts";
import { registerRequestLog } from "./request-log.ts";
import { createSsoMeans } from "./sso-parts.ts";
import { userFactsReader } from "./user-facts.ts";
import type { createNotificationParts } from "./notification-parts.ts";
import type { HttpScope } from "../http/server.ts";
import type { LoopDriver } from "../base/loop-driver.ts";
import type { AppDependencies } from "./app-dependencies.ts";

/** The parts of a server that its routes use. */
export type Parts = AppDependencies & {
  readonly names: ServedNames | undefined;
  readonly identities: ReturnType<typeof createIdentities>;
  readonly ipHistory: IpHistory;
  readonly actLog: ActLog;
  readonly pauses: PauseWatch;
  readonly offers: OfferTable;
  readonly space: SpaceTable;
  readonly encryption: Encryption;
  readonly desk: OrderDesk;
  readonly poster: TransferPoster;
  readonly gateway: AgentGateway;
  readonly loops: LoopDriver;
  readonly hub: LiveHub;
  readonly routers: Routers;
  readonly agreement: Agreement;
  readonly reports: WorkerReports;
  readonly releases: AgentReleases;
  readonly search: (query: Readonly<Record<string, unknown>>) => ReturnType<typeof searchOffers>;
  readonly provider: PaymentProvider;
  readonly notificationParts: ReturnType<typeof createNotificationParts>;
};

/** Registers every operation with its services. */
export function registerRoutes(http: HttpScope, parts: Parts): void {
  const { database, clock, log, secret, random, encryption, loops } = parts;
  const { identities, offers, desk, poster, gateway, search } = parts;
  const keyOf = instanceKeyMaker(secret);
  if (parts.hasRequestLog === true) registerRequestLog(http, log);
  peopleRoutes(http, parts);
  invoiceRoutes(http, { poster });
  paymentRoutes(http, { provider: parts.provider, encryption, log, publicUrl: parts.payments?.publicUrl });
  const registries = createRegistryClient({ clock, ...(parts.registries ?? parts.notificationParts.outside) });
  templateRoutes(http, { encryption, registries, requireRegistry: requireReachableRegistry });
  templateOutlookRoutes(http, {
    encryption,
    search,
    countOffers: (query) => countOffers(offers.index, query, { now: clock.now(), rentedMachines: new Set() }),
  });
  marketRoutes(http, {
    offers,
    machinesRentedBy: async (userId) => new Set(await listMachineIdsOf(database.kysely, userId)),
  });
  const view = {
    proxyHost: parts.proxy.publicHost,
    portUrl: portUrlOf(parts),
    instanceKeySecret: (id: InstanceId) => keyOf(id).secret,
    encryption,
  };
  instanceRoutes(http, { desk, accruedOf, settle: settleInstance, ...view });
  launchRoutes(http, { desk, searchOffers: search });
  measurementRoutes(http);
  statisticsRoutes(http);
  benchmarkRoutes(http);
  queueRoutes(http, {
    desk,
    encryption,
    search,
    creditOf: async (db, userId) => (await balanceOf(db, userId)).available,
  });
  const [means, settings] = [{ random, encryption }, parts.backups];
  instanceTaskRoutes(http, { means, view, restore: (tx, wish) => restore(tx, { means, settings }, wish) });
  const openTunnel: typeof gateway.openTunnel = (machineId, target) => gateway.openTunnel(machineId, target);
  terminalRoutes(http, { log, openTunnel });
  fileRoutes(http, { openTunnel });
  logRoutes(http, { log, openTunnel });
  backupRoutes(http, { secret, settings, wakeStarter: () => loops.wake(START_BACKUPS_LOOP) });
  resultRoutes(http);
  depositRoutes(http, {
    ...{ settle: settleInstance, lockSpendable, accrualOf: depositAccrualOf },
    platformFee: platformFeeOf(parts.payments),
  });
  arrearsRoutes(http);
  freezeRoutes(http, { identities, wakeEnforcer: () => loops.wake(ENFORCE_LOOP) });
  capRoutes(http);
  hostSideRoutes(http, parts);
  endpointSideRoutes(http, parts);
  notificationRoutes(http, parts.notificationParts.ports);
  liveRoutes(http, { hub: parts.hub });
  auditRoutes(http, { log });
  const listSettings = () => settingsInForce(parts.environment ?? {});
  const flushActs = () => parts.actLog.flush();
  const closing = { listBelongings, collectPersonalData, erasePersonalData, identities, flushActs };
  administrationRoutes(http, { loops, gateway, closing, pauses: parts.pauses, listSettings });
  scheduleRoutes(http, { encryption });
  cloudRoutes(http, { encryption });
  unbuiltRoutes(http);
  const freeBytes = parts.freeBytes ?? (async () => undefined);
  const { names, newestMigration, draining } = parts;
  registerHealth(http, { loops, freeBytes, newestMigration, draining, warnings: () => names?.warnings() ?? [] });
  registerMetrics(http, { loops, gateway, offers, hub: parts.hub, routers: parts.routers, freeBytes, log, names });
  registerDocs(http);
  registerFiles(http, parts);
}

function registerFiles(http: HttpScope, parts: Parts): void {
  registerConsole(http, parts.console);
  registerAgentRelease(http, parts.releases);
}

/** Makes the addresses by name of published ports; undefined where there are no names for ports. */
function portUrlOf({ portNames }: Parts): ((instanceId: InstanceId, port: number) => string) | undefined {
  if (portNames === undefined) return undefined;
  const { domain, suffix } = portNames;
  return (instanceId, port) => `https://${portNameOf({ instanceId, port }, domain)}${suffix}`;
}

/** Registers the routes of accounts, of signing in, and of teams. */
function peopleRoutes(http: HttpScope, parts: Parts): void {
  const { database, clock, secret, random, encryption, loops, identities, ipHistory, actLog } = parts;
  const { queueMail } = parts.notificationParts;
  const factsOf = userFactsReader(clock);
  const balanceNow = (userId: UserId) => inSnapshot(database, (db) => readBalance(db, clock.now(), userId));
  accountRoutes(http, {
    ...{ identities, ipHistory, actLog, random, encryption, queueMail },
    isSignupOpen: parts.isSignupOpen ?? true,
    ...{ factsOf, refuseNewKeys },
    grantCredit: (tx, { userId, amount, actor }) =>
      grantCredit(tx, { userId, amount: nanos(amount), reason: "credit granted", actor }),
  });
  const freezeAbandoned = async (tx: Tx, teamId: UserId) => {
    if (await freezeAbandonedTeam(tx, teamId)) tx.afterCommit(() => loops.wake(ENFORCE_LOOP));
  };
  const sso = createSsoMeans(parts.sso, { clock, log: parts.log, identities, freezeAbandoned });
  signInRoutes(http, {
    ...{ identities, random, encryption, queueMail, refuseNewKeys, refuseCappedMember },
    codeKey: codeKey(secret),
    sms: parts.sms,
    ...{ factsOf, sso, publicUrl: parts.payments?.publicUrl },
    browser: {
      sso: sso === undefined ? [] : [{ id: "oidc", name: sso.settings.name }],
      signUp: parts.signUp ?? ((parts.isSignupOpen ?? true) ? "open" : "invitation"),
      publicUrl: parts.payments?.publicUrl,
      version: manifest.version,
      isSimulated: parts.simulatedHosts !== undefined,
    },
  });
  teamRoutes(http, {
    ...{ identities, random, queueMail, moveCredit, listBelongings, refuseNewKeys, freezeAbandoned },
    balanceOf: balanceNow,
  });
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
  historyRoutes(http);
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
  workerGroupRoutes(http, { desk, encryption, search, random });
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
