import { NO_PROXIES } from "../../server/src/http/trusted-proxies.ts";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { buildApp, type BerthApp } from "../../server/src/assembly/app.ts";
import { systemClock } from "../../server/src/base/clock.ts";
import type { PermissionDocument } from "../../server/src/base/identity.ts";
import type { MachineId } from "../../server/src/base/ids.ts";
import { createLog } from "../../server/src/base/log.ts";
import type { Database, DatabaseConfig } from "../../server/src/db/connect.ts";
import { listen } from "../../server/src/db/listener.ts";
import { deleteApiKeysNamed } from "../../server/src/domains/people/accounts/keys/store.ts";
import type { SmsMessage } from "../../server/src/domains/people/sign-in/sms.ts";
import { NO_PAYMENTS } from "../../server/src/domains/money/payments/for-assembly.ts";
import { refreshOffers } from "../../server/src/domains/supply/market/index.ts";
import { aCaller, aKey, inTransaction, type TestCaller } from "../support/fixtures.ts";
import { NO_LIMITS, type TestAnswer } from "../support/network/http.ts";
import { aMachine } from "../support/hosts/machines.ts";
import { startFakeRegistry, type FakeRegistry } from "../support/network/fake-registry.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { until } from "../support/until.ts";
import { PUBLIC_URL } from "../support/sign-in/issuer.ts";
import { anSmtpServer } from "../support/network/smtp-server.ts";
import { StripeServer } from "../support/money/stripe-server.ts";

/** A request, but for who sends it. */
export type Target = {
  /** The path with every parameter filled in, and a query if there is one. */
  readonly path: string;
  readonly body?: unknown;
  /** Further headers of the request, such as a signature. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body as it is, instead of `body`. */
  readonly text?: string;
  /** The address that it comes from; that of all requests when absent. */
  readonly from?: string;
};

export type Route = { readonly method: string; readonly path: string; readonly operation: string };

/** The whole server over a database of its own, without a socket, and the people that it knows. */
export type World = {
  readonly app: BerthApp;
  readonly database: Database;
  /** Every route that is registered, those that OpenAPI does not show included. */
  readonly routes: readonly Route[];
  readonly admin: TestCaller;
  /** The owner of the objects called `own` in the matrix. */
  readonly owner: TestCaller;
  /** The owner of the objects called `foreign`. */
  readonly stranger: TestCaller;
  /** The stand-in that takes cards. */
  readonly stripe: StripeServer;
  /** The one container registry that this server can reach. */
  readonly registry: FakeRegistry;
  /** The operator's folder of backups. */
  readonly backupFolder: string;
  /** Everything that was logged, one JSON object per line. */
  readonly logged: readonly string[];
  /** The text messages that were sent, oldest first. */
  readonly texts: readonly SmsMessage[];
  send(method: string, target: Target, secret?: string): Promise<TestAnswer>;
  /** The body of a request that must succeed. */
  done(method: string, target: Target, by: { readonly secret: string }): Promise<Readonly<Record<string, unknown>>>;
  /** Another key of the owner, or of the given user. */
  keyOf(permissions: PermissionDocument | undefined, user?: TestCaller): Promise<string>;
  /** Deletes the keys of the owner that `keyOf` made: an account has room for so many only. */
  forgetKeys(): Promise<void>;
  /** The newest entry of the audit log, with those that wait to be written. */
  lastAuditEntry(): Promise<bigint>;
  /** A text that changes with each written row, except in tables that each authenticated request may touch. */
  contents(): Promise<string>;
};

type Scope = { after(fn: () => Promise<void>): void };

/** The secret of the server under test. */
export const WORLD_SECRET = Buffer.alloc(32, "authz");
const ADDRESS = "192.0.2.1";
const ROW_KEY = "for one row";

export async function makeWorld(scope: Scope): Promise<World> {
  const { database, connection } = await testDatabase(scope);
  const stripe = await StripeServer.start();
  scope.after(() => stripe.close());
  const registry = await startFakeRegistry({ tags: { app: ["latest"] } });
  scope.after(() => registry.close());
  const smtp = await anSmtpServer(scope, () => "550 nobody reads it");
  const backupFolder = await mkdtemp(path.join(tmpdir(), "berth-backups-"));
  scope.after(() => rm(backupFolder, { recursive: true, force: true }));
  const logged: string[] = [];
  const texts: SmsMessage[] = [];
  const log = createLog("trace", { write: (line) => void logged.push(line) });
  const app = buildApp({
    database,
    clock: systemClock,
    log,
    random: (size) => crypto.getRandomValues(Buffer.alloc(size)),
    secret: WORLD_SECRET,
    limits: NO_LIMITS,
    trustedProxies: NO_PROXIES,
    proxy: { bindHost: "127.0.0.1", publicHost: "proxy.example" },
    payments: { ...NO_PAYMENTS, stripe: stripe.settings, publicUrl: PUBLIC_URL },
    registries: { isPrivateAllowed: true, resolve: async () => [] },
    notifications: { mail: { smtpUrl: smtp.url, from: "Berth <berth@market.example>" } },
    backups: { directory: backupFolder, limitBytes: 1_000_000, keptDays: 30 },
    sms: async (message) => texts.push(message) > 0,
  });
  const routes: Route[] = [];
  app.http.app.addHook("onRoute", ({ method, url, config }) => {
    if (method === "HEAD") return;
    routes.push({ method: String(method), path: url, operation: config?.access?.operation ?? "" });
  });
  await app.http.app.ready();
  const listener = await listen(connection, app.channels, { clock: systemClock, log });
  scope.after(async () => {
    await listener.close();
    await app.http.app.close();
    await app.drain();
  });
  const [admin, owner, stranger] = [
    await aCaller(database, { isAdmin: true }),
    await aCaller(database),
    await aCaller(database),
  ];
  const contents = await contentsReader(connection, scope);
  const send = (method: string, target: Target, secret?: string) => inject(app, method, target, secret);
  const world: World = {
    app,
    database,
    routes,
    admin,
    owner,
    stranger,
    stripe,
    registry,
    backupFolder,
    logged,
    texts,
    send,
    async done(method, target, by) {
      const answer = await send(method, target, by.secret);
      if (answer.status !== 200)
        throw new Error(`${method} ${target.path}: ${answer.status} ${answer.text} ${logged.at(-1)}`);
      return answer.body;
    },
    keyOf: (permissions, user = owner) =>
      inTransaction(
        database,
        async (tx) =>
          (await aKey(tx, holderOf(user), { name: ROW_KEY, ...(permissions === undefined ? {} : { permissions }) }))
            .secret,
      ),
    lastAuditEntry: async () => {
      await world.done("GET", { path: "/api/v1/audit_logs/?limit=1" }, admin);
      const { rows } = await database.pool.query<{ id: bigint }>("select coalesce(max(id), 0) as id from audit_events");
      return rows[0]?.id ?? 0n;
    },
    forgetKeys: () => inTransaction(database, (tx) => deleteApiKeysNamed(tx, owner.id, ROW_KEY)),
    contents,
  };
  for (const user of [owner, stranger]) {
    await world.done("POST", { path: "/api/v0/admin/credit/", body: { email: user.email, amount: 1_000_000 } }, admin);
  }
  return world;
}

