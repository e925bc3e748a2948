import { isDeepStrictEqual } from "node:util";
import type { AuthData } from "./routed-request.ts";
import type { Entry } from "./workload.ts";

export type Session = {
  readonly id: string;
  readonly auth: AuthData | undefined;
  /** The same as its client sent it, who may ask for it back. */
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

/** The longest that a session may be asked for, and the longest that one is kept which is not used. */
export const KEPT_MS_MAX = 30 * 24 * 3_600_000;

/** Sessions of this worker; time is the monotonic clock's, since the other may be set while they last. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  get count(): number {
    return this.#sessions.size;
  }

  add(session: Session): void {
    this.#sessions.set(session.id, session);
  }

  /** One that has not expired. */
  find(id: string, nowMs: number): Session | undefined {
    const session = this.#sessions.get(id);
    return session === undefined || session.expiresAtMs <= nowMs ? undefined : session;
  }

  /** Each request adds a lifetime; however many there were, it ends once nobody has come for `KEPT_MS_MAX`. */
  extend(session: Session, nowMs: number): void {
    session.expiresAtMs = Math.min(session.expiresAtMs + session.lifetimeMs, nowMs + KEPT_MS_MAX);
  }

  /** Whoever looks at it again and again keeps it, and adds nothing to what it has. */
  keep(session: Session, nowMs: number): void {
    session.expiresAtMs = Math.max(session.expiresAtMs, nowMs + session.lifetimeMs);
  }

  /** Whether it was there. */
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

/** Only whoever opened a session may look at it or end it. */
export function isOpener({ auth }: Session, given: AuthData | undefined): boolean {
  return auth === undefined || isDeepStrictEqual(auth, given);
}
