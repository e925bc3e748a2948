import { Type } from "typebox";
import type { Clock } from "./base/clock.ts";
import { asId, type MachineId } from "./base/ids.ts";
import type { Log } from "./base/log.ts";
import { nanos } from "./base/money.ts";
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
import { AgentGateway, findCredential, hashToken, markDisconnected, registerMachine } from "./domains/hosts/index.ts";
import {
  DESIRED_CHANNEL,
  destroyIfPresent,
  instanceKeyMaker,
  instanceLoops,
  instanceRoutes,
  listMachineIdsOf,
  loadDesired,
  OrderDesk,
  ReportRecorder,
} from "./domains/instances/index.ts";
import { balanceOf, createTransferPoster } from "./domains/ledger/index.ts";
import { MARKET_CHANNEL, marketRoutes, OfferTable, refreshOffers } from "./domains/market/index.ts";
import { meteringLoops } from "./domains/metering/index.ts";
import { endpointRoutes, retryWorkerRemoval } from "./domains/serverless/index.ts";
import { templateRoutes } from "./domains/templates/index.ts";
import { networkVolumeRoutes, volumeRoutes } from "./domains/volumes/index.ts";
import { registerDocs } from "./http/docs.ts";
import { idempotencyLoop } from "./process/idempotency-loop.ts";
import { registerMetrics } from "./process/metrics.ts";
import type { Limits } from "./http/rate-limit.ts";
import { createHttp, type HttpScope } from "./http/server.ts";
import { LoopDriver, type Loop } from "./loops/driver.ts";

export type AppDependencies = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: RandomBytes;
  /** What instance keys are derived from; the same at every start. */
  readonly secret: Buffer;
  readonly limits: Limits;
  readonly isProxyTrusted: boolean;
};

export type BerthApp = {
  readonly http: HttpScope;
  readonly gateway: AgentGateway;
  readonly loops: LoopDriver;
  readonly offers: OfferTable;
  readonly channels: ReadonlyMap<string, ChannelHandler>;
  /** Finishes what is under way; nothing new may arrive any more. */
  drain(): Promise<void>;
};

/** Puts the parts together. Nothing listens, runs or reads the database yet. */
export function buildApp(dependencies: AppDependencies): BerthApp {
  const { database, clock, log, random, secret } = dependencies;
  const identities = createIdentities({ database, clock });
  const ipHistory = createIpHistory({ database, clock, log });
  const offers = new OfferTable(database, { clock, log });
  const desk = new OrderDesk(database, clock, secret);
  const poster = createTransferPoster(database, clock);
  const recorder = new ReportRecorder(database, clock);
  const gateway = createGateway(dependencies, recorder);
  const http = createHttp({
    ...dependencies,
    authenticate: (presented) => identities.authenticate(presented),
    onAuthenticated: (identity, ipAddress) => ipHistory.record(identity, ipAddress),
  });
  const loops = new LoopDriver(listLoops(dependencies, ipHistory), { clock, log });

  void http.app.register(async () => {
    accountRoutes(http, {
      identities,
      ipHistory,
      random,
      balanceOf: async (userId) => {
        const { balance, available } = await balanceOf(database.kysely, userId);
        return { balanceNanos: balance, availableNanos: available };
      },
      grantCredit: (tx, { userId, amount, actor }) =>
        grantCredit(tx, { userId, amount: nanos(amount), reason: "credit granted", actor }),
    });
    billingRoutes(http, { poster });
    templateRoutes(http);
    marketRoutes(http, {
      offers,
      machinesRentedBy: async (userId) => new Set(await listMachineIdsOf(database.kysely, userId)),
    });
    instanceRoutes(http, { desk });
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
    channels: new Map([
      [API_KEYS_CHANNEL, identities.channelHandler],
      [MARKET_CHANNEL, offers.channel],
      [
        DESIRED_CHANNEL,
        {
          onMessage: (payload) => gateway.push(payload.split(",").map((id) => asId<MachineId>(Number(id)))),
          onGap: () => gateway.pushAll(),
        },
      ],
    ]),
    async drain() {
      await Promise.all([desk.idle(), poster.idle(), recorder.idle()]);
      await ipHistory.flush();
    },
  };
}

function createGateway({ database, clock, log, secret }: AppDependencies, recorder: ReportRecorder): AgentGateway {
  const keyOf = instanceKeyMaker(secret);
  return new AgentGateway(
    {
      authenticate: (token) => findCredential(database.kysely, hashToken(token)),
      register: (credential, hello) =>
        withTransaction(database, clock, async (tx) => {
          const registration = await registerMachine(tx, credential, hello);
          await refreshOffers(tx, [registration.machineId]);
          return registration;
        }),
      loadDesired: (machineId) => inSnapshot(database, (db) => loadDesired(db, machineId, (id) => keyOf(id).secret)),
      record: (machineId, received) => recorder.submit(machineId, received),
      disconnected: (registration) =>
        withTransaction(database, clock, async (tx) => {
          if (await markDisconnected(tx, registration)) await refreshOffers(tx, [registration.machineId]);
        }),
    },
    { clock, log },
  );
}

/** Every background loop of the server, in one list. */
function listLoops(
  { database, clock }: AppDependencies,
  ipHistory: ReturnType<typeof createIpHistory>,
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
    idempotencyLoop({ database, clock }),
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