/** The holder of a key: an account and, in a team, the member of it. */
function holderOf({ id, identity }: TestCaller) {
  return { id, isAdmin: identity.isAdmin, memberId: identity.memberId };
}

/** A machine of this host on the market, with nothing rented on it. */
export async function aListedMachine({ database, stranger }: World, host: TestCaller = stranger): Promise<MachineId> {
  return inTransaction(database, async (tx) => {
    const id = await aMachine(tx, host.id, { hostname: randomUUID() });
    await refreshOffers(tx, [id]);
    return id;
  });
}

/** An offer of one device, on a machine that is free. */
export async function anOffer(world: World, machineId?: MachineId): Promise<number> {
  const machine = machineId ?? (await aListedMachine(world));
  const { rows } = await world.database.pool.query<{ id: number }>(
    "select id from offers where machine_id = $1 and retired_at is null order by device_count limit 1",
    [machine],
  );
  const [offer] = rows;
  if (offer === undefined) throw new Error("the machine has no offer");
  return offer.id;
}

export type MadeInstance = { readonly id: number; readonly key: string };

/** An instance of the user on a machine of its own; interruptible when `price` is given. */
export async function anInstance(
  world: World,
  user: TestCaller,
  more: Readonly<Record<string, unknown>> = {},
): Promise<MadeInstance> {
  const path = `/api/v0/asks/${await anOffer(world)}/`;
  const made = await world.done("PUT", { path, body: { image: "alpine", disk: 10, ...more } }, user);
  return { id: Number(made["new_contract"]), key: String(made["instance_api_key"]) };
}

async function inject(
  app: BerthApp,
  method: string,
  { path, body, headers = {}, text, from = ADDRESS }: Target,
  secret?: string,
): Promise<TestAnswer> {
  const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await app.http.app.inject({
    // The framework's list of methods; an unknown one is its own failure.
    method: method as "GET",
    url: path,
    remoteAddress: from,
    headers: {
      ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
      ...(payload === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(payload === undefined ? {} : { payload }),
  });
  const isJson = response.headers["content-type"] === "application/json" && response.body !== "";
  return {
    status: response.statusCode,
    body: isJson ? JSON.parse(response.body) : undefined,
    text: response.body,
    bytes: response.rawPayload,
    headers: response.headers,
  };
}

/** Tables that every authenticated request writes, refused ones included: the IP history, and the last use of sessions. */
const TOUCHED_BY_EVERY_REQUEST = ["ip_accesses", "session_uses"];

/** A function that tells what the database holds, in words that differ when any row of it does. */
async function contentsReader(connection: DatabaseConfig, scope: Scope): Promise<() => Promise<string>> {
  // Starting other processes to read so many small tables at once takes longer than reading them.
  const client = new pg.Client({ ...connection, options: "-c max_parallel_workers_per_gather=0" });
  await client.connect();
  scope.after(() => client.end());
  const { rows: tables } = await client.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' and not tablename = any ($1) order by 1",
    [TOUCHED_BY_EVERY_REQUEST],
  );
  // A written row names the transaction that wrote it, later than all before: after every insert, update or delete
  // the number of rows or the sum of these names differs.
  const parts = tables.map(
    ({ name }) => `select '${name} ' || count(*) || ' ' || coalesce(sum(xmin::text::bigint), 0) as line from ${name}`,
  );
  // Named, so that it is planned once.
  const everything = { name: "everything", text: parts.join(" union all ") };
  return async () => {
    // How a notice is delivered is decided behind the request that gave the reason for it.
    await until("all notices to be planned and mailed", async () => {
      const { rows: unfinished } = await client.query(
        `(select 1 from notices where planned_at is null limit 1)
         union all (select 1 from notice_deliveries where channel = 'email' and due_at is not null limit 1)`,
      );
      return unfinished.length === 0;
    });
    const { rows } = await client.query<{ line: string }>(everything);
    return rows.map(({ line }) => line).join("\n");
  };
}
