import type { FastifyRequest } from "fastify";
import type { RouteAccess } from "../base/access.ts";
import { isAct } from "../base/acts.ts";
import type { Clock } from "../base/clock.ts";
import type { AppError } from "../base/errors.ts";
import type { Identity } from "../base/identity.ts";
import { refusePaused, type Pause } from "../base/pause.ts";

type GateDependencies = {
  readonly clock: Clock;
  readonly currentPause?: () => Promise<Pause | undefined>;
};

export type RefuseInPause = (
  request: FastifyRequest,
  identity: Identity,
  access: RouteAccess,
) => Promise<AppError | undefined>;

/** The refusal of changes while the service pauses. */
export function pauseGate({ currentPause, clock }: GateDependencies): RefuseInPause {
  return async ({ method, body }, identity, access) => {
    if (currentPause === undefined || !isAct(method, access)) return undefined;
    return refusePaused(await currentPause(), identity, { method, body, now: clock.now() }, access);
  };
}
