import type { InstanceId } from "../base/ids.ts";
import { createEncryption, type Encryption } from "../base/encryption.ts";
import { exchangeLimits } from "../db/limit-store.ts";
import type { ChannelHandler } from "../db/listener.ts";
import {
  createActLog,
  createIdentities,
  createIpHistory,
  listIdentitiesOfKeys,
  type ActLog,
  type IpHistory,
} from "../domains/people/accounts/for-assembly.ts";
import { JobRunner } from "../domains/people/schedules/index.ts";
import { PauseWatch } from "../domains/administration/index.ts";
import { LiveHub } from "../domains/live/index.ts";
import { nameLoops, ServedNames } from "../domains/names/index.ts";
import { UNNAMED_SELLER } from "../domains/money/invoices/index.ts";
import { LEASE_MS } from "../domains/supply/hosts/index.ts";
import { AgentGateway, proofMaker, type AgentPorts } from "../domains/supply/hosts/for-assembly.ts";
import { findPublishedPort, instanceKeyMaker, ReportRecorder } from "../domains/rental/instances/for-assembly.ts";
import { balancesOf, createTransferPoster } from "../domains/money/ledger/index.ts";
import { searchOffers, type OfferTable } from "../domains/supply/market/for-assembly.ts";
import { DELIVER_LOOP } from "../domains/notifications/index.ts";
import { createPaymentProvider, NO_PAYMENTS } from "../domains/money/payments/for-assembly.ts";
import { MeasurementIntake } from "../domains/supply/measurements/for-assembly.ts";
import type { Autoscaler, Routers } from "../domains/serverless/index.ts";
import { SpaceTable } from "../domains/supply/volumes/for-assembly.ts";
import { BackupEnds } from "../domains/rental/backups/index.ts";
import { MATCH_LOOP, Matcher } from "../domains/rental/queue/index.ts";
import { AgentReleases } from "./agent-release/release.ts";
import { agentPorts } from "./agent-ports.ts";
import { createAutoscaling } from "./autoscaling.ts";
import { createChannels } from "./channels.ts";
import { createDesk, createOffers } from "./market-parts.ts";
import { createRouting } from "./routing.ts";
import { registerRoutes } from "./routes.ts";
import type { AppDependencies } from "./app-dependencies.ts";
import { serverPorts } from "./server-ports.ts";
import { createNotificationParts } from "./notification-parts.ts";
import { PortNames } from "../proxy/port-names.ts";
import { PortProxy } from "../proxy/port-proxy.ts";
import { CONNECTIONS_PER_ADDRESS, limitConnections } from "../http/connection-limit.ts";
import type { SharedLimits } from "../http/shared-limits/shared-limiter.ts";
import { createHttp, type HttpDependencies, type HttpScope } from "../http/server.ts";
import { clientAddressBehind, proxyTrust } from "../http/trusted-proxies.ts";
import { LoopDriver } from "../base/loop-driver.ts";
import { listLoops } from "./loops/list.ts";

export type BerthApp = {
  readonly http: HttpScope;
  readonly gateway: AgentGateway;
  readonly loops: LoopDriver;
  readonly offers: OfferTable;
  readonly space: SpaceTable;
  readonly proxy: PortProxy;
  /** Certificates by name; undefined where this server serves no TLS. */
  readonly names: ServedNames | undefined;
  /** The host names of instances' ports; undefined where there are none. */
  readonly portNames: PortNames | undefined;
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
  const identities = createIdentities({ database, clock, random });
  const ipHistory = createIpHistory({ database, clock, log });
  const actLog = createActLog({ database, clock, log });
  const pauses = new PauseWatch(database, clock);
  const people = { identities, ipHistory, actLog, pauses };
  const offers = createOffers(dependencies);
  const space = new SpaceTable(database, { clock, log });
  const encryption = createEncryption(secret, random);
  const names = createNames(dependencies, encryption);
  const desk = createDesk(dependencies, encryption, offers);
  const poster = createTransferPoster(database, clock);
  const backupEnds = new BackupEnds({ database, clock, log, settings: dependencies.backups });
  const measurements = new MeasurementIntake(database, clock);
  const { gateway, recorder, releases } = createGateway({ ...dependencies, encryption, backupEnds, measurements });
  const http = createHttp({ ...dependencies, ...callersOf(people), sharedLimits: sharedLimitsOf(dependencies) });
  const hub = createHub(dependencies, offers);
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
    ...{ jobRunner, routers, autoscaler, provider, encryption, people, names },
    ...{ gateway, proxy, matcher, deliveryLoops, offers, measurements },
  });
  deliverer.whenFree(() => loops.wake(DELIVER_LOOP));
  offers.follow((machineIds) => void (matcher.note(machineIds) && loops.wake(MATCH_LOOP)));

  const access = { ...people, names, encryption };
  const means = { ...access, offers, space, desk, poster, gateway, loops, routers, reports, releases };
  const parts = { ...dependencies, ...means, hub, agreement, search, provider, notificationParts };
  void http.app.register(async () => registerRoutes(http, parts));

  return {
    http,
    gateway,
    loops,
    offers,
    space,
    proxy,
    ...{ names, portNames: createPortNames(dependencies, { gateway, proxy }) },
    routers,
    autoscaler,
    jobs: jobRunner,
    channels: createChannels({
      ...{ identities, offers, space, gateway, loops, matcher, routers, agreement, autoscaler, pauses },
    }),
    async drain() {
      await Promise.all([names?.stop(), jobRunner.stop()]);
      await autoscaler.stop();
      await Promise.all([reports.idle(), backupEnds.idle()]);
      await Promise.all([offers.stop(), space.stop()]);
      await Promise.all([desk.idle(), poster.idle(), recorder.idle(), agreement.idle(), deliverer.stop()]);
      await routers.stop();
      await Promise.all([ipHistory.flush(), actLog.flush(), measurements.flush()]);
    },
  };
}

