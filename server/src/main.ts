import { randomBytes, randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import path from "node:path";
import { buildApp, type BerthApp } from "./assembly/app.ts";
import { systemClock } from "./base/clock.ts";
import type { UserId } from "./base/ids.ts";
import { createLog, type Log } from "./base/log.ts";
import { checkBackupFolder } from "./assembly/backup-settings.ts";
import { ConfigError } from "./assembly/config-error.ts";
import { readConfig, type Config } from "./assembly/config.ts";
import { connect, type Database, type DatabaseConfig } from "./db/connect.ts";
import { startEmbeddedPostgres } from "./db/embedded/postgres.ts";
import { listen } from "./db/listener.ts";
import { withTransaction } from "./db/transaction.ts";
import { countConnectedGpus } from "./domains/supply/hosts/for-assembly.ts";
import { GATHER_MS } from "./domains/rental/instances/for-assembly.ts";
import { bringUpToDate, ownSchema } from "./assembly/schema.ts";
import { lockDataDir } from "./assembly/lock.ts";
import { startAgentProcess, type AgentProcess } from "./assembly/agent-process.ts";
import { startConsoleBuild } from "./assembly/console-build.ts";
import { readyText } from "./assembly/announce.ts";
import { openFactKeeper } from "./assembly/files.ts";
import { freeBytesOf } from "./assembly/health.ts";
import { SAY_ALIVE_LOOP } from "./domains/servers/index.ts";
import { createSmsSender, issueToken, pathOf } from "./domains/people/sign-in/index.ts";
import { drainServer } from "./assembly/drain.ts";
import { PROXY_LOOP } from "./assembly/loops/proxy.ts";
import { readSecretFiles } from "./assembly/secret-files.ts";
import { startTracing } from "./assembly/start-tracing.ts";
import { startServer, type StartedServer } from "./assembly/start-server.ts";
import {
  databaseTrouble,
  explainStart,
  isFirstStart,
  requirePorts,
  requireRoom,
  StartTrouble,
} from "./assembly/start-trouble.ts";
import { startTls } from "./assembly/start-tls.ts";
import { unknownSettings } from "./assembly/unknown-settings.ts";
import { Draining } from "./http/draining.ts";
import type { ConsoleFiles } from "./http/console.ts";

/** How long `ready` waits for the hosts that this process starts itself, and for each of many simulated ones. */
const HOSTS_WAIT_MS = 8_000;
const SIMULATED_HOST_WAIT_MS = 8;
const HOSTS_POLL_MS = 20;
/** Migrations from this number on take seconds, as those of a new database do. */
const SLOW_MIGRATIONS = 20;

const CLOCK_ID_MAX = 2 ** 31;
const clock = { ...systemClock, id: randomInt(CLOCK_ID_MAX) };
/** Functions that stop the started parts, in the order of their start; they run in reverse. */
const stops: (() => Promise<void>)[] = [];
const draining = new Draining();
/** Ends the time in which this server, asked to stop, still answers. */
const hurry = new AbortController();
/** Lets requests go to other servers before this one stops; does nothing before it takes any. */
let drain = async (): Promise<void> => {};
let stopping: Promise<void> | undefined;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Stops everything once; asked again, it resolves with the first. */
function stopAll(log: Log): Promise<void> {
  stopping ??= stopEach(log);
  return stopping;
}

async function stopEach(log: Log): Promise<void> {
  await drain();
  for (const stop of stops.toReversed()) {
    try {
      await stop();
    } catch (error) {
      log.error({ err: error }, "a part could not be stopped cleanly");
      process.exitCode = 1;
    }
  }
}

/** The database by the connections of requests, and how to reach it for what needs a session of its own. */
async function openDatabase(config: Config, log: Log): Promise<{ database: Database; direct: DatabaseConfig }> {
  const { databaseUrl, databaseDirectUrl } = config;
  const isPooled = databaseDirectUrl !== undefined;
  let connection: DatabaseConfig = { connectionString: databaseUrl, isPooled };
  if (await isFirstStart(config)) {
    await requireRoom(config);
    say("Making a database (first start, some seconds)…");
  }
  if (databaseUrl === undefined) {
    const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, clock, log });
    stops.push(() => postgres.stop());
    void postgres.exited.then(() => {
      if (stopping !== undefined) return;
      say(`PostgreSQL was shut down, or failed too often; stopping. ${config.dataDir}/postgres/postgres.log says why.`);
      process.exitCode = 1;
      void stopAll(log);
    });
    connection = postgres.connection;
  }
  const onPending = (count: number) => {
    if (count >= SLOW_MIGRATIONS) say(`Preparing the database (${count} migrations)…`);
  };
  const database = connect(connection, log, await openFactKeeper(config.dataDir));
  stops.push(() => database.close());
  const direct = isPooled ? { connectionString: databaseDirectUrl } : connection;
  const { mayMigrate } = config;
  const applied = await bringUpToDate(direct, { database, clock, mayMigrate, onPending }).catch((error: unknown) => {
    if (databaseUrl === undefined) throw error;
    throw isPooled
      ? databaseTrouble(error, databaseDirectUrl, "BERTH_DATABASE_DIRECT_URL")
      : databaseTrouble(error, databaseUrl);
  });
  if (applied.length > 0) say(`Database prepared (${applied.length} migrations).`);
  return { database, direct };
}

