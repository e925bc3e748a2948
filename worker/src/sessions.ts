import { isDeepStrictEqual } from "node:util";
import type { AuthData } from "./routed-request.ts";
import type { Entry } from "./workload.ts";

export type Session = {
  readonly id: string;
  readonly auth: AuthData | undefined;
  /** `auth` exactly as its client sent it, for clients that ask for it back. */
  readonly authData: unknown;
  readonly lifetimeMs: number;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly onCloseRoute: string | undefined;
  readonly onClosePayload: unknown;
  /** The request that opened it; it is in progress for as long as the session lasts. */
  readonly entry: Entry;
  expiresAtMs: number;
};

/** The longest lifetime that a client may ask for, and the longest time that an unused session is kept. */
export const KEPT_MS_MAX = 30 * 24 * 3_600_000;

/** Sessions of this worker. Times are those of the monotonic clock, since the wall clock may be set while they last. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  get count(): number {
    return this.#sessions.size;
  }

  add(session: Session): void {
    this.#sessions.set(session.id, session);
  }

  /** A session that has not expired. */
  find(id: string, nowMs: number): Session | undefined {
    const session = this.#sessions.get(id);
    return session === undefined || session.expiresAtMs <= nowMs ? undefined : session;
  }

  /** Adds a lifetime for a request; the end is at most `KEPT_MS_MAX` from now. */
  extend(session: Session, nowMs: number): void {
    session.expiresAtMs = Math.min(session.expiresAtMs + session.lifetimeMs, nowMs + KEPT_MS_MAX);
  }

  /** Extends the session to one lifetime from now if it has less; repeated looks add nothing. */
  keep(session: Session, nowMs: number): void {
    session.expiresAtMs = Math.max(session.expiresAtMs, nowMs + session.lifetimeMs);
  }

  /** Removes a session; false if there was none. */
  remove(id: string): boolean {
    return this.#sessions.delete(id);
  }

  takeExpired(nowMs: number): readonly Session[] {
    const expired = [...this.#sessions.values()].filter(({ expiresAtMs }) => expiresAtMs <= nowMs);
    for (const { id } of expired) this.#sessions.delete(id);
    return expired;
  }

  takeAll(): readonly Session[] {
    return this.takeExpired(Number.POSITIVE_INFINITY);
  }
}

/** Only the client that opened a session may look at it or end it. */
export function isOpener({ auth }: Session, given: AuthData | undefined): boolean {
  return auth === undefined || isDeepStrictEqual(auth, given);
}
