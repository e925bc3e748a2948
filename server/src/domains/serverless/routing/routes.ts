import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError, invalid } from "../../../base/errors.ts";
import { asId, type EndpointGroupId } from "../../../base/ids.ts";
import { networkOf } from "../../../base/public-address.ts";
import type { Encryption } from "../../../base/encryption.ts";
import { rateLimited } from "../../../http/error-response.ts";
import { RateLimiter, WRONG_KEY_LIMIT } from "../../../http/rate-limit.ts";
import type { HttpScope } from "../../../http/server.ts";
import { PublicKeysResponse, REPLAY_TIMEOUT_S, RouteBody, RouteQuery, RouteResponse } from "./schema.ts";
import { routeAdmission, ROUTE_ACCESS, type Authenticate } from "./route-admission.ts";
import type { RouteOutcome, WantedEndpoint } from "./routed-group.ts";
import { HOLD_MS, type Routers } from "./routers.ts";
import { signerLoader } from "./signing-service.ts";
import type { Tickets } from "./tickets.ts";

/** Adds `error_msg`, in which published clients read the reason of an error. */
export async function addErrorMessage(_request: FastifyRequest, _reply: FastifyReply, payload: unknown) {
  if (typeof payload !== "object" || payload === null || !("msg" in payload) || "error_msg" in payload) return payload;
  return { ...payload, error_msg: payload.msg };
}

/** Routes for clients that ask for a worker, and for workers that fetch the public key of its signature. */
export function routeRoutes(
  { app, database, clock }: HttpScope,
  {
    routers,
    encryption,
    tickets,
    authenticate,
  }: {
    readonly routers: Routers;
    readonly encryption: Encryption;
    readonly tickets: Tickets;
    readonly authenticate: Authenticate;
  },
): void {
  const loadSigner = signerLoader({ database, clock, encryption });
  const wrongKeys = new RateLimiter();
  const countGuess = (ipAddress: string) => {
    const decision = wrongKeys.take(networkOf(ipAddress), WRONG_KEY_LIMIT, clock.monotonicMs());
    if (!decision.allowed) throw rateLimited(1 / WRONG_KEY_LIMIT.perSecond, decision.retryAfterMs);
  };
  const admit = routeAdmission({ routers, authenticate, countGuess });
  app.addHook("preClose", async () => routers.release());

  publicKeyRoutes(app, loadSigner);

  app.post(
    "/route/",
    {
      // The key may be the endpoint's and not an account's, so it is checked here.
      config: { access: { operation: ROUTE_ACCESS.operation, permission: "public" } },
      preSerialization: addErrorMessage,
      schema: {
        tags: ["Serverless"],
        summary: "Ask for a worker of an endpoint",
        querystring: RouteQuery,
        body: RouteBody,
        response: { 200: RouteResponse },
      },
    },
    async (request, reply): Promise<RouteResponse> => {
      const { body } = request;
      const wanted = body.endpoint_id === undefined ? body.endpoint : asId<EndpointGroupId>(body.endpoint_id);
      if (wanted === undefined)
        throw invalid("endpoint", "endpoint, the name of an endpoint, or endpoint_id is required");
      const group = await admit(request, { wanted, keys: presentedKeys(request, body) });
      if (group === undefined) throw wrongKey(wanted);
      const { name } = group.endpoint;
      const asked = {
        requestIdx: body.request_idx ?? 0,
        cost: body.cost,
        replayTimeoutMs: (body.replay_timeout ?? REPLAY_TIMEOUT_S) * 1000,
      };
      // The signer is loaded first: a route that cannot be signed must not be given away.
      const signer = await loadSigner();
      const outcome = await routers.route(group, asked, { holdMs: HOLD_MS, hungUp: () => hangUpOf(reply) });
      const said = { endpoint: name, cost: body.cost, __request_id: request.id };
      if (outcome.kind === "held") return { ...said, request_idx: outcome.requestIdx, status: outcome.status };
      if (outcome.kind !== "given") throw refusalOf(outcome.kind, name);
      const { url, reqnum, requestIdx } = outcome.assignment;
      const ticket = tickets.issue(said, outcome.assignment);
      return { ...said, url, reqnum, request_idx: requestIdx, signature: signer.sign(url), ...ticket };
    },
  );
}

/** The key that checks signatures of this server, as text and among the published keys. */
function publicKeyRoutes(app: HttpScope["app"], loadSigner: ReturnType<typeof signerLoader>): void {
  app.get(
    "/pubkey/",
    { config: { access: { operation: "api.route.public_key", permission: "public" } }, schema: { hide: true } },
    async (_request, reply) => reply.type("text/plain").send((await loadSigner()).publicKeyPem),
  );

  app.get(
    "/api/v0/auth/pubkeys/",
    {
      config: { access: { operation: "api.route.public_keys", permission: "public" } },
      schema: {
        tags: ["Sign-in"],
        summary: "Show the public keys of what the server signs",
        response: { 200: PublicKeysResponse },
      },
    },
    async () => {
      const { publicKeyPem } = await loadSigner();
      const key = { id: 1, algorithm: "RSA-SHA256" as const, public_key: publicKeyPem };
      return { success: true as const, pubkeys: [key] };
    },
  );
}

/**
 * The keys of a request in order of precedence; clients with an account's bearer key put the endpoint's key in the
 * body.
 */
function presentedKeys(request: FastifyRequest, body: RouteBody): readonly string[] {
  const bearer = /^bearer\s+(\S+)\s*$/i.exec(request.headers.authorization ?? "")?.[1];
  const { api_key: fromQuery } = request.query as RouteQueryType;
  return [body.api_key, bearer, fromQuery].filter((key) => key !== undefined);
}

type RouteQueryType = { readonly api_key?: string };

/** The error is the same for an endpoint that does not exist: a client without a key learns nothing. */
function wrongKey(endpoint: WantedEndpoint): AppError {
  const message = `authenticate_endpoint_apikey: invalid api_key or endpoint ${endpoint} not found`;
  return new AppError("unauthenticated", "auth_error", message);
}

function refusalOf(kind: Exclude<RouteOutcome["kind"], "given" | "held">, endpoint: string): AppError {
  switch (kind) {
    case "unknown":
      return invalid("request_idx", "request_idx is not a number that this endpoint gave to a request");
    case "stopped":
      return invalid(
        "endpoint",
        `The endpoint ${endpoint} is stopped: set it to active to use it.`,
        "endpoint_stopped",
      );
    case "full":
      return new AppError("unavailable", "too_many_waiting", "Too many requests wait for a worker of this endpoint.");
    case "gone":
      return wrongKey(endpoint);
  }
}

/** Aborts when the client closes the connection before it has its answer. */
export function hangUpOf(reply: FastifyReply): AbortSignal {
  const hungUp = new AbortController();
  reply.raw.on("close", () => {
    if (!reply.raw.writableEnded) hungUp.abort();
  });
  if (reply.raw.destroyed) hungUp.abort();
  return hungUp.signal;
}
