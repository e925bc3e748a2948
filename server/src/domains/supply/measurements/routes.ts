import { invalid } from "../../../base/errors.ts";
import { parseMoment } from "../../../base/moment.ts";
import { inSnapshot } from "../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { PROMETHEUS_TYPE, prometheusText } from "./prometheus.ts";
import { COARSEST_S, planSpan, RESOLUTIONS, type Span } from "./rules/tiers.ts";
import { History, HistoryQuery, IdParams, Sparks, SparksQuery } from "./schema.ts";
import { listLastValues, listSparks, showInstance, showMachine, SPARKS_MAX } from "./service.ts";
import { viewHistory, viewSpark, viewSteps } from "./views.ts";

const HOUR_S = 3_600;
/** Steps of the lines in lists. */
const SPARK_STEP_S = 60;

/** Routes of measurements of instances and machines. */
export function measurementRoutes(scope: HttpScope): void {
  registerHistories(scope);
  registerLast(scope);
}

function registerHistories({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/instances/:id/measurements/",
    {
      config: { access: { operation: "api.instance.measurements", permission: "instance_read" } },
      schema: {
        tags: ["Instances"],
        summary: "Show the measurements of an instance over time",
        params: IdParams,
        querystring: HistoryQuery,
        response: { 200: History },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const span = readSpan(request.query, clock.now());
      const target = { userId, instanceId: request.params.id };
      const { measured, grid } = await inSnapshot(database, (db) => showInstance(db, target, span));
      return viewHistory(grid, measured.cpuCores);
    },
  );
  app.get(
    "/api/v0/machines/:id/measurements/",
    {
      config: { access: { operation: "api.machine.measurements", permission: "machine_read" } },
      schema: {
        tags: ["Machines"],
        summary: "Show the measurements of a machine over time",
        params: IdParams,
        querystring: HistoryQuery,
        response: { 200: History },
      },
    },
    async (request) => {
      const span = readSpan(request.query, clock.now());
      const target = { hostId: identityOf(request).userId, machineId: request.params.id };
      const { cpuCores, grid } = await inSnapshot(database, (db) => showMachine(db, target, span));
      return viewHistory(grid, cpuCores);
    },
  );
}

function registerLast({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/instances/measurements/latest/",
    {
      config: { access: { operation: "api.instance.sparks", permission: "instance_read" } },
      schema: {
        tags: ["Instances"],
        summary: "Show the last hour of your instances",
        querystring: SparksQuery,
        response: { 200: Sparks },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const nowS = clock.now().getTime() / 1000;
      const span = planSpan({ fromS: nowS - HOUR_S, toS: nowS, resolutionS: SPARK_STEP_S, nowS });
      const wanted = { userId, ids: readIds(request.query.ids) };
      const sparks = await inSnapshot(database, (db) => listSparks(db, wanted, span));
      return {
        ...viewSteps(span),
        instances: sparks.map(({ measured, grid }) => viewSpark(measured.id, grid, measured.cpuCores)),
      };
    },
  );
  app.get(
    "/api/v0/instances/metrics/",
    {
      config: { access: { operation: "api.instance.metrics", permission: "instance_read" } },
      schema: { hide: true },
    },
    async (request, reply) => {
      const values = await listLastValues(database.kysely, identityOf(request).userId, clock.now());
      return reply.type(PROMETHEUS_TYPE).send(prometheusText(values));
    },
  );
}

type SpanQuery = {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly resolution?: string | undefined;
};

function readSpan({ from, to, resolution }: SpanQuery, now: Date): Span {
  const nowS = now.getTime() / 1000;
  const toS = to === undefined ? nowS : readMoment("to", to, true);
  const fromS = from === undefined ? Math.min(toS, nowS) - HOUR_S : readMoment("from", from, false);
  if (fromS >= toS) throw invalid("from", "from must be before to");
  if (fromS >= nowS) throw invalid("from", "from must be in the past");
  return planSpan({ fromS, toS, resolutionS: readResolution(resolution), nowS });
}

function readMoment(name: string, text: string, isEnd: boolean): number {
  const at = parseMoment(text, { isEnd });
  if (at === undefined) throw invalid(name, `${name} must be seconds since 1970 or an ISO 8601 time`);
  return at.getTime() / 1000;
}

function readResolution(text: string | undefined): number {
  if (text === undefined || text === "") return RESOLUTIONS[0];
  const seconds = /^\d{1,8}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > COARSEST_S) {
    throw invalid("resolution", `resolution must be a number of seconds from 1 to ${COARSEST_S}`);
  }
  return seconds;
}

function readIds(text: string | undefined): ReadonlySet<number> | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const ids = text.split(",").map((word) => (/^\s*\d{1,10}\s*$/.test(word) ? Number(word) : 0));
  if (ids.includes(0) || ids.length > SPARKS_MAX) {
    throw invalid("ids", `ids must be at most ${SPARKS_MAX} instance ids with commas between them`);
  }
  return new Set(ids);
}
