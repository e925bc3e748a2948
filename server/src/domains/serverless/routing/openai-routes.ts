import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { asParameters, refuseOperation, refuseParameters, type RouteAccess } from "../../../base/access.ts";
import { AppError, unauthenticated } from "../../../base/errors.ts";
import { refuseFrozen } from "../../../base/freeze.ts";
import type { Identity } from "../../../base/identity.ts";
import type { Encryption } from "../../../base/encryption.ts";
import { FairBudget, type BudgetRule } from "../../../http/fair-budget.ts";
import type { HttpScope } from "../../../http/server.ts";
import { WrongKeys } from "../../../http/wrong-keys.ts";
import { explainAbsent, inOpenAiForm, openAiError } from "./openai-errors.ts";
import { readCompletion, type CompletionKind } from "./rules/openai-request.ts";
import { complete, tooManyWaiting } from "./openai-service.ts";
import type { Authenticate } from "./route-admission.ts";
import { hangUpOf } from "./routes.ts";
import type { RoutedGroup } from "./routed-group.ts";
import type { Routers } from "./routers.ts";
import { signerLoader } from "./signing-service.ts";
import type { Tickets } from "./tickets.ts";
import { WorkerClient, type WorkerAnswer } from "../workers/worker-client.ts";

export type OpenAiPorts = {
  readonly routers: Routers;
  readonly encryption: Encryption;
  readonly tickets: Tickets;
  readonly authenticate: Authenticate;
  /** The certificate of the authority that signs the certificates of workers. */
  readonly rootCertificate: () => Promise<string>;
};

const PATIENCE_MS = 60_000;
const PATIENCE_MS_MAX = 600_000;
/** An account's key needs this permission; the endpoint's own key needs none. */
const ACCESS: RouteAccess = { operation: "api.endpoint.complete", permission: "misc" };
const EndpointPath = Type.Object({ endpoint: Type.String({ description: "Name of the endpoint" }) });

/** Limits of the bytes of bodies that wait for a worker, per account of the endpoint and in all. */
const WAITING: BudgetRule = { callerBytesMax: 128 * 1_048_576, totalBytesMax: 512 * 1_048_576 };

/** A caller that may use an endpoint, checked before the body is read. */
type Admitted = { readonly group: RoutedGroup; readonly identity: Identity | undefined };

/** Routes of endpoints for clients of OpenAI's API, under both base URLs that its SDKs accept. */
export function openAiRoutes(scope: HttpScope, ports: OpenAiPorts): void {
  const { app, clock } = scope;
  const workers = new WorkerClient(ports.rootCertificate);
  app.addHook("onClose", async () => workers.close());
  app.addHook("preSerialization", explainAbsent);
  const { routers, tickets } = ports;
  const completing = {
    routers,
    tickets,
    clock,
    workers,
    loadSigner: signerLoader({ ...scope, encryption: ports.encryption }),
  };
  const admit = admission(scope, ports);
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  const waiting = new FairBudget<AbortController>(WAITING, (cut) => cut.abort());

  for (const kind of ["chat/completions", "completions"] as const) {
    for (const prefix of ["/:endpoint/v1/", "/:endpoint/"]) {
      app.post(
        `${prefix}${kind}`,
        {
          config: { access: { operation: ACCESS.operation, permission: "public" } },
          onRequest: async (request) => void admitted.set(request, await admit(request)),
          preSerialization: inOpenAiForm,
          schema: { hide: true, params: EndpointPath, body: Type.Unknown() },
        },
        async (request, reply) => {
          const { group, identity } = admitted.get(request) ?? (await admit(request));
          const body = asParameters(request.body);
          const refused = identity && refuseParameters(identity, ACCESS, [asParameters(request.params), body]);
          if (refused) throw refused;
          const completion = readCompletion(kind satisfies CompletionKind, body);
          const patienceMs = patienceOf(request);
          const bytes = Number(request.headers["content-length"] ?? JSON.stringify(body).length);
          const answer = await within(waiting, { caller: String(group.endpoint.userId), bytes }, (cut) => {
            const gone = AbortSignal.any([hangUpOf(reply), cut]);
            return complete({ group, kind, completion, patienceMs, requestId: request.id, gone }, completing);
          });
          return pass(answer, reply);
        },
      );
    }
  }
}

/**
 * Runs `work` while its memory is counted; throws `too_many_waiting` when no memory is left or other accounts need
 * it.
 */
