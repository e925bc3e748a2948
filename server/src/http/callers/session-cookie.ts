import type { FastifyReply, FastifyRequest } from "fastify";

/** The cookie of a person who signed in with a browser. */
const SESSION_COOKIE = "berth_session";

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
export function presentedCookie({ headers }: Pick<FastifyRequest, "headers">): PresentedCookie {
  const values = (headers.cookie ?? "").split(";").flatMap((pair) => {
    const at = pair.indexOf("=");
    const name = (at < 0 ? pair : pair.slice(0, at)).trim();
    return name === SESSION_COOKIE ? [at < 0 ? "" : pair.slice(at + 1).trim()] : [];
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
  { secret, expiresAtMs }: CookieSession,
  now: Date,
): void {
  const seconds = Math.max(0, Math.floor((expiresAtMs - now.getTime()) / 1000));
  putCookie(reply, request, { value: secret, seconds });
}

/** Takes the session's cookie from the browser. */
export function clearSessionCookie(reply: FastifyReply, request: FastifyRequest): void {
  putCookie(reply, request, { value: "", seconds: 0 });
}

function putCookie(
  reply: FastifyReply,
  { protocol }: FastifyRequest,
  { value, seconds }: { readonly value: string; readonly seconds: number },
): void {
  const parts = [`${SESSION_COOKIE}=${value}`, "HttpOnly", "Path=/", "SameSite=Lax", `Max-Age=${seconds}`];
  if (protocol === "https") parts.push("Secure");
  // A browser would keep either of two cookies of one name in an answer.
  void reply.removeHeader("set-cookie").header("set-cookie", parts.join("; "));
}
