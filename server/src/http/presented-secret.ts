import type { FastifyRequest } from "fastify";
import { asParameters } from "../base/access.ts";

/** The key that a request presents: in its header, in the query of older clients, or in the body of some operations. */
export function presentedSecret(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization;
  if (header !== undefined) return /^bearer\s+(\S+)\s*$/i.exec(header)?.[1] ?? "";
  const { api_key: fromQuery } = asParameters(request.query);
  if (typeof fromQuery === "string") return fromQuery;
  if (!mayHaveKeyInBody(request)) return undefined;
  const { api_key: fromBody } = asParameters(request.body);
  return typeof fromBody === "string" ? fromBody : undefined;
}

/** True for operations whose body may have the key. */
export function mayHaveKeyInBody({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.access?.isKeyInBody === true;
}