async function within<T>(
  budget: FairBudget<AbortController>,
  held: { readonly caller: string; readonly bytes: number },
  work: (cut: AbortSignal) => Promise<T>,
): Promise<T> {
  const cut = new AbortController();
  if (!budget.take(cut, held)) throw tooManyWaiting();
  try {
    const done = await work(cut.signal);
    if (cut.signal.aborted) throw tooManyWaiting();
    return done;
  } catch (error) {
    throw cut.signal.aborted ? tooManyWaiting() : error;
  } finally {
    budget.release(cut);
  }
}

function admission({ clock }: HttpScope, { routers, authenticate }: OpenAiPorts) {
  const wrongKeys = new WrongKeys(clock);
  return async (request: FastifyRequest): Promise<Admitted> => {
    const name = String(asParameters(request.params)["endpoint"]);
    const secret = presentedKey(request);
    const known = secret === undefined ? undefined : routers.known(name, secret);
    if (known !== undefined) return { group: known, identity: undefined };
    const holder = await wrongKeys.find(secret, request.ip, async (key, pause) => {
      const identity = await authenticate(key, request.ip, pause);
      if (identity !== undefined) return { identity };
      await pause();
      return routers.findByKey(name, key);
    });
    if (holder === undefined) {
      throw unauthenticated("The bearer key is not that of an account, nor of this endpoint.");
    }
    if (!("identity" in holder)) return { group: holder, identity: undefined };
    const { identity } = holder;
    const refused = refuseOperation(identity, ACCESS) ?? refuseFrozen(identity, request.method, ACCESS);
    if (refused) throw refused;
    const group = await routers.findOwn(identity.userId, name);
    if (group === undefined) throw new AppError("not_found", "no_such_endpoint", `You have no endpoint ${name}.`);
    return { group, identity };
  };
}

function presentedKey(request: FastifyRequest): string | undefined {
  const { authorization } = request.headers;
  if (authorization !== undefined) return /^bearer\s+(\S+)\s*$/i.exec(authorization)?.[1];
  const { api_key: fromQuery } = asParameters(request.query);
  return typeof fromQuery === "string" ? fromQuery : undefined;
}

/** The time that the client waits: OpenAI's own clients send it in a header. */
function patienceOf({ headers }: FastifyRequest): number {
  const seconds = Number(headers["x-stainless-timeout"]);
  if (!Number.isFinite(seconds) || seconds <= 0) return PATIENCE_MS;
  return Math.min(seconds * 1000, PATIENCE_MS_MAX);
}

/** Passes a worker's answer on as it arrives, or its refusal in the form that clients read. */
function pass(answer: WorkerAnswer, reply: FastifyReply): FastifyReply {
  // A worker's answer may be an HTML page; browsers must not render it as a page of this server.
  void reply.header("x-content-type-options", "nosniff");
  if (answer.kind === "answer") {
    return reply.header("cache-control", "no-store").type(typeOf(answer.contentType)).send(answer.body);
  }
  const status = statusOf(answer);
  if (answer.kind === "refusal") {
    const said = readError(answer.text);
    if (said !== undefined && status === answer.status) return reply.code(status).send({ error: said });
  }
  const message =
    answer.kind === "lost"
      ? `The workers of this endpoint could not be reached: ${answer.reason}.`
      : `The worker refused the request with status ${answer.status}: ${answer.text.slice(0, 500)}`;
  return reply.code(status).send(openAiError(status, { message, code: "worker_failed" }));
}

function typeOf(contentType: string): string {
  return /^(application\/json|text\/event-stream)\b/i.test(contentType) ? contentType : "text/plain; charset=utf-8";
}

/** The worker's own status where the client caused the error or may retry; 502 otherwise. */
function statusOf(answer: Exclude<WorkerAnswer, { readonly kind: "answer" }>): number {
  if (answer.kind === "lost") return 502;
  const { status } = answer;
  const isClients = status === 400 || status === 404 || status === 413 || status === 422;
  return isClients || status === 408 || status === 429 || status === 503 ? status : 502;
}

/** A worker's own error if it is in OpenAI's form. */
function readError(text: string): object | undefined {
  try {
    const { error } = asParameters(JSON.parse(text));
    return typeof error === "object" && error !== null && "message" in error ? error : undefined;
  } catch {
    return undefined;
  }
}