function createNames({ tls, ...means }: AppDependencies, encryption: Encryption): ServedNames | undefined {
  return tls && new ServedNames(tls, { ...means, encryption });
}

type Callers = {
  readonly identities: ReturnType<typeof createIdentities>;
  readonly ipHistory: IpHistory;
  readonly actLog: ActLog;
  readonly pauses: PauseWatch;
};

/** The means by which requests find their callers, and what is kept of these. */
function callersOf({ identities, ipHistory, actLog, pauses }: Callers) {
  return {
    authenticate: identities.authenticate.bind(identities),
    authenticateCookie: identities.authenticateCookie.bind(identities),
    onAuthenticated: (identity, { ipAddress, userAgent }) => ipHistory.record(identity, ipAddress, userAgent),
    currentPause: () => pauses.current(),
    onAct: (identity, act) => actLog.note({ actor: identity, ...act }),
  } satisfies Partial<HttpDependencies>;
}

function sharedLimitsOf({ database, server }: AppDependencies): SharedLimits {
  return { serverCount: () => server?.liveCount ?? 1, exchange: (spent) => exchangeLimits(database.kysely, spent) };
}

/** The hub of event streams, which hears of offers by itself. */
function createHub({ database, clock, log, random }: AppDependencies, offers: OfferTable): LiveHub {
  const hub = new LiveHub({
    ...{ database, clock, log, random, balancesOf },
    identitiesOf: listIdentitiesOfKeys,
    offersOf: (machineId) => offers.index.offerIdsOf(machineId),
  });
  offers.follow((machineIds) => hub.noteOffers(machineIds));
  return hub;
}

function createLoops(
  dependencies: AppDependencies,
  means: Omit<Parameters<typeof listLoops>[1], "seller" | "connections"> & { readonly names: ServedNames | undefined },
): LoopDriver {
  const { server, seller = UNNAMED_SELLER, leaseMs = LEASE_MS } = dependencies;
  const { gateway } = means;
  const ports = serverPorts({ ...dependencies, gateway, leaseMs });
  const connections = () => ({ open: gateway.registrations(), serverId: server?.id, leaseMs });
  const serverLoops = dependencies.server?.loops(ports, (name) => driver.wake(name)) ?? [];
  const driver = new LoopDriver(
    [...listLoops(dependencies, { ...means, seller, connections }), ...nameLoops(means.names), ...serverLoops],
    dependencies,
  );
  return driver;
}

function createGateway(
  dependencies: AppDependencies & {
    readonly encryption: Encryption;
    readonly backupEnds: BackupEnds;
    readonly measurements: MeasurementIntake;
  },
): { readonly gateway: AgentGateway; readonly recorder: ReportRecorder; readonly releases: AgentReleases } {
  const { database, clock, log, secret, random, leaseMs = LEASE_MS, gatherMs = 0 } = dependencies;
  const serverId = () => dependencies.server?.id;
  const recorder = new ReportRecorder(database, clock, { leaseMs, serverId, gatherMs });
  const keyOf = instanceKeyMaker(secret);
  const instanceKeySecret = (id: InstanceId) => keyOf(id).secret;
  const proofs = proofMaker(secret, random);
  const isPrivateAllowed = dependencies.notifications?.isPrivateAllowed ?? false;
  const addresses = dependencies.server?.agentAddresses ?? { own: () => [], all: () => [] };
  const releases = new AgentReleases({ secret, percent: dependencies.agentUpgradePercent ?? 0 });
  const means = { isPrivateAllowed, serverId, proofs, addresses, instanceKeySecret, recorder, releases };
  const measure: AgentPorts["measure"] = (...given) => dependencies.measurements.take(...given);
  const ports = agentPorts({ ...dependencies, ...means, leaseMs, measure });
  return {
    gateway: new AgentGateway(ports, { clock, log, addressOf: clientAddressBehind(dependencies.trustedProxies) }),
    recorder,
    releases,
  };
}

function createPortNames(
  { database, clock, log, portNames, trustedProxies }: AppDependencies,
  { gateway, proxy }: { readonly gateway: AgentGateway; readonly proxy: PortProxy },
): PortNames | undefined {
  if (portNames === undefined) return undefined;
  const isProxy = proxyTrust(trustedProxies);
  const isTrustedProxy = (address: string) => trustedProxies.kind !== "none" && isProxy(address, 0);
  const made = new PortNames({
    domain: portNames.domain,
    findPlace: (name) => findPublishedPort(database.kysely, name, clock.now()),
    openTunnel: ({ machineId, instanceId, port }) =>
      gateway.openTunnel(machineId, { instance_id: instanceId, service: "port", port }),
    countSent: (instanceId) => proxy.countSent(instanceId),
    ...{ isTrustedProxy, clock, log },
  });
  limitConnections(made.server, { perAddress: CONNECTIONS_PER_ADDRESS, isProxy: isTrustedProxy });
  return made;
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
