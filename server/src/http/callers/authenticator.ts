import type { FastifyRequest } from "fastify";
import type { RouteAccess } from "../../base/access.ts";
import { refuseInView } from "../../base/account-view.ts";
import { refuseOperation } from "../../base/access.ts";
import type { Clock } from "../../base/clock.ts";
import { unauthenticated } from "../../base/errors.ts";
import { refuseFrozen } from "../../base/freeze.ts";
import type { Identity } from "../../base/identity.ts";
import type { UserId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { networkOf } from "../../base/public-address.ts";
import { refuseWithoutFactor } from "../../base/second-factor.ts";
import { rateLimited } from "../error-response.ts";
import type { OwnRequests } from "../own-requests.ts";
import { presentedSecret } from "../presented-secret.ts";
import type { Limits } from "../rate-limit.ts";
import { SharedLimiter, type SharedLimits } from "../shared-limits/shared-limiter.ts";
import { WrongKeys, type LookUp } from "../wrong-keys.ts";
import { refuseCrossSite } from "./same-origin.ts";
import { presentedCookie, type CookieSession } from "./session-cookie.ts";

/** All keys of an account together may call an operation as often as this many keys. */
const ACCOUNT_FACTOR = 4;
/** All operations of an account together, by all of its keys, against what one key may do of one operation. */
const OPERATIONS_FACTOR = 20;

/** The caller of a request with a session cookie; `renewed` is a value that the browser should have from now on. */
type CookieCaller = { readonly identity: Identity; readonly renewed?: CookieSession };

/** The place that a request came from, and the program that its header names. */
export type RequestSender = { readonly ipAddress: string; readonly userAgent: string | undefined };

export type AuthenticatorDependencies = {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: Limits;
  /** Other servers that count the same requests; absent where there is none. */
  readonly sharedLimits?: SharedLimits;
  /** Resolves a presented key; undefined when it is unknown or deleted. */
  readonly authenticate: LookUp<Identity>;
  /** Resolves the value of a session cookie; undefined when it is unknown, ended or over. Without it no cookie counts. */
  readonly authenticateCookie?: (
    value: string,
    asked: { readonly ipAddress: string; readonly pause: () => Promise<void> },
  ) => Promise<CookieCaller | undefined>;
  /** Told of every authenticated request; must not block. */
  readonly onAuthenticated: (identity: Identity, sender: RequestSender) => void;
};

/** Identifies the caller of a request, and refuses what that caller may not ask. */
export function authenticator(dependencies: AuthenticatorDependencies, ownRequests: OwnRequests) {
  const { onAuthenticated } = dependencies;
  const { limitAddress, limitCaller } = limiterOf(dependencies);
  const resolve = resolver(dependencies);

  return async (request: FastifyRequest): Promise<void> => {
    const access = request.routeOptions.config.access;
    if (access === undefined) return;
    const own = ownRequests.callerOf(request);
    const identity = access.permission === "public" ? undefined : (own ?? (await resolve(request, access)));
    if (identity === undefined) {
      await limitAddress(request.ip, access);
      return;
    }
    request.identity = identity;
    if (own === undefined) {
      onAuthenticated(identity, { ipAddress: request.ip, userAgent: request.headers["user-agent"] });
    }
    await limitCaller(identity, access);
    const refused =
      refuseInView(identity, { method: request.method, now: dependencies.clock.now() }, access) ??
      refuseOperation(identity, access) ??
      refuseFrozen(identity, request.method, access) ??
      refuseWithoutFactor(identity, request.method, access);
    if (refused) throw refused;
    if (request.isByCookie && !["GET", "HEAD"].includes(request.method)) refuseCrossSite(request);
  };
}

/** Finds the caller by key or else by cookie; undefined where the route needs neither and none is usable. */
function resolver({ clock, authenticate, authenticateCookie }: AuthenticatorDependencies) {
  const wrongKeys = new WrongKeys(clock);

  const byCookie = async (request: FastifyRequest): Promise<Identity | undefined> => {
    const cookie = presentedCookie(request);
    if (cookie.kind !== "one" || authenticateCookie === undefined) return undefined;
    const ipAddress = request.ip;
    const caller = await wrongKeys.find(cookie.value, ipAddress, (value, pause) =>
      authenticateCookie(value, { ipAddress, pause }),
    );
    request.isByCookie = caller !== undefined;
    if (caller?.renewed !== undefined) {
      request.renewedCookie = { ...caller.renewed, askedAtMs: clock.monotonicMs() };
    }
    return caller?.identity;
  };

  return async (request: FastifyRequest, { permission }: RouteAccess): Promise<Identity | undefined> => {
    const secret = presentedSecret(request);
    const identity =
      secret === undefined ? await byCookie(request) : await wrongKeys.find(secret, request.ip, authenticate);
    // A cookie that is of no use is as none where none is needed: browsers send it without being asked.
    if (identity !== undefined || (permission === "optional" && secret === undefined)) return identity;
    if (secret !== undefined) throw unauthenticated("Invalid user key");
    const cookie = presentedCookie(request);
    if (cookie.kind === "one") throw unauthenticated("The session is over. Sign in again.", "session_over");
    if (cookie.kind === "unusable") throw ambiguous();
    // Counted as a wrong key, so that a flood of such requests is slowed down.
    await wrongKeys.find(undefined, request.ip, authenticate);
    throw unauthenticated("This action requires login.");
  };
}

function ambiguous() {
  const message = "The request has several session cookies, or one that no session has. Delete them and sign in again.";
  return unauthenticated(message, "session_ambiguous");
}

const ALONE: SharedLimits = { serverCount: () => 1, exchange: async () => [] };

function limiterOf({ limits, clock, log, sharedLimits = ALONE }: AuthenticatorDependencies) {
  const limiter = new SharedLimiter({ ...sharedLimits, clock, log });
  const limit = async (bucketOwner: string, access: RouteAccess, factor = 1) => {
    const { perSecond, burst } = limits.operations[access.operation] ?? limits[access.limit ?? "default"];
    const rule = { perSecond: perSecond * factor, burst: burst * factor };
    const decision = await limiter.take(`${access.operation} ${bucketOwner}`, rule);
    if (!decision.allowed) throw rateLimited(1 / rule.perSecond, decision.retryAfterMs);
  };
  /** Operations with a limit of their own are left out: the operator chose what an account may ask of those. */
  const limitAccount = async (userId: UserId, { operation }: RouteAccess) => {
    if (limits.operations[operation] !== undefined) return;
    const { perSecond, burst } = limits.default;
    const rule = { perSecond: perSecond * OPERATIONS_FACTOR, burst: burst * OPERATIONS_FACTOR };
    const decision = await limiter.take(`user ${userId}`, rule);
    if (!decision.allowed) throw rateLimited(1 / rule.perSecond, decision.retryAfterMs);
  };
  return {
    limitAddress: (ipAddress: string, access: RouteAccess) => limit(`ip ${networkOf(ipAddress)}`, access),
    limitCaller: async (identity: Identity, access: RouteAccess) => {
      await limit(`key ${identity.apiKeyId}`, access);
      // Keys inside containers are as many as the account rents, and each may call little.
      if (identity.instanceId !== undefined) return;
      // Reads of an administrator in a view do not count against the account that they see.
      const userId = identity.view?.adminId ?? identity.userId;
      await limit(`user ${userId}`, access, ACCOUNT_FACTOR);
      await limitAccount(userId, access);
    },
  };
}
