import { isDeepStrictEqual } from "node:util";
import type { AuthData } from "./routed-request.ts";
import type { Entry } from "./workload.ts";

export type Session = {
  readonly id: string;
  readonly auth: AuthData | undefined;
  readonly lifetimeMs: number;
  readonly onCloseRoute: string | undefined;
  readonly onClosePayload: unknown;
  /** The request that opened it; it is in progress for as long as the session lasts. */
  readonly entry: Entry;
  expiresAtMs: number;
};

/** Sessions of this worker; time is the monotonic clock's, since the other may be set while they last. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  get count(): number {
    return this.#sessions.size;
  }

  add(session: Session): void {
    this.#sessions.set(session.id, session);
  }

  /** Finds one that has not expired, and extends it by its lifetime. */
  use(id: string, nowMs: number): Session | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || session.expiresAtMs <= nowMs) return undefined;
    session.expiresAtMs = nowMs + session.lifetimeMs;
    return session;
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
