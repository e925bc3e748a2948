import type { IncomingMessage, ServerResponse } from "node:http";
import { answer } from "./answers.ts";
import { describe } from "./backend.ts";
import type { RequestDesk } from "./request-desk.ts";
import { isMembers, parse, readAuth } from "./routed-request.ts";
import { isOpener, KEPT_MS_MAX, type Session } from "./sessions.ts";

export const SESSION_ROUTES = ["/session/create", "/session/get", "/session/end", "/session/health"] as const;
export type SessionRoute = (typeof SESSION_ROUTES)[number];

const CLOSE_LIMIT_MS = 30_000;
/** The lifetime of a session whose client asks for none. */
const LIFETIME_SECONDS = 60;

/** Sessions: requests of one client that belong together and to this worker, which keeps a place for them. */
export class SessionDesk {
  readonly #desk: RequestDesk;
  readonly #newId: () => string;

  constructor(desk: RequestDesk, newId: () => string) {
    this.#desk = desk;
    this.#newId = newId;
  }

  async serve(route: SessionRoute, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (route === "/session/create") return this.#create(request, response);
    const { isUnsecured, bodies, sessions, clock } = this.#desk.parts;
    const text = await bodies.read(request, response);
    if (text === undefined) return undefined;
    const body = parse(text);
    if (!isMembers(body)) return answer(response, 422, { body: "is not a JSON object" });
    const { session_id: id, session_auth } = body;
    if (typeof id !== "string") return answer(response, 422, { session_id: "is not a text" });
    const auth = readAuth(session_auth);
    if (!auth.ok && !isUnsecured) return answer(response, 422, { session_auth: auth.problems["auth_data"] });
    const session = sessions.find(id, clock.monotonicMs());
    if (session === undefined) {
      if (route === "/session/health") return answer(response, 200, { ok: false });
      return answer(response, 410, { error: "the session has ended" });
    }
    if (!isOpener(session, auth.ok ? auth.value : undefined)) {
      return answer(response, 401, { error: "the session was opened by somebody else" });
    }
    sessions.keep(session, clock.monotonicMs());
    if (route === "/session/health") return answer(response, 200, { ok: true });
    if (route === "/session/get") return answer(response, 200, this.#view(session));
    sessions.remove(id);
    await this.#close(session);
    return answer(response, 200, { ended: true, removed_session: id });
  }

  async closeExpired(): Promise<void> {
    const { sessions, clock } = this.#desk.parts;
    const expired = sessions.takeExpired(clock.monotonicMs());
    await Promise.all(expired.map((session) => this.#close(session)));
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.#desk.parts.sessions.takeAll().map((session) => this.#close(session)));
  }

  async #create(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const admitted = await this.#desk.admit("/session/create", request, response);
    if (admitted === undefined) return;
    const { workload, sessions, reporter, clock } = this.#desk.parts;
    const { auth, authData, payload, load, requestIdx, session: outer } = admitted;
    const { lifetime = LIFETIME_SECONDS, on_close_route: onCloseRoute, on_close_payload: onClosePayload } = payload;
    if (outer !== undefined) {
      this.#desk.reject(requestIdx, load);
      return answer(response, 422, { session_id: "belongs to a session, and a session cannot open another" });
    }
    if (typeof lifetime !== "number" || !(lifetime > 0) || lifetime * 1000 > KEPT_MS_MAX) {
      this.#desk.reject(requestIdx, load);
      return answer(response, 422, { payload: { lifetime: "is not a number of seconds" } });
    }
    const at = this.#desk.nowSeconds();
    const entry = workload.enter(requestIdx, load, at);
    workload.start(entry, at);
    reporter.changed();
    const session: Session = {
      ...{ id: this.#newId(), auth, authData, lifetimeMs: lifetime * 1000, createdAt: at, entry, onClosePayload },
      onCloseRoute: typeof onCloseRoute === "string" && onCloseRoute.startsWith("/") ? onCloseRoute : undefined,
      expiresAtMs: clock.monotonicMs() + lifetime * 1000,
    };
    sessions.add(session);
    answer(response, 201, { session_id: session.id, expiration: this.#expirationOf(session) });
  }

  /** The session in the form for clients, who take it up with the fields that opened it. */
  #view(session: Session): object {
    const { id, authData, lifetimeMs, createdAt, onCloseRoute, onClosePayload } = session;
    return {
      ...{ session_id: id, auth_data: authData ?? null, lifetime: lifetimeMs / 1000 },
      ...{ expiration: this.#expirationOf(session), created_at: createdAt },
      ...{ on_close_route: onCloseRoute ?? null, on_close_payload: onClosePayload ?? null },
    };
  }

  /** The end of a session in seconds since 1970. */
  #expirationOf({ expiresAtMs }: Session): number {
    return this.#desk.nowSeconds() + (expiresAtMs - this.#desk.parts.clock.monotonicMs()) / 1000;
  }

  async #close({ id, onCloseRoute, onClosePayload, entry }: Session): Promise<void> {
    const { backend, workload, reporter, log } = this.#desk.parts;
    if (onCloseRoute !== undefined) {
      try {
        await backend.work(onCloseRoute, farewellOf(id, onClosePayload), AbortSignal.timeout(CLOSE_LIMIT_MS));
      } catch (error) {
        log(`the backend failed at the end of a session, ${onCloseRoute}: ${describe(error)}`);
      }
    }
    workload.end(entry, "Success", this.#desk.nowSeconds());
    reporter.changed();
  }
}

/** The body for the backend at the end: the client's payload, with the id of the session unless the payload has one. */
function farewellOf(id: string, payload: unknown): object {
  if (isMembers(payload)) return { session_id: id, ...payload };
  return payload === undefined || payload === null ? { session_id: id } : { session_id: id, payload };
}
