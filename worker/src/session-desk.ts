import type { IncomingMessage, ServerResponse } from "node:http";
import { answer } from "./answers.ts";
import { describe } from "./backend.ts";
import type { RequestDesk } from "./request-desk.ts";
import { isMembers, parse, readAuth } from "./routed-request.ts";
import { isOpener, type Session } from "./sessions.ts";

export const SESSION_ROUTES = ["/session/create", "/session/get", "/session/end", "/session/health"] as const;
export type SessionRoute = (typeof SESSION_ROUTES)[number];

const CLOSE_LIMIT_MS = 30_000;
const LIFETIME_SECONDS_MAX = 30 * 24 * 3600;

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
    const session = sessions.use(id, clock.monotonicMs());
    if (session === undefined) return answer(response, 410, { error: "the session has ended" });
    if (!isOpener(session, auth.ok ? auth.value : undefined)) {
      return answer(response, 401, { error: "the session was opened by somebody else" });
    }
    if (route !== "/session/end") return answer(response, 200, this.#view(session));
    sessions.remove(id);
    await this.#close(session);
    return answer(response, 200, { session_id: id, ended: true });
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
    const { auth, payload, load, requestIdx, session: outer } = admitted;
    const { lifetime, on_close_route: onCloseRoute, on_close_payload: onClosePayload } = payload;
    if (outer !== undefined) {
      this.#desk.reject(requestIdx, load);
      return answer(response, 422, { session_id: "is that of a session, which opens no other" });
    }
    if (typeof lifetime !== "number" || !(lifetime > 0) || lifetime > LIFETIME_SECONDS_MAX) {
      this.#desk.reject(requestIdx, load);
      return answer(response, 422, { payload: { lifetime: "is not a number of seconds" } });
    }
    const at = this.#desk.nowSeconds();
    const entry = workload.enter(requestIdx, load, at);
    workload.start(entry, at);
    reporter.changed();
    const session: Session = {
      ...{ id: this.#newId(), auth, lifetimeMs: lifetime * 1000, entry, onClosePayload },
      onCloseRoute: typeof onCloseRoute === "string" && onCloseRoute.startsWith("/") ? onCloseRoute : undefined,
      expiresAtMs: clock.monotonicMs() + lifetime * 1000,
    };
    sessions.add(session);
    answer(response, 201, this.#view(session));
  }

  /** As clients read it: the time is in seconds since 1970. */
  #view({ id, expiresAtMs }: Session): object {
    const leftMs = expiresAtMs - this.#desk.parts.clock.monotonicMs();
    return { session_id: id, expiration: this.#desk.nowSeconds() + leftMs / 1000 };
  }

  async #close({ onCloseRoute, onClosePayload, entry }: Session): Promise<void> {
    const { backend, workload, reporter, log } = this.#desk.parts;
    if (onCloseRoute !== undefined) {
      try {
        await backend.work(onCloseRoute, onClosePayload ?? {}, AbortSignal.timeout(CLOSE_LIMIT_MS));
      } catch (error) {
        log(`the backend failed at the end of a session, ${onCloseRoute}: ${describe(error)}`);
      }
    }
    workload.end(entry, "Success", this.#desk.nowSeconds());
    reporter.changed();
  }
}
