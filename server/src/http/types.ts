import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from "fastify";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RouteAccess } from "../base/access.ts";
import type { Identity } from "../base/identity.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    access?: RouteAccess;
    /** Answers a body that is no JSON as the command operation does, with its own status 483. */
    malformedJson?: "as of commands";
    /** Members of the body whose null has a meaning, with `name.*` for all those of an object; others count as absent. */
    nullMembers?: readonly string[];
  }
  interface FastifyRequest {
    /** The caller; undefined where the route needs no key and none was sent. */
    identity: Identity | undefined;
    /** True when the caller was found by the cookie of a session, which browsers also send for pages of other sites. */
    isByCookie: boolean;
    /** The value that the session's cookie should have from now on, and the monotonic time at which the request came. */
    renewedCookie: { readonly secret: string; readonly expiresAtMs: number; readonly askedAtMs: number } | undefined;
  }
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
