import swagger from "@fastify/swagger";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { fastify, type FastifyContextConfig, type FastifyReply, type FastifyRequest } from "fastify";
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { AppError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { Origin } from "../base/facts.ts";
import type { Caller, Identity } from "../base/identity.ts";
import { invariant } from "../base/invariant.ts";
import type { Log } from "../base/log.ts";
import { networkOf } from "../base/public-address.ts";
import type { Database } from "../db/connect.ts";
import { withTransaction, type Tx } from "../db/transaction.ts";
import type { Pause } from "../base/pause.ts";
import { withoutSecrets } from "../base/account-view.ts";
import { asParameters, refuseParameters } from "../base/access.ts";
import { AnswerWatch } from "./answer-watch.ts";
import { BodyWatch, type BodyClass } from "./body-watch.ts";
import { authenticator, type AuthenticatorDependencies } from "./callers/authenticator.ts";
import { refuseCrossSite } from "./callers/same-origin.ts";
import { presentedCookie, sendRenewedCookies } from "./callers/session-cookie.ts";
import { CONNECTIONS_PER_ADDRESS, limitConnections } from "./connection-limit.ts";
import { answerClientError, answerExpectations } from "./early-errors.ts";
import type { Draining } from "./draining.ts";
import { describeDocument } from "./description/document.ts";
import { ErrorBody, RateLimitBody, sendError, unsupportedMediaType } from "./error-response.ts";
import { once, type Repeatable } from "../db/idempotency.ts";
import { repeatableOf } from "./idempotency.ts";
import { pauseGate, type RefuseInPause } from "./pause-gate.ts";
import { presentedSecret, mayHaveKeyInBody } from "./presented-secret.ts";
import { keepContexts, passAsRecorded, type OnAct } from "./request-contexts.ts";
import { refuseUnknownRoutes, type StrayAnswer } from "./known-paths.ts";
import { OwnRequests, type OwnAnswer, type OwnRequest } from "./own-requests.ts";
import { sanitize, sanitizeQuery } from "./sanitize.ts";
import { serializerOf } from "./serialize.ts";
import { watchSilentConnections } from "./silent-connections.ts";
import { proxyTrust, type TrustedProxies } from "./trusted-proxies.ts";
import type { RouteAccess } from "../base/access.ts";
import { traceRequests } from "./trace-requests.ts";
import type { App } from "./types.ts";
import { validatorOf } from "./validate.ts";
import { isClientPath, WebSockets } from "./web-sockets.ts";

const BODY_BYTES_MAX = 1_048_576;
const HEADERS_TIMEOUT_MS = 20_000;
/** The limit of one request: the longest upload of a file. Other bodies have far less (body-watch.ts). */
const REQUEST_TIMEOUT_MS = 3_600_000;
const TIMEOUT_CHECK_MS = 5_000;

export type HttpDependencies = AuthenticatorDependencies & {
  readonly database: Database;
  readonly log: Log;
  readonly trustedProxies: TrustedProxies;
  readonly draining?: Pick<Draining, "isDraining"> | undefined;
  /** Told of changes for the audit log; absent where none is kept. */
  readonly onAct?: OnAct;
  /** The pause of the service, if any; absent where it never pauses. */
  readonly currentPause?: () => Promise<Pause | undefined>;
};

/** Means of a domain's routes. */
export type HttpScope = {
  readonly app: App;
  readonly database: Database;
  readonly clock: Clock;
  /** WebSockets of clients. */
  readonly webSockets: WebSockets;
  /** One transaction that honours the request's Idempotency-Key: effect and answer are committed together. */
  readonly mutate: <T>(request: FastifyRequest, work: (tx: Tx) => Promise<T>) => Promise<T>;
  /** The key and answer store of operations that store their answer themselves; undefined without an Idempotency-Key. */
  readonly repeatable: (request: FastifyRequest) => Repeatable | undefined;
  /** The access of the route that answers such a request; undefined when there is no such route. */
  readonly accessOf: (method: string, path: string) => RouteAccess | undefined;
  /** Lets people's browsers have a page where there is none; other clients get the refusal in JSON. */
  readonly answerStrays: (answer: StrayAnswer) => void;
  /** Sends a request of the server itself as this caller; undefined, without sending it, when the server closes. */
  readonly sendAs: (identity: Identity, request: OwnRequest) => Promise<OwnAnswer | undefined>;
};

/** The caller of an authenticated route. */
export function identityOf(request: FastifyRequest): Identity {
  invariant(request.identity !== undefined, "only authenticated routes ask for the caller");
  return request.identity;
}

/** The caller of an authenticated route with the address of the request. */
export function callerOf(request: FastifyRequest): Caller {
  return { identity: identityOf(request), ipAddress: request.ip };
}

/** Builds the HTTP server with everything that holds for all operations; domains then add their routes. */
export function createHttp(dependencies: HttpDependencies): HttpScope {
  const { database, clock, log } = dependencies;
  const isProxy = proxyTrust(dependencies.trustedProxies);
  const processPrefix = randomBytes(4).toString("hex");
  let requestCount = 0;
  const nextRequestId = () => `${processPrefix}-${(requestCount += 1).toString(36)}`;
  const app: App = fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    trustProxy: dependencies.trustedProxies.kind === "none" ? false : isProxy,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // Refused below, in the documented shape.
      requireHostHeader: false,
      // Clients that only offer a newer HTTP (`Upgrade: h2c`) are served as HTTP/1.1 (RFC 9110 section 7.8).
      shouldUpgradeCallback: isForWebSockets,
    },
    clientErrorHandler: (error, socket) => answerClientError(error, socket, nextRequestId()),
    genReqId: nextRequestId,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 320 },
    forceCloseConnections: "idle",
    // For paths that cannot be decoded: no route was found, so none of the hooks below runs.
    frameworkErrors: (error, request, reply) => {
      void reply.header("x-request-id", request.id).type("application/json").serializer(JSON.stringify);
      sendError(error, request, reply, log);
    },
    return503OnClosing: false,
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.setValidatorCompiler(({ schema, httpPart }) => validatorOf(schema, httpPart === "body"));
  app.setSerializerCompiler(({ schema }) => serializerOf(schema));
  app.decorateRequest("identity", undefined);
  app.decorateRequest("isByCookie", false);
  acceptJson(app);
  requireAccess(app);
  describe(app);
  answerExpectations(app.server, nextRequestId);
  limitConnections(app.server, {
    perAddress: CONNECTIONS_PER_ADDRESS,
    isProxy: (address) => isProxy(address, 0),
  });
  traceRequests(app, ({ socket }) => isProxy(socket.remoteAddress ?? "", 0));
  keepContexts(app, dependencies.onAct);
  const ownRequests = new OwnRequests(app);
  const gates = { authenticate: authenticator(dependencies, ownRequests), refuseInPause: pauseGate(dependencies) };
  admitCallers(app, gates, watchBodies(app, clock));
  shapeAnswers(app, log, dependencies.draining);
  sendRenewedCookies(app, clock);
  const knownPaths = refuseUnknownRoutes(app, log);
  watchAnswers(app, clock);

  const repeatable = (request: FastifyRequest) => repeatableOf(request, secretOf(request));
  return {
    app,
    database,
    clock,
    webSockets: new WebSockets(app),
    repeatable,
    accessOf: (method, path) => knownPaths.accessOf(method, path),
    answerStrays: (answer) => {
      knownPaths.stray = answer;
    },
    sendAs: (identity, request) => ownRequests.send(identity, request),
    mutate: mutateBy(dependencies, repeatable),
  };
}

