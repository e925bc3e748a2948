import { Type } from "typebox";
import type { Clock } from "./base/clock.ts";
import { AppError } from "./base/errors.ts";
import { asId, type AgentCredentialId, type InstanceId, type MachineId } from "./base/ids.ts";
import type { Log } from "./base/log.ts";
import { nanos } from "./base/money.ts";
import { createSealer, type Sealer } from "./base/seal.ts";
import type { Database } from "./db/connect.ts";
import type { ChannelHandler } from "./db/listener.ts";
import { inSnapshot, withTransaction } from "./db/transaction.ts";
import {
  accountRoutes,
  API_KEYS_CHANNEL,
  createIdentities,
  createIpHistory,
  findUserByEmailOrId,
  IP_HISTORY_FLUSH_MS,
  type RandomBytes,
} from "./domains/accounts/index.ts";
import { billingRoutes, grantCredit } from "./domains/billing/index.ts";
import {
  admit,
  AgentGateway,
  LEASE_MS,
  confirmProof,
  findCredential,
  hashToken,
  hostRoutes,
  listRevoked,
  markDisconnected,
  noticeClone,
  proofMaker,
  REVOKED_CHANNEL,
} from "./domains/hosts/index.ts";
import {
  certificateRoutes,
  DESIRED_CHANNEL,
  destroyIfPresent,
  followDevices,
  instanceKeyMaker,
  instanceLoops,
  instanceRoutes,
  instanceTaskRoutes,
  listMachineIdsOf,
  loadDesired,
  OrderDesk,
  PROXY_PORTS_CHANNEL,
  ReportRecorder,
} from "./domains/instances/index.ts";
import { balanceOf, createTransferPoster } from "./domains/ledger/index.ts";
import { MARKET_CHANNEL, marketRoutes, OfferTable, refreshOffers } from "./domains/market/index.ts";
import { meteringLoops } from "./domains/metering/index.ts";
import { endpointRoutes, retryWorkerRemoval } from "./domains/serverless/index.ts";
import { loadOpenTasks, recordTaskMessage, resultRoutes, taskLoops, TASKS_CHANNEL } from "./domains/tasks/index.ts";
import { templateRoutes } from "./domains/templates/index.ts";
import { networkVolumeRoutes, volumeRoutes, VOLUMES_CHANNEL } from "./domains/volumes/index.ts";
import { registerDocs } from "./http/docs.ts";
import { idempotencyLoop } from "./process/idempotency-loop.ts";
import { registerMetrics } from "./process/metrics.ts";
import { PROXY_LOOP, proxyLoop } from "./process/proxy-loop.ts";
import { PortProxy } from "./proxy/port-proxy.ts";
import type { Limits } from "./http/rate-limit.ts";
import { createHttp, type HttpScope } from "./http/server.ts";
import { LoopDriver, type Loop } from "./loops/driver.ts";

export type AppDependencies = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: RandomBytes;
  /** What instance keys are derived from and secrets are sealed with; the same at every start. */
  readonly secret: Buffer;
  readonly limits: Limits;
  readonly isProxyTrusted: boolean;
  /** How long a host may be cut off before it stops what it runs. */
  readonly leaseMs?: number;
  /** Where instances are reached through this server: the address to listen on, and the name to tell. */
  readonly proxy: { readonly bindHost: string; readonly publicHost: string };
};

export type BerthApp = {
  readonly http: HttpScope;
  readonly gateway: AgentGateway;
  readonly loops: LoopDriver;
  readonly offers: OfferTable;
  readonly proxy: PortProxy;
  readonly channels: ReadonlyMap<string, ChannelHandler>;
  /** Finishes what is under way; nothing new may arrive any more. */
  drain(): Promise<void>;
};

/** Puts the parts together. Nothing listens, runs or reads the database yet. */
export function buildApp(dependencies: AppDependencies): BerthApp {
  const { database, clock, log, random, secret } = dependencies;
  const identities = createIdentities({ database, clock });
  const ipHistory = createIpHistory({ database, clock, log });
  const keyOf = instanceKeyMaker(secret);
  const offers = new OfferTable(database, { clock, log });
  const sealer = createSealer(secret, random);
  const desk = new OrderDesk(database, clock, { secret, sealer });
  const poster = createTransferPoster(database, clock);
  const leaseMs = dependencies.leaseMs ?? LEASE_MS;
  const recorder = new ReportRecorder(database, clock, leaseMs);
  const gateway = createGateway({ ...dependencies, sealer, leaseMs }, recorder);
  const http = createHttp({
    ...dependencies,
    authenticate: (presented) => identities.authenticate(presented),
    onAuthenticated: (identity, ipAddress) => ipHistory.record(identity, ipAddress),
  });
  const proxy = createProxy(dependencies, gateway);
  const loops = new LoopDriver(listLoops(dependencies, { ipHistory, proxy }), { clock, log });

  void http.app.register(async () => {
    accountRoutes(http, {
      identities,
      ipHistory,
      random,
      sealer,
      balanceOf: async (userId) => {
        const { balance, available } = await balanceOf(database.kysely, userId);
        return { balanceNanos: balance, availableNanos: available };
      },
      grantCredit: (tx, { userId, amount, actor }) =>
        grantCredit(tx, { userId, amount: nanos(amount), reason: "credit granted", actor }),
    });
    billingRoutes(http, { poster });
    templateRoutes(http, { sealer });
    marketRoutes(http, {
      offers,
      machinesRentedBy: async (userId) => new Set(await listMachineIdsOf(database.kysely, userId)),
    });
    const view = {
      proxyHost: dependencies.proxy.publicHost,
      instanceKeySecret: (id: InstanceId) => keyOf(id).secret,
    };
    instanceRoutes(http, { desk, ...view });
    instanceTaskRoutes(http, { means: { random, sealer }, view });
    resultRoutes(http);
    certificateRoutes(http, { sealer, addressOf: (machineId) => gateway.addressOf(machineId) });
    hostRoutes(http, { random, secret });
    volumeRoutes(http);
    networkVolumeRoutes(http, { findUser: (db, text) => findUserByEmailOrId(db, text) });
    endpointRoutes(http, { destroyInstance: destroyIfPresent, random });
    registerHealth(http, loops);
    registerMetrics(http, { loops, gateway, offers });
    registerDocs(http);
  });

  return {
    http,
    gateway,
    loops,
    offers,
    proxy,
    channels: createChannels({ identities, offers, gateway, loops }),
    async drain() {
      await Promise.all([desk.idle(), poster.idle(), recorder.idle()]);
      await ipHistory.flush();
    },
  };
}

