import { epochSeconds } from "../../../base/clock.ts";
import { invalid } from "../../../base/errors.ts";
import { nanos, toDollars } from "../../../base/money.ts";
import { inSnapshot, type Reader } from "../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import type { EndpointGroupId } from "../../../base/ids.ts";
import { listTraffic } from "../endpoints/metrics-store.ts";
import { requireEndpoint } from "../endpoints/require-own.ts";
import { EndpointPath } from "../endpoints/schema.ts";
import type { Fleet } from "./rules/fleet.ts";
import { fleetSeries } from "./rules/series.ts";
import { EndpointHistory, HistoryQuery } from "./schema.ts";
import { listDecisions, listFleets, type Span } from "./store.ts";

const SPAN_DEFAULT_S = 3_600;
const STEPS_DEFAULT = 120;
const STEPS_MAX = 2_000;
const DECISIONS_MAX = 500;

/** One picture of an endpoint over time: load, capacity, workers, waiting, and each decision with its sentence. */
export function historyRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/endptjobs/:id/history/",
    {
      config: { access: { operation: "api.endpoint.history", permission: "misc" } },
      schema: {
        tags: ["Serverless"],
        summary: "Show load, capacity, workers and decisions of an endpoint over time",
        params: EndpointPath,
        querystring: HistoryQuery,
        response: { 200: EndpointHistory },
      },
    },
    async (request) => {
      const span = readSpan(request.query, clock.now());
      const wanted = { id: request.params.id, name: undefined };
      return inSnapshot(database, async (db) =>
        readHistory(db, await requireEndpoint(db, identityOf(request).userId, wanted), span),
      );
    },
  );
}

type Asked = { readonly from?: number; readonly to?: number; readonly step?: number };

/** The span in whole steps. */
function readSpan({ from: asked, to, step }: Asked, now: Date): Span {
  const until = to ?? Math.floor(now.getTime() / 1000) + 1;
  const from = asked ?? until - SPAN_DEFAULT_S;
  if (from >= until) throw invalid("from", "from must be before to");
  const stepS = step ?? Math.max(1, Math.ceil((until - from) / STEPS_DEFAULT));
  if ((until - from) / stepS > STEPS_MAX) throw invalid("step", `step: at most ${STEPS_MAX} steps can be asked for`);
  const fit = (seconds: number) => new Date(seconds * stepS * 1000);
  return { from: fit(Math.floor(from / stepS)), until: fit(Math.ceil(until / stepS)), stepS };
}

async function readHistory(db: Reader, id: EndpointGroupId, span: Span) {
  const { stepS } = span;
  const firstS = epochSeconds(span.from);
  const steps = Array.from({ length: (epochSeconds(span.until) - firstS) / stepS }, (_, n) => firstS + n * stepS);
  const traffic = new Map((await listTraffic(db, [id], span)).map((one) => [epochSeconds(one.at), one]));
  const arrived = steps.map((step) => traffic.get(step));
  const fleets = fleetSeries(await listFleets(db, id, span), steps);
  const line = (of: (fleet: Fleet) => number) => fleets.map((fleet) => (fleet === undefined ? null : of(fleet)));
  const decisions = await listDecisions(db, id, span, DECISIONS_MAX);
  return {
    success: true as const,
    from: firstS,
    to: epochSeconds(span.until),
    step_s: stepS,
    at: steps,
    load: arrived.map((one) => (one?.load ?? 0) / stepS),
    requests: arrived.map((one) => one?.requestCount ?? 0),
    waited: arrived.map((one) => one?.waitedCount ?? 0),
    wait_mean: arrived.map((one) =>
      one === undefined || one.waitedCount === 0 ? 0 : one.waitMs / one.waitedCount / 1000,
    ),
    wait_max: arrived.map((one) => (one?.waitMsMax ?? 0) / 1000),
    queued: line((fleet) => fleet.queued),
    capacity: {
      ready: line((fleet) => fleet.readyPerf),
      starting: line((fleet) => fleet.startingPerf),
      stopped: line((fleet) => fleet.stoppedPerf),
    },
    workers: {
      ready: line((fleet) => fleet.ready),
      starting: line((fleet) => fleet.starting),
      stopping: line((fleet) => fleet.stopping),
      stopped: line((fleet) => fleet.stopped),
      failed: line((fleet) => fleet.failed),
    },
    cost_per_hour: line((fleet) => toDollars(nanos(fleet.nanosPerHour))),
    decisions: decisions.map(({ at, reason, sentence }) => ({ at: epochSeconds(at), reason, sentence })),
  };
}