/** Changes by requests, each in a transaction with its answer. */
function mutateBy({ database, clock }: HttpDependencies, repeatable: HttpScope["repeatable"]): HttpScope["mutate"] {
  return async (request, work) => {
    // Some reads change something, too.
    if (request.isByCookie) refuseCrossSite(request);
    invariant(request.identity?.view === undefined, "an operation that a view shows changes nothing");
    let isDone = false;
    const doIt = (tx: Tx) => {
      isDone = true;
      return work(tx);
    };
    const transaction = (tx: Tx) => once(tx, repeatable(request), () => doIt(tx));
    const answer = await withTransaction(database, clock, transaction, originOf(request));
    // The act that this answer is of was recorded when it was done.
    if (!isDone) passAsRecorded();
    return answer;
  };
}

/** The text that only the caller has, with which stored answers are encrypted. */
function secretOf(request: FastifyRequest): string {
  const secret = presentedSecret(request);
  if (secret !== undefined || !request.isByCookie) return secret ?? "";
  const cookie = presentedCookie(request);
  return cookie.kind === "one" ? (cookie.value.split(".")[0] ?? "") : "";
}

/** The caller of a request, for the facts that it leaves. */
function originOf({ identity, ip, id }: FastifyRequest): Origin {
  const { userId, apiKeyId, memberId } = identity ?? {};
  return { userId, apiKeyId, memberId, ipAddress: ip, requestId: id };
}

