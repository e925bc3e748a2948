import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../base/clock.ts";
import type { App } from "../types.ts";

/**
 * The cookie of a person who signed in with a browser. With TLS its name begins with `__Host-`: browsers then let no other
 * host name set it, not even one below or above this one, such as that of an instance's port.
 */
const SESSION_COOKIE = "berth_session";
const SECURE_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`;

function cookieNameOf({ protocol }: Pick<FastifyRequest, "protocol">): string {
  return protocol === "https" ? SECURE_SESSION_COOKIE : SESSION_COOKIE;
}

/** The longest value that can be a session's; longer ones are not looked up. */
const VALUE_LENGTH_MAX = 200;
const VALUE = /^[A-Za-z0-9_.-]+$/;

/** The session that a request names by its cookie. */
export type PresentedCookie =
  | { readonly kind: "none" }
  | { readonly kind: "one"; readonly value: string }
  /** Several cookies of this name, or one whose value no session has. */
  | { readonly kind: "unusable" };

/**
 * The session cookie of a request. Two of them are unusable: a site on a neighbouring name can add a cookie to this one, and
 * the order in which browsers send them says nothing about which one this server set.
 */
export function presentedCookie(request: Pick<FastifyRequest, "headers" | "protocol">): PresentedCookie {
  const { headers } = request;
  const wanted = cookieNameOf(request);
  const values = (headers.cookie ?? "").split(";").flatMap((pair) => {
    const at = pair.indexOf("=");
    const name = (at < 0 ? pair : pair.slice(0, at)).trim();
    return name === wanted ? [at < 0 ? "" : pair.slice(at + 1).trim()] : [];
  });
  const [value] = values;
  if (value === undefined) return { kind: "none" };
  if (values.length > 1 || value.length > VALUE_LENGTH_MAX || !VALUE.test(value)) return { kind: "unusable" };
  return { kind: "one", value };
}

/** A session as its cookie needs it. */
export type CookieSession = { readonly secret: string; readonly expiresAtMs: number };

/** Gives the browser the session's cookie, in place of any that it had. */
export function setSessionCookie(
  reply: FastifyReply,
  request: FastifyRequest,
  session: CookieSession,
  now: Date,
): void {
  putCookie(reply, request, contentOf(session, now));
}

/** Milliseconds after which an answer gives its browser no new value: a later answer may have given a newer one. */
const LATE_MS = 30_000;

/**
 * Gives browsers the new value of their session's cookie with the answer to a request that showed the old one. An answer that
 * sets the session itself, that a cache may keep, or that is late is left alone: the value goes out with the next one.
 */
export function sendRenewedCookies(app: App, clock: Clock): void {
  app.decorateRequest("renewedCookie", undefined);
  app.addHook("onSend", async (request, reply, payload) => {
    const { renewedCookie } = request;
    if (renewedCookie === undefined || clock.monotonicMs() - renewedCookie.askedAtMs > LATE_MS) return payload;
    if (reply.getHeader("cache-control") !== "no-store") return payload;
    if (String(reply.getHeader("set-cookie") ?? "").includes(`${SESSION_COOKIE}=`)) return payload;
    void reply.header("set-cookie", cookieOf(request, contentOf(renewedCookie, clock.now())));
    return payload;
  });
}

/** Takes the session's cookie from the browser. */
export function clearSessionCookie(reply: FastifyReply, request: FastifyRequest): void {
  putCookie(reply, request, { value: "", seconds: 0 });
}

type Content = { readonly value: string; readonly seconds: number };

function contentOf({ secret, expiresAtMs }: CookieSession, now: Date): Content {
  return { value: secret, seconds: Math.max(0, Math.floor((expiresAtMs - now.getTime()) / 1000)) };
}

function putCookie(reply: FastifyReply, request: FastifyRequest, content: Content): void {
  // A browser would keep either of two cookies of one name in an answer.
  void reply.removeHeader("set-cookie").header("set-cookie", cookieOf(request, content));
}

function cookieOf(request: FastifyRequest, { value, seconds }: Content): string {
  const parts = [`${cookieNameOf(request)}=${value}`, "HttpOnly", "Path=/", "SameSite=Lax", `Max-Age=${seconds}`];
  if (request.protocol === "https") parts.push("Secure");
  return parts.join("; ");
}
