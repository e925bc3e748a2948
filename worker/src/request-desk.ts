import type { IncomingMessage, ServerResponse } from "node:http";
import type { Admission, Refusal } from "./admission.ts";
import { answer } from "./answers.ts";
import { describe, type Backend } from "./backend.ts";
import type { Bodies } from "./bodies.ts";
import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";
import type { Reporter } from "./reporter.ts";
import { readRouted, type Members, type RoutedRequest } from "./routed-request.ts";
import type { Session, Sessions } from "./sessions.ts";
import type { Turns } from "./turns.ts";
import type { Entry, Outcome, Workload } from "./workload.ts";

/** Computes the size of a request, in units. */
export type CalculateLoad = (request: {
  readonly route: string;
  readonly payload: Members;
  /** The cost that the client gave to the router. */
  readonly cost: number;
}) => number;

export type DeskParts = {
  readonly admission: Admission;
  readonly backend: Backend;
  readonly workload: Workload;
  readonly turns: Turns;
  readonly bodies: Bodies;
  readonly sessions: Sessions;
  readonly reporter: Reporter;
  readonly clock: Clock;
  readonly log: Log;
  readonly isUnsecured: boolean;
  readonly calculateLoad: CalculateLoad;
  /** Called when the backend did not answer a request. */
  readonly onBackendFailure: () => void;
};

/** A request that may be served. */
export type Admitted = RoutedRequest & {
  readonly session: Session | undefined;
  readonly requestIdx: number | undefined;
  readonly load: number;
};

/** Serves the requests that the router sends: checks them, lets them wait for their turn, and passes them on. */
export class RequestDesk {
  readonly parts: DeskParts;

  constructor(parts: DeskParts) {
    this.parts = parts;
  }

  async serve(route: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const admitted = await this.admit(route, request, response);
    if (admitted !== undefined) await this.#work(route, admitted, response);
  }

  /** The admitted request; undefined when it was refused, and the client has been answered. */
  async admit(route: string, request: IncomingMessage, response: ServerResponse): Promise<Admitted | undefined> {
    const { admission, bodies, sessions, clock, isUnsecured } = this.parts;
    const text = await bodies.read(request, response);
    if (text === undefined) return undefined;
    const read = readRouted(text, isUnsecured);
    if (!read.ok) return answer(response, 422, read.problems);
    const { auth, sessionId } = read.value;
    const session = sessionId === undefined ? undefined : sessions.find(sessionId, clock.monotonicMs());
    const isWithin = session !== undefined && session.auth?.requestIdx === auth?.requestIdx;
    const forgery = await admission.findForgery(auth, isWithin ? undefined : this.nowSeconds());
    if (forgery !== undefined) return refuse(response, forgery);
    if (sessionId !== undefined && session === undefined) {
      return answer(response, 410, { error: "the session has ended" });
    }
    const load = this.#loadOf(route, read.value);
    // A request within a session repeats the ticket that opened the session, and uses the place that the session
    // keeps.
    if (isWithin) {
      sessions.extend(session, clock.monotonicMs());
      return { ...read.value, session, requestIdx: undefined, load };
    }
    const requestIdx = auth?.requestIdx;
    const refusal = admission.findRepetition(auth) ?? admission.findCrowding();
    if (refusal !== undefined) {
      if (refusal.isRejected) this.reject(requestIdx, load);
      return refuse(response, refusal);
    }
    admission.accept(auth);
    if (session !== undefined) sessions.extend(session, clock.monotonicMs());
    return { ...read.value, session, requestIdx, load };
  }

  reject(requestIdx: number | undefined, load: number): void {
    this.parts.workload.reject(requestIdx, load, this.nowSeconds());
    this.parts.reporter.changed();
  }

  nowSeconds(): number {
    return this.parts.clock.now().getTime() / 1000;
  }

  async #work(route: string, admitted: Admitted, response: ServerResponse): Promise<void> {
    const { admission, workload, turns, reporter } = this.parts;
    const entry = workload.enter(admitted.requestIdx, admitted.load, this.nowSeconds());
    reporter.changed();
    const gone = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    if (response.destroyed) gone.abort();
    const hasTurn = await turns.take(gone.signal);
    const outcome = hasTurn ? await this.#pass(route, { admitted, entry, response, gone: gone.signal }) : "Cancelled";
    if (hasTurn) turns.giveBack();
    if (outcome !== "Success" && admitted.requestIdx !== undefined) admission.forget(admitted.auth);
    workload.end(entry, outcome, this.nowSeconds());
    reporter.changed();
  }

  async #pass(
    route: string,
    work: {
      readonly admitted: Admitted;
      readonly entry: Entry;
      readonly response: ServerResponse;
      readonly gone: AbortSignal;
    },
  ): Promise<Exclude<Outcome, "Rejected">> {
    const { backend, workload, log, onBackendFailure } = this.parts;
    const { admitted, entry, response, gone } = work;
    workload.start(entry, this.nowSeconds());
    try {
      const status = await backend.pass(route, admitted.payload, response, gone);
      // A request that the backend refused was no work, and does not count as served load.
      return status >= 400 ? "Error" : "Success";
    } catch (error) {
      if (gone.aborted) return "Cancelled";
      log(`the backend failed at ${route}: ${describe(error)}`);
      onBackendFailure();
      if (response.headersSent) response.destroy();
      else answer(response, 500, { error: "the backend failed" });
      return "Error";
    }
  }

  #loadOf(route: string, { auth, payload }: RoutedRequest): number {
    const cost = auth?.cost ?? 0;
    const load = this.parts.calculateLoad({ route, payload, cost });
    return Number.isFinite(load) && load >= 0 ? load : Math.max(cost, 0);
  }
}

function refuse(response: ServerResponse, { status, error }: Refusal): undefined {
  return answer(response, status, { error });
}