/** Rules for all answers: headers, errors in the documented shape, and connections that end while the server closes. */
function shapeAnswers(app: App, log: Log, draining: HttpDependencies["draining"]): void {
  let isClosing = false;
  const closeSilent = watchSilentConnections(app.server);
  app.addHook("preClose", async () => {
    isClosing = true;
    closeSilent();
  });
  app.addHook("onSend", async (request, reply, payload) => {
    // An answer given while draining is the last one on its connection: kept alive, it would hold up the end of the process.
    // A proxy that keeps no connection to this server sends no request into its end.
    if (isClosing || draining?.isDraining === true) void reply.header("connection", "close");
    // No character set: published clients compare the header for equality.
    const contentType = reply.getHeader("content-type");
    if (typeof contentType === "string" && contentType.startsWith("application/json")) {
      void reply.header("content-type", "application/json");
    }
    void reply.header("x-request-id", request.id);
    // A proxy that ends TLS for the server decides this itself.
    if ("encrypted" in request.raw.socket) void reply.header("strict-transport-security", STRICT_TRANSPORT);
    protectAnswer(reply);
    return payload;
  });
  app.addHook("preSerialization", async ({ identity }, _reply, payload) =>
    identity?.view === undefined ? payload : withoutSecrets(payload),
  );
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, log));
}

/** Browsers that came by TLS come by it for a year, also where a link says otherwise. Names below this one may differ. */
const STRICT_TRANSPORT = "max-age=31536000";

/** A page of ours without scripts: its own style, and nothing from elsewhere. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Answers hold keys and accounts, so no cache keeps them unless their route says otherwise; pages load nothing. */
function protectAnswer(reply: FastifyReply): void {
  if (!reply.hasHeader("cache-control")) void reply.header("cache-control", "no-store");
  void reply.header("x-content-type-options", "nosniff");
  const isPage = String(reply.getHeader("content-type")).startsWith("text/html");
  if (isPage && !reply.hasHeader("content-security-policy")) void reply.header("content-security-policy", PAGE_POLICY);
}

/** True for a WebSocket request at a path that has some: agents, their streams, servers that pass these on, and clients. */
function isForWebSockets({ headers, url = "" }: IncomingMessage): boolean {
  const isWebSocket = headers.upgrade?.toLowerCase() === "websocket";
  return isWebSocket && (/^\/(?:agent|server)(?:[/?]|$)/.test(url) || isClientPath(url));
}

/** Bounds the bodies of this server in time and memory, from before it listens until it has closed. */
function watchBodies(app: App, clock: Clock): BodyWatch {
  const bodies = new BodyWatch(clock);
  app.addHook("onReady", async () => bodies.start());
  app.addHook("onClose", async () => bodies.stop());
  return bodies;
}

/** Bounds answers that clients do not read, while the server listens. */
function watchAnswers(app: App, clock: Clock): void {
  const answers = new AnswerWatch(clock);
  app.addHook("onReady", async () => answers.start());
  app.addHook("onClose", async () => answers.stop());
  app.addHook("onSend", async ({ identity, ip, method, routeOptions }, reply, payload) => {
    // A change is done when its answer is sent, so that answer is never refused.
    const isReading = method === "GET" || /\.(?:search|query)/.test(routeOptions.config.access?.operation ?? "");
    if (!isReading) return payload;
    const caller =
      identity === undefined
        ? ({ callerClass: "public", caller: networkOf(ip) } as const)
        : ({ callerClass: "known", caller: String(identity.userId) } as const);
    answers.begin(reply.raw, payload, caller);
    return payload;
  });
}

/** Bytes of body that the header announces; as many as the route takes when it does not say. */
function announcedBytes({ headers, routeOptions }: FastifyRequest): number {
  const length = headers["content-length"];
  if (length !== undefined) return Math.min(Number(length), routeOptions.bodyLimit);
  return headers["transfer-encoding"] === undefined ? 0 : routeOptions.bodyLimit;
}

