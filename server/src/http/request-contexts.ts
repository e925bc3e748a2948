import type { FastifyRequest } from "fastify";
import { idsIn, isAct } from "../base/acts.ts";
import type { Identity } from "../base/identity.ts";
import { currentRequest, runFor, type RequestContext } from "../base/request-context.ts";
import type { App } from "./types.ts";

/** An act as the audit log names it. */
type DoneAct = {
  readonly ipAddress: string;
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
};

/** Told of each change that succeeded and that no use case has recorded by itself; must not block. */
export type OnAct = (identity: Identity, act: DoneAct) => void;

/** The instance that a request is about: that of its path, or of the key that makes it. */
export function instanceIdOf({ routeOptions, params, identity }: FastifyRequest): number | undefined {
  const operation = routeOptions.config.access?.operation ?? "";
  const id: unknown = operation.startsWith("api.instance.") ? Reflect.get(Object(params), "id") : undefined;
  return /^\d{1,10}$/.test(String(id)) ? Number(id) : identity?.instanceId;
}

/**
 * Gives each request its context, in which all its code runs, and lets no change go without an entry in the audit log: what
 * the use case does not record itself is told to `onAct` before the answer leaves.
 */
export function keepContexts(app: App, onAct: OnAct | undefined): void {
  const contexts = new WeakMap<FastifyRequest, RequestContext>();
  const answeredIds = new WeakMap<FastifyRequest, ReturnType<typeof idsIn>>();
  app.addHook("onRequest", (request, _reply, done) => {
    const context = contextOf(request);
    contexts.set(request, context);
    runFor(context, done);
  });
  // The body arrives by events of the connection, which know no request.
  app.addHook("preValidation", (request, _reply, done) => runFor(contexts.get(request), done));
  if (onAct === undefined) return;
  app.addHook("preSerialization", async (request, _reply, payload) => {
    answeredIds.set(request, idsIn(payload));
    return payload;
  });
  app.addHook("onSend", async (request, reply, payload) => {
    const { identity, method, params, body, ip, routeOptions } = request;
    const { access } = routeOptions.config;
    const context = contexts.get(request);
    if (identity === undefined || access === undefined || context === undefined) return payload;
    if (reply.statusCode >= 400 || context.isRecorded || !isAct(method, access)) return payload;
    context.isRecorded = true;
    const args = { ...answeredIds.get(request), ...idsIn(declaredOf(body, routeOptions.schema?.body), params) };
    onAct(identity, { ipAddress: ip, action: access.operation, args });
    return payload;
  });
}

/** The members of a body that its operation knows: others say nothing about what was done. */
function declaredOf(body: unknown, schema: unknown): Readonly<Record<string, unknown>> {
  const declared = new Set(memberNames(schema));
  return Object.fromEntries(Object.entries(Object(body)).filter(([name]) => declared.has(name)));
}

function memberNames(schema: unknown): readonly string[] {
  const {
    properties = {},
    allOf = [],
    anyOf = [],
  } = Object(schema) as Readonly<{
    properties?: object;
    allOf?: readonly unknown[];
    anyOf?: readonly unknown[];
  }>;
  return [...Object.keys(properties), ...[...allOf, ...anyOf].flatMap(memberNames)];
}

/** Says that the current request needs no entry: its answer is that of an earlier one. */
export function passAsRecorded(): void {
  const context = currentRequest();
  if (context !== undefined) context.isRecorded = true;
}

function contextOf(request: FastifyRequest): RequestContext {
  return {
    requestId: request.id,
    get identity() {
      return request.identity;
    },
    get instanceId() {
      return instanceIdOf(request);
    },
    isRecorded: false,
  };
}
