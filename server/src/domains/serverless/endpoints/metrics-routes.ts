import type { Static } from "typebox";
import { epochSeconds } from "../../../base/clock.ts";
import { invalid } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { MetricsBody, MetricsResponse, type MetricsPoint, type MetricsRow } from "./metrics-schema.ts";
import { listTraffic, type Traffic } from "./metrics-store.ts";
import { requireEndpoint } from "./require-own.ts";
import { listEndpointGroups } from "./store.ts";

const SPAN_DEFAULT_MS = 3_600_000;
const STEP_DEFAULT_S = 60;
const PERIODS_MAX = 10_000;
const TIME_MAX_S = 253_402_300_799;

export function metricsRoutes({ app, database, clock }: HttpScope): void {
  app.post(
    "/api/v0/serverless/metrics/",
    {
      config: { access: { operation: "api.endpoint.metrics", permission: "misc" } },
      schema: {
        tags: ["Serverless"],
        summary: "Show requests, load and waiting times by period",
        body: MetricsBody,
        response: { 200: MetricsResponse },
      },
    },
    async (request) => {
      const { endpoint_id: id, step: stepS = STEP_DEFAULT_S } = request.body;
      const span = { ...readSpan(request.body, { now: clock.now(), stepS }), stepS };
      const db = database.kysely;
      const traffic = await listTraffic(db, await endpointsOf(db, identityOf(request).userId, id), span);
      return {
        success: true as const,
        start: epochSeconds(span.from),
        end: epochSeconds(span.until),
        step: stepS,
        results: byMetric(traffic, stepS),
        rows: traffic.map((one) => metricsRow(one, stepS)),
      };
    },
  );
}

async function endpointsOf(db: Reader, userId: UserId, id: number | undefined) {
  if (id !== undefined) return [await requireEndpoint(db, userId, { id, name: undefined })];
  return (await listEndpointGroups(db, userId)).map((group) => group.id);
}

function readSpan(body: Static<typeof MetricsBody>, { now, stepS }: { readonly now: Date; readonly stepS: number }) {
  const { start = body.start_date, end = body.end_date } = body;
  const untilMs = end === undefined ? now.getTime() : readMs("end", end);
  const fromMs = start === undefined ? untilMs - SPAN_DEFAULT_MS : readMs("start", start);
  if (fromMs >= untilMs) throw invalid("start", "start must be before end");
  if ((untilMs - fromMs) / 1000 / stepS > PERIODS_MAX) {
    throw invalid("step", `step: at most ${PERIODS_MAX} periods can be asked for at once`);
  }
  return { from: new Date(fromMs), until: new Date(untilMs) };
}

function readMs(field: string, seconds: number): number {
  if (!(seconds >= 0 && seconds <= TIME_MAX_S)) throw invalid(field, `${field} must be seconds since 1970`);
  return Math.round(seconds * 1000);
}

/** Series by the name of their metric, over all endpoints: sums, but for the mean and the longest wait. */
function byMetric(traffic: readonly Traffic[], stepS: number): Record<string, MetricsPoint[]> {
  const periods = [...Map.groupBy(traffic, ({ at }) => at.getTime()).values()]
    .map(addUp)
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const rows = periods.map((period) => measures(period, stepS));
  const names = ["requests", "load", "waited", "wait_mean", "wait_max"] as const;
  return Object.fromEntries(
    names.map((name) => [name, rows.map((row) => ({ timestamp: row.at, value: String(row[name]) }))]),
  );
}

/** The traffic of several endpoints in one period. */
function addUp(own: readonly Traffic[]): Omit<Traffic, "endpointId"> {
  const sum = (of: (one: Traffic) => number) => own.reduce((total, one) => total + of(one), 0);
  return {
    at: own[0]?.at ?? new Date(0),
    requestCount: sum((one) => one.requestCount),
    load: sum((one) => one.load),
    waitedCount: sum((one) => one.waitedCount),
    waitMs: sum((one) => one.waitMs),
    waitMsMax: Math.max(...own.map((one) => one.waitMsMax)),
  };
}

function metricsRow(traffic: Traffic, stepS: number): MetricsRow {
  return { endpoint_id: traffic.endpointId, ...measures(traffic, stepS) };
}

function measures(traffic: Omit<Traffic, "endpointId">, stepS: number): Omit<MetricsRow, "endpoint_id"> {
  const { at, requestCount, load, waitedCount, waitMs, waitMsMax } = traffic;
  return {
    at: epochSeconds(at),
    requests: requestCount,
    load: load / stepS,
    waited: waitedCount,
    wait_mean: waitedCount === 0 ? 0 : waitMs / waitedCount / 1000,
    wait_max: waitMsMax / 1000,
  };
}
