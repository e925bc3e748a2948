import type { ConsoleFiles } from "../../server/src/http/console.ts";
import { NO_PROXIES } from "../../server/src/http/trusted-proxies.ts";
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { buildApp, type BerthApp } from "../../server/src/assembly/app.ts";
import type { PermissionDocument } from "../../server/src/base/identity.ts";
import { createLog, type Log } from "../../server/src/base/log.ts";
import { createEncryption, type Encryption } from "../../server/src/base/encryption.ts";
import { listen } from "../../server/src/db/listener.ts";
import {
  disconnectServers,
  issueAgentToken,
  setPriceCeilings,
  setTrafficRules,
} from "../../server/src/domains/supply/hosts/for-assembly.ts";
import { withTransaction } from "../../server/src/db/transaction.ts";
import { auditLedger, balanceOf, postTransfers } from "../../server/src/domains/money/ledger/index.ts";
import type { NotificationSettings } from "../../server/src/assembly/notification-parts.ts";
import { nanos } from "../../server/src/base/money.ts";
import type { PriceCeilings } from "../../server/src/base/price-ceilings.ts";
import { setMarketRules } from "../../server/src/domains/supply/market/for-assembly.ts";
import type { MarketRules } from "../../server/src/domains/supply/market/for-instances.ts";
import { NO_PAYMENTS, type PaymentSettings } from "../../server/src/domains/money/payments/for-assembly.ts";
import { admitStart, enterServer, SAY_ALIVE_LOOP, ThisServer } from "../../server/src/domains/servers/index.ts";
import type { NameSettings } from "../../server/src/domains/names/index.ts";
import type { BackupSettings } from "../../server/src/domains/rental/backups/index.ts";
import type { SmsSender, SsoSettings } from "../../server/src/domains/people/sign-in/index.ts";
import { FakeHost, type FakeHostOptions } from "./hosts/fake-host.ts";
import { aCaller, aUser, inTransaction, type TestCaller } from "./fixtures.ts";
import { inject, NO_LIMITS, type TestAnswer, type TestCall } from "./network/http.ts";
import { grantOf } from "./money/ledger.ts";
import { setPlainTerms } from "./hosts/machines.ts";
import { ManualClock } from "./manual-clock.ts";
import { testDatabase, type TestDatabase } from "./database/postgres.ts";

const BARRIER_CHANNEL = "test_barrier";
const DOLLAR = 1_000_000_000n;
const SOON_MS = 900_000;
/** The address at which the proxy of the app under test listens, and the name that it tells for that. */
const PROXY = { bindHost: "127.0.0.1", publicHost: "proxy.example" };

export type TestApp = {
  readonly app: BerthApp;
  readonly env: TestDatabase;
  readonly clock: ManualClock;
  /** Encrypts the secrets of the app under test. */
  readonly encryption: Encryption;
  readonly origin: string;
  /** Log lines of level warn and above. */
  readonly complaints: readonly string[];
  call(call: TestCall): Promise<TestAnswer>;
  /** A user with a key and, unless another amount is given, 100 dollars. */
  caller(options?: { readonly dollars?: number; readonly permissions?: PermissionDocument }): Promise<TestCaller>;
  /** A connected host with its own credential, of this user or of one without a key, listed at $0.30 an hour for a GPU. */
  host(options?: Partial<FakeHostOptions> & { readonly owner?: TestCaller }): Promise<FakeHost>;
  /** Resolves when every change committed so far has reached offers and agents' sessions. */
  settled(): Promise<void>;
  /** Runs a background loop once. */
  runLoop(name: string): Promise<unknown>;
  /** Looks at the other servers of the database until one of them has been silent for long enough, and removes it. */
  reap(): Promise<void>;
  /** The live offers of a machine: number of devices → offer id. */
  offersOf(host: FakeHost): Promise<ReadonlyMap<number, number>>;
  /** Asserts that ledger and holds agree with each other and with the instances. */
  assertBooks(): Promise<void>;
  close(): Promise<void>;
};

/** A traffic limit that no test reaches. */
const NO_BUDGET = { baseNanos: 1_000_000_000_000_000_000n, sharePermille: 0 };

/** Price ceilings above every price that a test asks; nor is there a budget for traffic then. */
export const NO_CEILINGS: PriceCeilings = {
  trafficNanosPerGb: nanos(1_000_000_000_000n),
  storageNanosPerGbMonth: nanos(1_000_000_000_000n),
};

