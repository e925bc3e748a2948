import type { FastifyRequest } from "fastify";
import { identityOf } from "../../../http/server.ts";
import type { Caller } from "../accounts/index.ts";

export const TEAM_TAGS = ["Teams"];

export function callerOf(request: FastifyRequest): Caller {
  return { identity: identityOf(request), ipAddress: request.ip };
}
