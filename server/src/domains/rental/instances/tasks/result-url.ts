import type { FastifyRequest } from "fastify";
import { originOf } from "../../../../http/origin.ts";

/** The address at which the output of a task appears. */
export function resultUrl(request: FastifyRequest, token: string): string {
  return `${originOf(request)}/api/v0/results/${token}/`;
}