/** Callers are identified before their body is read, and the parameters they may use are checked before the handler runs. */
function admitCallers(
  app: App,
  {
    authenticate,
    refuseInPause,
  }: { readonly authenticate: (request: FastifyRequest) => Promise<void>; readonly refuseInPause: RefuseInPause },
  bodies: BodyWatch,
): void {
  const beginBody = (request: FastifyRequest, bodyClass: BodyClass, caller: string) =>
    bodies.begin(request.raw, { bodyClass, caller, bytes: announcedBytes(request) });
  app.addHook("onRequest", async (request) => {
    if (request.raw.httpVersion === "1.1" && request.headers.host === undefined) {
      throw new AppError("invalid", "invalid_request", "The request has no Host header.");
    }
    // Only a key in the body makes the server read the body before it knows the caller.
    const isStranger = mayHaveKeyInBody(request) && presentedSecret(request) === undefined;
    if (!isStranger) await authenticate(request);
    const { identity } = request;
    if (identity === undefined) beginBody(request, "public", networkOf(request.ip));
    else beginBody(request, "known", `user ${identity.userId}`);
  });
  app.addHook("preValidation", async (request) => {
    bodies.end(request.raw);
    sanitizeQuery(request.query);
    sanitize(request.body, request.routeOptions.config.nullMembers);
    if (mayHaveKeyInBody(request) && request.identity === undefined) await authenticate(request);
    const { identity, routeOptions } = request;
    const access = routeOptions.config.access;
    if (identity === undefined || access === undefined) return;
    const refused =
      refuseParameters(identity, access, [request.params, request.query, request.body].map(asParameters)) ??
      (await refuseInPause(request, identity, access));
    if (refused) throw refused;
  });
}

function malformedJson({ malformedJson: own }: FastifyContextConfig, cause: Error): AppError {
  if (own === undefined) return new AppError("invalid", "invalid_request", "Invalid json body", { cause });
  return new AppError("malformed_command", "invalid_args", "Invalid json_body", { cause });
}

type BodyDone = (error: Error | null, body?: unknown) => void;

/**
 * JSON only; an absent body is an empty object, since many clients send none with PUT and DELETE. A body without a
 * content type is read as JSON, too. What is sent to a path without a route does not matter.
 */
function acceptJson(app: App): void {
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser("error", "error");
  const read = (request: FastifyRequest, body: string, done: BodyDone) => {
    if (request.is404 || body === "" || body === "null") return done(null, {});
    void parse(request, body, (error, value) => {
      if (error) done(malformedJson(request.routeOptions.config, error));
      else done(null, value);
    });
  };
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) =>
    read(request, String(body), done),
  );
  app.addContentTypeParser("*", { parseAs: "string" }, (request, body, done) => {
    if (request.is404 || request.headers["content-type"] === undefined) return read(request, String(body), done);
    done(unsupportedMediaType());
  });
  app.addHook("preValidation", async (request) => {
    request.body ??= {};
  });
}

/** Every route names its operation and permission and documents its failures, or the server does not start. */
function requireAccess(app: App): void {
  const pathCounts = new Map<string, number>();
  app.addHook("onRoute", (route) => {
    if (route.method === "HEAD") return;
    const access = route.config?.access;
    invariant(access !== undefined, `${String(route.method)} ${route.url} does not say who may call it`);
    if (route.schema?.hide === true) return;
    const { operation, isAlias = false } = access;
    const earlier = pathCounts.get(operation) ?? 0;
    invariant(isAlias || earlier === 0, `two routes are called ${operation}`);
    invariant(!isAlias || earlier > 0, `${route.url} is an alias of ${operation}, which comes first or not at all`);
    pathCounts.set(operation, earlier + 1);
    route.schema = {
      ...route.schema,
      // Ids of operations are unique in OpenAPI.
      ...describeNeeds(access),
      operationId: isAlias ? `${operation}.alias${earlier === 1 ? "" : earlier}` : operation,
      security: securityOf(access),
      response: {
        "4xx": ErrorBody,
        "5xx": ErrorBody,
        429: RateLimitBody,
        ...(route.schema?.response as object | undefined),
      },
    };
  });
}

/** OpenAPI has no word for permissions of a key: a call that needs two of them says so. */
function describeNeeds({ permission, alsoNeeds }: RouteAccess): { readonly description?: string } {
  if (alsoNeeds === undefined) return {};
  return { description: `The key needs the permissions ${permission} and ${alsoNeeds}.` };
}

/** Requirements of a route in OpenAPI: an empty one is met by a caller without a key. */
function securityOf({ permission }: RouteAccess): readonly Record<string, string[]>[] {
  if (permission === "public") return [];
  return permission === "optional" ? [{ bearer: [] }, {}] : [{ bearer: [] }];
}

function describe(app: App): void {
  void app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Berth", version: "1.0.0", description: "The API of Berth, an open GPU rental service." },
      components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    },
    hideUntagged: false,
    transformObject: (made) => ("openapiObject" in made ? describeDocument(made.openapiObject) : {}),
  });
}
