import { createHmac, timingSafeEqual } from "node:crypto";

/** How old the value of a session's cookie gets while it is used. */
const RENEWED_AFTER_MS = 10 * 60_000;
/** How long the value before counts after the browser has sent the present one, for requests that are under way. */
const GRACE_MS = 60_000;
const SALT_BYTES = 16;

/** The salt of a value; undefined for the first value of a session, which is its secret alone. */
export type Salt = Buffer | undefined;

/** The stored state of the cookie of a session. */
export type CookieState = {
  readonly salt: Salt;
  /** The value before; undefined while there was none. */
  readonly previous: { readonly salt: Salt } | undefined;
  readonly renewedAt: Date;
  /** The time at which the browser first sent the present value; undefined until then. */
  readonly confirmedAt: Date | undefined;
  /** True when the next request gets another value at any age: the session has gained rights. */
  readonly isDue: boolean;
};

/**
 * `fine` is the present value, or the one before while it counts; `confirm` the present one for the first time; `renew` a
 * present one that is too old; `resend` the one before, from a browser that has not got the present one yet. All others are
 * `reused`: their sender knows the secret, and has kept a value that the browser has replaced.
 */
export type CookieVerdict = "fine" | "confirm" | "renew" | "resend" | "reused";

export const newSalt = (random: (byteCount: number) => Buffer): Buffer => random(SALT_BYTES);

/** The part of a cookie's value that stays; only the browser has it, the database has its hash. */
export function secretOfCookie(value: string): string {
  return value.split(".", 1)[0] ?? "";
}

/**
 * The value of a session's cookie. All servers make the same one of a salt, so that requests at once are given one value,
 * and it cannot be made from the database or from an older value alone.
 */
export function cookieValue(secret: string, salt: Salt): string {
  return salt === undefined ? secret : `${secret}.${createHmac("sha256", secret).update(salt).digest("base64url")}`;
}

/** Judges a value whose secret is that of the session. */
export function judgeCookie(value: string, state: CookieState, now: Date): CookieVerdict {
  const { salt, previous, renewedAt, confirmedAt, isDue } = state;
  const secret = secretOfCookie(value);
  if (isSame(value, cookieValue(secret, salt))) {
    if (isDue || now.getTime() - renewedAt.getTime() >= RENEWED_AFTER_MS) return "renew";
    return confirmedAt === undefined ? "confirm" : "fine";
  }
  if (previous === undefined || !isSame(value, cookieValue(secret, previous.salt))) return "reused";
  if (confirmedAt === undefined) return "resend";
  return now.getTime() - confirmedAt.getTime() < GRACE_MS ? "fine" : "reused";
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
