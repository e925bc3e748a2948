import { invalid } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import { inSnapshot, type Reader } from "../../../db/transaction.ts";
import type { Database } from "../../../db/connect.ts";
import { listInstanceFacts } from "../../rental/instances/for-serverless.ts";
import { changeParameters, type Parameters } from "../endpoints/rules/parameters.ts";
import { noSuchEndpoint } from "../endpoints/require-own.ts";
import { readSeconds } from "../workers/sample-store.ts";
import type { SimulateBody } from "./schema.ts";
import { intervalOf, readPast, readTrace, type Span } from "./span.ts";
import { measureWorkers, workerModel } from "./worker-model.ts";
import { startOf, type Trial, type TrialParameters } from "./trial.ts";
import { findEndpointGroup, type EndpointGroup } from "../endpoints/store.ts";
import { listWorkers } from "../workers/store.ts";

/** A replayed past begins an hour early, so that the engine knows what it would have known. */
const RUN_IN_MS = 3_600_000;
const PAGE_ROWS = 10_000;
/** More requests would take longer than a client waits. */
const REQUESTS_MAX = 1_000_000;
const WORKERS_MAX = 1_000;

export type SimulateRequest = {
  readonly userId: UserId;
  readonly id: EndpointGroup["id"];
  readonly body: SimulateBody;
  readonly nowMs: number;
};

/** The trial to simulate, and the period that it covers; a trace covers none. */
export type GatheredTrial = { readonly trial: Trial; readonly span: Span | undefined };

/** Reads the input of a simulation at one moment; throws `invalid` naming a field that cannot be simulated. */
export async function gatherTrial(
  database: Database,
  { userId, id, body, nowMs }: SimulateRequest,
): Promise<GatheredTrial> {
  return inSnapshot(database, async (db) => {
    const endpoint = await findEndpointGroup(db, id, userId);
    if (endpoint === undefined) throw noSuchEndpoint();
    const [present, proposed] = [toTrial(endpoint), toTrial(changeParameters(endpoint, body))];
    const { trace, worker } = body;
    const span = trace === undefined ? readPast(body, nowMs) : undefined;
    const requests = trace === undefined ? undefined : readTrace(body);
    const workers = await listWorkers(db, id);
    const instances = await listInstanceFacts(
      db,
      workers.map(({ instanceId }) => instanceId),
    );
    const model = workerModel(worker, measureWorkers(workers, instances));
    for (const parameters of [present, proposed]) refuseCrowd(startOf(parameters, model));
    const common = { present, proposed, model };
    if (requests !== undefined) {
      const untilMs = requests.at(-2) ?? 0;
      const traffic = { kind: "requests", rows: [requests] } as const;
      return { trial: { ...common, traffic, countedFromMs: 0, untilMs, intervalMs: intervalOf(untilMs) }, span };
    }
    const { fromMs, untilMs } = span ?? readPast(body, nowMs);
    const first = fromMs - RUN_IN_MS;
    const rows = await readTraffic(db, endpoint, { fromMs: first, untilMs });
    return {
      trial: {
        ...{ ...common, traffic: { kind: "seconds", fromMs: first, rows } },
        ...{ countedFromMs: RUN_IN_MS, untilMs: untilMs - first, intervalMs: intervalOf(untilMs - fromMs) },
      },
      span,
    };
  });
}

function toTrial({ state, minLoad, minColdLoad, targetUtil, coldMult, ...rest }: Parameters): TrialParameters {
  const { coldWorkers, maxWorkers, maxQueueTimeS, targetQueueTimeS, inactivityTimeoutS } = rest;
  return {
    ...{ state, minLoad, minColdLoad, targetUtil, coldMult },
    ...{ coldWorkers, maxWorkers, maxQueueTimeS, targetQueueTimeS, inactivityTimeoutS },
  };
}

function refuseCrowd({ hotCount, stoppedCount }: ReturnType<typeof startOf>): void {
  if (hotCount + stoppedCount <= WORKERS_MAX) return;
  throw invalid(
    "max_workers",
    `max_workers: these parameters keep ${hotCount + stoppedCount} workers, and at most ${WORKERS_MAX} can be simulated`,
  );
}

async function readTraffic(db: Reader, { id }: EndpointGroup, { fromMs, untilMs }: Span) {
  const pages: Float64Array<ArrayBuffer>[] = [];
  const until = new Date(untilMs);
  let requestCount = 0;
  let from = new Date(fromMs);
  for (;;) {
    const page = await readSeconds(db, id, { from, until, limit: PAGE_ROWS });
    for (let index = 1; index < page.length; index += 3) requestCount += page[index] ?? 0;
    if (requestCount > REQUESTS_MAX) throw tooMuch("from", `more than ${REQUESTS_MAX} requests came`);
    pages.push(page);
    if (page.length < 3 * PAGE_ROWS) return pages;
    from = new Date(((page.at(-3) ?? 0) + 1) * 1_000);
  }
}

/** The error for a simulation that is too large; `field` is the one to shorten. */
export function tooMuch(field: "from" | "trace", why: string) {
  const advice = field === "from" ? "take a shorter period" : "take a shorter trace, or fewer workers";
  return invalid(field, `${field}: ${why}: ${advice}`, "simulation_too_long");
}