export type TestAppOptions = {
  readonly env?: TestDatabase;
  readonly clock?: ManualClock;
  readonly secret?: Buffer;
  /** Rules of eviction: the notice and the minimum slice. Both are zero unless a test is about them. */
  readonly rules?: Partial<MarketRules>;
  /** The most that hosts may ask for traffic and storage; the defaults of the settings when absent. */
  readonly ceilings?: PriceCeilings;
  /** The way in which cards are charged; nobody charges them when absent. */
  readonly payments?: PaymentSettings;
  /** The way in which notifications leave; when absent webhooks go to public addresses only, and no mail is sent. */
  readonly notifications?: NotificationSettings;
  /** The number of hosts that it simulates; when absent its hosts have no invented past. */
  readonly simulatedHosts?: number;
  /** The provider of text messages; none are sent when absent. */
  readonly sms?: SmsSender;
  /** The issuer of single sign-on; there is none when absent. */
  readonly sso?: SsoSettings;
  /** False when accounts are made by invitation only. */
  readonly isSignupOpen?: boolean;
  /** The folder of backups and their limits; none are made when absent. */
  readonly backups?: BackupSettings;
  /** Names that are served with certificates; when absent there are none. */
  readonly tls?: NameSettings;
  /** The build of the web console (console/built-console.ts); its pages say that there is none when absent. */
  readonly console?: ConsoleFiles;
  /** The name of its data directory: it enters itself among the servers of its database. */
  readonly dataDirKey?: string;
};

const secrets = new WeakMap<TestDatabase, Buffer>();

/** All servers of one database share a secret. */
function secretOf(env: TestDatabase): Buffer {
  const secret = secrets.get(env) ?? randomBytes(32);
  secrets.set(env, secret);
  return secret;
}

/** The whole server on a database of its own, with a socket for agents and a clock that only the test moves. */
export async function testApp(t: Pick<TestContext, "after">, options: TestAppOptions = {}): Promise<TestApp> {
  let close = async () => {};
  // The app closes before its database: hooks run in the order in which they were added.
  t.after(() => close());
  const env = options.env ?? (await testDatabase(t));
  const { clock = new ManualClock(), secret = secretOf(env) } = options;
  const encryption = createEncryption(secret, randomBytes);
  const { database } = env;
  await inTransaction(database, (tx) => setMarketRules(tx, { noticeMs: 0, minSliceMs: 0, ...options.rules }));
  const { ceilings } = options;
  if (ceilings !== undefined) {
    await inTransaction(database, async (tx) => {
      await setPriceCeilings(tx, ceilings);
      if (ceilings === NO_CEILINGS) await setTrafficRules(tx, NO_BUDGET);
    });
  }
  const complaints: string[] = [];
  const log = createLog("warn", { write: (line) => void complaints.push(line) });
  const server =
    options.dataDirKey === undefined ? undefined : await enter(options.dataDirKey, { env, clock, log, secret });
  const dependencies = {
    ...(server === undefined ? {} : { server }),
    database,
    clock,
    log,
    random: randomBytes,
    secret,
    limits: NO_LIMITS,
    trustedProxies: NO_PROXIES,
    proxy: PROXY,
    simulatedHosts: options.simulatedHosts,
    notifications: options.notifications ?? {},
    payments: options.payments ?? NO_PAYMENTS,
    sms: options.sms,
    sso: options.sso,
    isSignupOpen: options.isSignupOpen ?? true,
    backups: options.backups,
    tls: options.tls,
    console: options.console,
  };
  const app = buildApp(dependencies);
  const barriers = new Map<string, () => void>();
  const onMessage = (name: string) => barriers.get(name)?.();
  const channels = new Map([...app.channels, [BARRIER_CHANNEL, { onMessage, onGap: () => {} }] as const]);
  const listener = await listen(env.connection, channels, { clock, log });
  await Promise.all([app.offers.load(), app.space.load()]);
  app.gateway.attach(app.http.app.server);
  await app.http.app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.http.app.server.address();
  const origin = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  server?.listensAt(`http://${origin}`, [`http://${origin}`]);
  const beat = () => app.loops.find(SAY_ALIVE_LOOP)?.run();
  await beat();
  const hosts: FakeHost[] = [];
  let isClosed = false;

  close = async () => {
    if (isClosed) return;
    isClosed = true;
    for (const host of hosts) host.terminate();
    app.proxy.close();
    await app.gateway.close();
    await app.http.app.close();
    await app.loops.stop();
    await app.drain();
    await listener.close();
  };
  const settled = async () => {
    const name = randomBytes(8).toString("hex");
    const arrived = new Promise<void>((resolve) => barriers.set(name, resolve));
    // Notifications arrive in the order of their commits.
    await env.pool.query("select pg_notify($1, $2)", [BARRIER_CHANNEL, name]);
    await arrived;
    barriers.delete(name);
    await Promise.all([app.offers.settled(), app.space.settled(), app.routers.settled()]);
  };
  return {
    app,
    env,
    clock,
    encryption,
    origin,
    complaints,
    settled,
    close: () => close(),
    call: (call) => inject(app.http, call),
    async caller({ dollars = 100, permissions } = {}) {
      const made = await aCaller(database, permissions === undefined ? {} : { permissions });
      if (dollars > 0) await giveCredit({ env, clock }, made, dollars);
      return made;
    },
    async host({ owner, ...given } = {}) {
      const token = await inTransaction(database, async (tx) => {
        const { id: userId } = owner ?? (await aUser(tx));
        return issueAgentToken(tx, { userId, name: randomBytes(8).toString("hex"), isTrusted: true });
      });
      const host = new FakeHost({ origin, token, clock, database, ...given });
      hosts.push(host);
      await host.connect();
      await withTransaction(database, clock, (tx) => setPlainTerms(tx, host.machineId));
      await settled();
      return host;
    },
    async runLoop(name) {
      const loop = app.loops.find(name);
      assert.ok(loop, `there is no loop ${name}`);
      return loop.run();
    },
    async reap() {
      // The server's own beats go on meanwhile, and so do its looks at the beats of the others.
      for (let count = 0; count <= 6; count += 1) {
        clock.jump(2_000);
        await beat();
      }
      // A beat that found a dead server has begun to remove it.
      await app.loops.idle();
      await app.loops.find("remove-dead-servers")?.run();
    },
    async offersOf(host) {
      const { rows } = await env.pool.query<{ device_count: number; id: number }>(
        "select device_count, id from offers where machine_id = $1 and retired_at is null order by device_count",
        [host.machineId],
      );
      return new Map(rows.map((row) => [row.device_count, row.id]));
    },
    assertBooks: () => assertBooks(env, clock.now()),
  };
}

