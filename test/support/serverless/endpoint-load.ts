import { setTimeout as delay } from "node:timers/promises";
import { callEndpoint, type EndpointOptions } from "../../../sdk/src/endpoint-client.ts";

const TICK_MS = 20;
/** Each request is one unit of work, as the router and the program of `worker-program.ts` count it. */
const UNITS = 1;
const ROUTE = "/work";
/** The timeout of a client with endless patience: only a hang makes it give up. */
const TIMEOUT_MS = 3_000_000;

/** A worker program's account of a request, with the counts of its present run. */
export type Served = {
  readonly worker: number;
  readonly id: string;
  readonly run: string;
  readonly served: number;
  readonly repeated: number;
};

export type Outcome =
  | { readonly id: string; readonly status: number; readonly served: Served }
  | { readonly id: string; readonly problem: string; readonly atMs: number };

/** Requests at a steady rate, which do not wait for earlier ones, up to a number of waiting requests. */
export type EndpointLoad = {
  setRate(perSecond: number): void;
  /** Sends one more request at once; resolves with its answer. */
  ask(): Promise<Outcome>;
  readonly sentCount: number;
  /** How often any of them was sent to a worker: once for each, unless a worker could not take it. */
  readonly triedCount: number;
  readonly outcomes: readonly Outcome[];
  /** Sends no further request; resolves when all have been answered. */
  stop(): Promise<readonly Outcome[]>;
  /** Ends the load without waiting for answers: each waiting client gets an error. */
  abandon(): Promise<void>;
};

/** Starts a load that sends no further request while `waitingMax` of them wait. */
export function startEndpointLoad(endpoint: EndpointOptions, waitingMax: number): EndpointLoad {
  const outcomes: Outcome[] = [];
  const underway = new Set<Promise<Outcome>>();
  const [ended, gone] = [new AbortController(), new AbortController()];
  let [rate, owed, sentCount, triedCount] = [0, 0, 0, 0];
  const counted: EndpointOptions = {
    ...endpoint,
    fetch: (target, init) => {
      if (target instanceof URL && target.pathname === ROUTE) triedCount += 1;
      return fetch(target, init);
    },
  };

  const ask = (): Promise<Outcome> => {
    sentCount += 1;
    const asked = request(counted, `${endpoint.endpoint}-${sentCount}`, gone.signal).then((outcome) => {
      outcomes.push(outcome);
      underway.delete(asked);
      return outcome;
    });
    underway.add(asked);
    return asked;
  };
  const keepAsking = async () => {
    let lastMs = performance.now();
    while (!ended.signal.aborted) {
      await delay(TICK_MS);
      const nowMs = performance.now();
      owed += (rate * (nowMs - lastMs)) / 1000;
      lastMs = nowMs;
      for (; owed >= 1; owed -= 1) if (underway.size < waitingMax) void ask();
    }
  };
  const asking = keepAsking();
  return {
    setRate: (perSecond) => (rate = perSecond),
    ask,
    get sentCount() {
      return sentCount;
    },
    get triedCount() {
      return triedCount;
    },
    outcomes,
    async stop() {
      ended.abort();
      await asking;
      await Promise.all(underway);
      return outcomes;
    },
    async abandon() {
      ended.abort();
      gone.abort();
      await asking;
      await Promise.all(underway);
    },
  };
}

/** Sends a request; never rejects, since a failure is an outcome too. */
async function request(endpoint: EndpointOptions, id: string, signal: AbortSignal): Promise<Outcome> {
  try {
    const payload = { units: UNITS, id };
    const { response } = await callEndpoint(endpoint, {
      route: ROUTE,
      cost: UNITS,
      payload,
      signal,
      timeoutMs: TIMEOUT_MS,
    });
    return { id, status: response.status, served: (await response.json()) as Served };
  } catch (error) {
    return { id, problem: String(error), atMs: performance.now() };
  }
}

/** Requests that the runs of all workers say they served, and how many of them they served twice. */
export function countedBy(outcomes: readonly Outcome[]): { readonly served: number; readonly repeated: number } {
  const runs = new Map<string, Served>();
  for (const outcome of outcomes) {
    if ("problem" in outcome) continue;
    const { served } = outcome;
    if (served.served > (runs.get(served.run)?.served ?? 0)) runs.set(served.run, served);
  }
  const all = [...runs.values()];
  return {
    served: all.reduce((sum, { served }) => sum + served, 0),
    repeated: all.reduce((sum, { repeated }) => sum + repeated, 0),
  };
}