/** Follows the notifications of the database, and refuses a start to which none would come. */
async function followDatabase(app: BerthApp, { database, direct, log }: FollowMeans): Promise<void> {
  const listener = await listen(direct, app.channels, {
    clock,
    log,
    notify: (channel, payload) => database.pool.query("select pg_notify($1, $2)", [channel, payload]),
    pulseId: randomBytes(8).toString("hex"),
  });
  stops.push(() => listener.close());
  if (await listener.hears()) return;
  throw new StartTrouble(
    "notifications of the database do not come: DATABASE_URL leads to a pooler, or to another database than " +
      "BERTH_DATABASE_DIRECT_URL. Set BERTH_DATABASE_DIRECT_URL to PostgreSQL itself.",
  );
}

type FollowMeans = { readonly database: Database; readonly direct: DatabaseConfig; readonly log: Log };

async function serve(config: Config, app: BerthApp): Promise<string> {
  app.gateway.attach(app.http.app.server);
  await app.http.app.listen({ host: config.host, port: config.port });
  const tls = await startTls(config, app);
  stops.push(async () => {
    tls.close();
    app.proxy.close();
    await app.gateway.close();
    await app.http.app.close();
    await app.loops.stop();
    await app.drain();
  });
  const address = app.http.app.server.address();
  const port = typeof address === "object" && address !== null ? address.port : config.port;
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  return `http://${host}:${port}`;
}

/** The first address of this machine that others may reach; the loopback when it has no other. */
function outerAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}

/** The address that ports of instances listen at: with a name of its own the server serves more than this machine. */
function bindAddress({ host, tls }: Config): string {
  return tls === undefined ? host : (tls.host ?? "0.0.0.0");
}

/** The address under which renters reach what this machine serves. */
function publicAddress(config: Config): string {
  const bound = bindAddress(config);
  return isEveryAddress(bound) ? outerAddress() : bound;
}

/** The default URL at which other servers of the database reach this one. */
function internalUrl(config: Config, url: string): string {
  return isEveryAddress(config.host) ? url.replace(/\/\/.*(?=:\d+$)/, `//${outerAddress()}`) : url;
}