type Listening = Pick<BerthApp, "offers" | "gateway" | "loops"> & {
  readonly identities: ReturnType<typeof createIdentities>;
};

/** What each notification of the database leads to. */
function createChannels({ identities, offers, gateway, loops }: Listening): ReadonlyMap<string, ChannelHandler> {
  const pushes: ChannelHandler = {
    onMessage: (payload) => gateway.push(payload.split(",").map((id) => asId<MachineId>(Number(id)))),
    onGap: () => gateway.pushAll(),
  };
  return new Map([
    [API_KEYS_CHANNEL, identities.channelHandler],
    [MARKET_CHANNEL, offers.channel],
    [DESIRED_CHANNEL, pushes],
    [VOLUMES_CHANNEL, pushes],
    [
      REVOKED_CHANNEL,
      {
        onMessage: (payload) => gateway.revoke(asId<AgentCredentialId>(Number(payload))),
        onGap: () => void gateway.revokeMissed(),
      },
    ],
    [
      TASKS_CHANNEL,
      {
        onMessage: (payload) => gateway.pushTasks(asId<MachineId>(Number(payload))),
        onGap: () => gateway.pushAllTasks(),
      },
    ],
    [PROXY_PORTS_CHANNEL, { onMessage: () => loops.wake(PROXY_LOOP), onGap: () => loops.wake(PROXY_LOOP) }],
  ]);
}

function createGateway(
  dependencies: AppDependencies & { readonly sealer: Sealer; readonly leaseMs: number },
  recorder: ReportRecorder,
): AgentGateway {
  const { database, clock, log, secret, random, sealer, leaseMs } = dependencies;
  const keyOf = instanceKeyMaker(secret);
  const proofs = proofMaker(secret, random);
  return new AgentGateway(
    {
      authenticate: (token) => findCredential(database.kysely, hashToken(token)),
      register: async (credential, hello) => {
        const outcome = await withTransaction(database, clock, async (tx) => {
          const admission = await admit(tx, { credential, hello }, { proofs, log, leaseMs });
          if (!(admission instanceof AppError)) await followDevices(tx, [admission.machineId]);
          return admission;
        });
        if (outcome instanceof AppError) throw outcome;
        return outcome;
      },
      noticeClone: (machineId) => withTransaction(database, clock, (tx) => noticeClone(tx, machineId, log)),
      listRevoked: (ids) => listRevoked(database.kysely, ids),
      confirmProof: (registration) => withTransaction(database, clock, (tx) => confirmProof(tx, registration)),
      loadDesired: (machineId) =>
        inSnapshot(database, (db) => loadDesired(db, machineId, (id) => keyOf(id).secret, sealer)),
      record: (machineId, received) => recorder.submit(machineId, received),
      loadTasks: (machineId) => loadOpenTasks(database.kysely, sealer, { machineId, now: clock.now() }),
      recordTask: (machineId, message) =>
        withTransaction(database, clock, (tx) => recordTaskMessage(tx, machineId, message)),
      disconnected: (registration) =>
        withTransaction(database, clock, async (tx) => {
          if (await markDisconnected(tx, registration)) await refreshOffers(tx, [registration.machineId]);
        }),
    },
    { clock, log },
  );
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

/** Every background loop of the server, in one list. */
function listLoops(
  { database, clock }: AppDependencies,
  { ipHistory, proxy }: { readonly ipHistory: ReturnType<typeof createIpHistory>; readonly proxy: PortProxy },
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
    ...instanceLoops({ database, clock }),
    ...meteringLoops({ database, clock }),
    ...taskLoops({ database, clock }),
    idempotencyLoop({ database, clock }),
    proxyLoop({ database, proxy }),
  ];
}

function registerHealth({ app, database }: HttpScope, loops: LoopDriver): void {
  const Answer = Type.Object({ status: Type.String() });
  app.get(
    "/healthz",
    {
      config: { access: { operation: "api.health.process", permission: "public" } },
      schema: { summary: "Whether the process answers", response: { 200: Answer } },
    },
    async () => ({ status: "ok" }),
  );
  app.get(
    "/readyz",
    {
      config: { access: { operation: "api.health.ready", permission: "public" } },
      schema: { summary: "Whether database and loops work", response: { 200: Answer, 503: Answer } },
    },
    async (_request, reply) => {
      const isDatabaseUp = await database.pool.query("select 1").then(
        () => true,
        () => false,
      );
      if (isDatabaseUp && loops.isHealthy()) return { status: "ok" };
      return reply
        .code(503)
        .send({ status: isDatabaseUp ? "a background loop fails" : "the database does not answer" });
    },
  );
}
