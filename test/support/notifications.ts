import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createHash, randomBytes } from "node:crypto";
import { createLog } from "../../server/src/base/log.ts";
import { createEncryption } from "../../server/src/base/encryption.ts";
import { listMailboxes } from "../../server/src/domains/people/accounts/for-assembly.ts";
import { recordAudit, resolveUserId } from "../../server/src/domains/people/accounts/index.ts";
import { Deliverer } from "../../server/src/domains/notifications/delivery/deliverer.ts";
import type { Mailer } from "../../server/src/domains/notifications/delivery/mailer.ts";
import { notificationRoutes } from "../../server/src/domains/notifications/routes.ts";
import { createWebhookClient, type Resolve } from "../../server/src/domains/notifications/webhooks/client.ts";
import { testHttp, type TestHttp } from "./network/http.ts";
import { ManualClock } from "./manual-clock.ts";
import type { TestDatabase } from "./database/postgres.ts";

type Scope = { after(fn: () => Promise<void> | void): void };

export type Notifications = TestHttp & {
  readonly clock: ManualClock;
  readonly deliverer: Deliverer;
  /** Another process that serves the same database. */
  anotherDeliverer(): Deliverer;
  /** Runs one whole delivery; all of its work is over when it resolves. */
  deliver(): Promise<void>;
};

/** The routes and the delivery of notifications over a test database, with a clock that only the test moves. */
export async function notificationsHttp(
  scope: Scope,
  { database }: Pick<TestDatabase, "database">,
  {
    isPrivateAllowed = true,
    resolve = async () => ["127.0.0.1"],
    mailer,
    clock = new ManualClock("2026-05-01T00:00:00Z"),
  }: {
    readonly isPrivateAllowed?: boolean;
    readonly resolve?: Resolve;
    readonly mailer?: Mailer;
    readonly clock?: ManualClock;
  } = {},
): Promise<Notifications> {
  const encryption = createEncryption(createHash("sha256").update("notices").digest(), randomBytes);
  const callWebhook = createWebhookClient({ clock, resolve, isPrivateAllowed });
  const log = createLog("silent");
  const means = {
    database,
    clock,
    log,
    random: randomBytes,
    encryption,
    callWebhook,
    mailer,
    mailboxesOf: listMailboxes,
  };
  const made: Deliverer[] = [];
  const anotherDeliverer = () => {
    const deliverer = new Deliverer(means);
    made.push(deliverer);
    return deliverer;
  };
  const deliverer = anotherDeliverer();
  const ports = { random: randomBytes, encryption, callWebhook, isPrivateAllowed, recordAudit, resolveUserId };
  const http = await testHttp(database, (routes) => notificationRoutes(routes, ports), { clock });
  scope.after(async () => {
    for (const one of made) await one.stop();
    await http.scope.app.close();
  });
  return {
    ...http,
    clock,
    deliverer,
    anotherDeliverer,
    async deliver() {
      await deliverer.run();
      await deliverer.idle();
    },
  };
}

export type ReceivedCall = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

export type Receiver = {
  readonly url: string;
  readonly port: number;
  readonly calls: readonly ReceivedCall[];
};

/** A webhook's receiver on the loopback, over TLS when it is given a certificate. It answers what `answer` says. */
export async function aReceiver(
  scope: Scope,
  answer: (call: ReceivedCall, response: Parameters<RequestListener>[1]) => void = (_call, response) => response.end(),
  tls?: { readonly key: string; readonly cert: string },
): Promise<Receiver> {
  const calls: ReceivedCall[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const call = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) };
      calls.push(call);
      answer(call, response);
    });
  };
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  scope.after(
    () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  );
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}/hook`, port, calls };
}