function isEveryAddress(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function startAgent(config: Config, url: string, token: string): AgentProcess | undefined {
  if (!config.hasAgent) return undefined;
  const reachable = new URL(isEveryAddress(config.host) ? url.replace(/\/\/[^/]*:/, "//127.0.0.1:") : url);
  const agent = startAgentProcess(
    {
      serverUrl: `ws://${reachable.host}/agent`,
      token,
      publicIp: publicAddress(config),
      bindAddress: bindAddress(config),
      stateDir: path.join(config.dataDir, "agent"),
      simulatedHosts: config.simulatedHosts,
      declaredGpus: config.declaredGpus,
      logLevel: config.logLevel,
      say,
    },
    clock,
  );
  stops.push(() => agent.stop());
  return agent;
}

/** Waits until the hosts of this process are on the market, or it is clear that they take longer. */
async function hostsReady(config: Config, app: BerthApp, agent: AgentProcess | undefined): Promise<void> {
  const expected = config.simulatedHosts ?? 1;
  const untilMs = clock.monotonicMs() + HOSTS_WAIT_MS + (config.simulatedHosts ?? 0) * SIMULATED_HOST_WAIT_MS;
  while (agent !== undefined && !agent.hasGivenUp() && stopping === undefined && clock.monotonicMs() < untilMs) {
    if (app.gateway.connectedCount >= expected) break;
    await clock.sleep(HOSTS_POLL_MS);
  }
  // Read at once: no notification comes for a host whose devices are all rented, as it has no offer.
  await Promise.all([app.offers.load(), app.space.load()]);
}

/** Builds the console beside the start of the server, unless it is switched off. */
function startConsole({ hasConsole }: Config): ConsoleFiles | undefined {
  if (!hasConsole) return undefined;
  const build = startConsoleBuild(say);
  stops.push(() => build.stop());
  return build.files;
}

function sayWhatIsMissing({ payments, notifications }: Config): void {
  if (payments.stripe === undefined) {
    say("No card payments are set up: credit is what an administrator gives (docs/payments.md).");
  }
  if (notifications.mail === undefined) {
    say("No mail server is set up: notifications are not mailed (docs/notifications.md).");
  }
}

/** A link for the administrator, where a person reads it: elsewhere a log would keep it. */
async function signInPath(database: Database, userId: UserId): Promise<string | undefined> {
  if (!process.stdout.isTTY && process.env["BERTH_PRINT_SIGN_IN_LINK"] !== "1") return undefined;
  const link = await withTransaction(database, clock, (tx) => issueToken(tx, { purpose: "link", userId }, randomBytes));
  return pathOf("link", link.secret);
}

type Announced = {
  readonly url: string;
  readonly database: Database;
  readonly started: Pick<StartedServer, "adminKey" | "adminId">;
  readonly app: BerthApp;
  readonly isAgentGivenUp: boolean;
};

/** Says that the server is ready, unless it was asked to stop meanwhile. */
async function announce(config: Config, { url, database, started, app, isAgentGivenUp }: Announced): Promise<void> {
  const standing = {
    url,
    keyFile: path.join(config.dataDir, "admin.key"),
    adminKey: started.adminKey,
    signInPath: await signInPath(database, started.adminId),
    connectedHosts: app.gateway.connectedCount,
    gpuCount: await countConnectedGpus(database.kysely),
    offerCount: app.offers.size,
    isAgentGivenUp,
  };
  sayWhatIsMissing(config);
  if (stopping === undefined) say(readyText(config, standing));
}

async function readSettings(): Promise<Config> {
  await readSecretFiles(process.env);
  const config = readConfig(process.env);
  await checkBackupFolder(config.backups);
  for (const sentence of unknownSettings(process.env)) say(sentence);
  return config;
}

async function main(): Promise<void> {
  const config = await readSettings();
  const log = createLog(config.logLevel);
  const lock = await lockDataDir(config.dataDir).catch(async (error: unknown) => {
    throw new StartTrouble(await explainStart(error, config), { cause: error });
  });
  if (lock.kind === "held") {
    const holder = lock.holderPid === undefined ? "" : ` (process ${lock.holderPid})`;
    say(`Another berth runs on ${config.dataDir} already${holder}. Stop it, or choose another --data-dir.`);
    process.exitCode = 1;
    return;
  }
  stops.push(() => lock.release());
  const stopTracing = await startTracing(process.env, clock);
  if (stopTracing !== undefined) stops.push(stopTracing);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // A person at the keyboard, or a second signal, does not want to wait.
      if (signal === "SIGINT" || stopping !== undefined) hurry.abort();
      void stopAll(log).then(() => say("Stopped."));
    });
  }
  try {
    await requirePorts(config);
    const { database, direct } = await openDatabase(config, log);
    const started = await startServer(config, { database, clock, log });
    const { server, secret, token } = started;
    stops.push(() => server.stop());
    const proxy = { bindHost: bindAddress(config), publicHost: config.proxyHost ?? publicAddress(config) };
    const app = buildApp({
      ...config,
      environment: process.env,
      database,
      clock,
      log,
      secret,
      server,
      random: randomBytes,
      sms: config.smsProvider && createSmsSender(config.smsProvider),
      proxy,
      console: startConsole(config),
      gatherMs: GATHER_MS,
      freeBytes: () => freeBytesOf(config.dataDir),
      newestMigration: await ownSchema(),
      draining,
    });
    await app.http.app.ready();
    await followDatabase(app, { database, direct, log });
    await Promise.all([app.offers.load(), app.space.load()]);
    app.loops.start();
    app.loops.wake(PROXY_LOOP);
    const url = await serve(config, app);
    const { drainMs } = config;
    drain = () => drainServer({ draining, server, clock, drainMs, signal: hurry.signal });
    server.listensAt(config.internalUrl ?? internalUrl(config, url));
    app.loops.wake(SAY_ALIVE_LOOP);
    await writeFile(path.join(config.dataDir, "server.url"), `${url}\n`);
    const agent = startAgent(config, url, token);
    await hostsReady(config, app, agent);
    await announce(config, { url, database, started, app, isAgentGivenUp: agent?.hasGivenUp() ?? true });
  } catch (error) {
    say(`berth could not start: ${await explainStart(error, config)}`);
    log.debug({ err: error }, "start failed");
    process.exitCode = 1;
    await stopAll(log);
  }
}

// A reader that went away, such as `head`, is no reason to end what renters use.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

await main().catch((error: unknown) => {
  // A wrong setting is known before anything was started.
  if (error instanceof StartTrouble) say(`berth could not start: ${error.message}`);
  else say(error instanceof ConfigError ? error.message : `berth could not start: ${String(error)}`);
  process.exitCode = error instanceof StartTrouble ? 1 : 2;
});