/** Starts a server of this name on a database, as the process does. */
async function enter(
  dataDirKey: string,
  { env, clock, log, secret }: Pick<TestApp, "env" | "clock"> & { readonly log: Log; readonly secret: Buffer },
): Promise<ThisServer> {
  const known = { settings: {}, schemaNumber: 1, version: "1.0.0" };
  const description = { dataDirKey, place: dataDirKey, address: undefined, agentAddresses: [], ...known };
  const flags = { secretFile: "secret", isSecretReplaced: false, areSettingsReplaced: false };
  const id = await withTransaction(env.database, clock, async (tx) => {
    const { earlierIds } = await admitStart(tx, { ...description, ...flags, secret });
    await disconnectServers(tx, earlierIds);
    return enterServer(tx, description, earlierIds);
  });
  return new ThisServer(id, description, { database: env.database, clock, log });
}

/** Adds dollars to a user's credit. */
export async function giveCredit(
  { env, clock }: Pick<TestApp, "env" | "clock">,
  user: TestCaller,
  dollars: number,
): Promise<void> {
  const amount = (BigInt(Math.round(dollars * 1e6)) * DOLLAR) / 1_000_000n;
  await withTransaction(env.database, clock, (tx) => postTransfers(tx, [grantOf(user.id, amount)]));
}

/** A user's credit, in nano-dollars. */
export async function creditOfUser({ env }: Pick<TestApp, "env">, user: TestCaller) {
  return balanceOf(env.database.kysely, user.id);
}

async function assertBooks({ database, pool }: TestDatabase, now: Date): Promise<void> {
  const audit = await auditLedger(database.kysely);
  assert.deepEqual(audit.differences, []);
  // Every pending hold belongs to exactly one instance that is not over, or not settled yet, and the other way round.
  const { rows } = await pool.query(
    `select h.id as hold, i.id as instance, i.phase
     from (
       select id from ledger_holds where state = 'pending'
         and id not in (select hold_id from volumes where hold_id is not null)
     ) h
     full join (
       select i.id, i.phase, t.hold_id, t.settle_at
       from instance_tabs t join instances i on i.id = t.instance_id where t.hold_id is not null
     ) i on i.hold_id = h.id
     where h.id is null or i.id is null
       or (i.phase in ('stopped', 'ended') and (i.settle_at is null or i.settle_at > $1))`,
    [now],
  );
  assert.deepEqual(rows, [], "holds and instances differ");
}

/** Asks every few milliseconds until the probe is true. */
export async function soon(what: string, probe: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + SOON_MS;
  while (!(await probe())) {
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`);
    await delay(2);
  }
}
