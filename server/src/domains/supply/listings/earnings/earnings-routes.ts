import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { sumEarningsOf } from "../../../money/ledger/index.ts";
import { planDays } from "../rules/earnings.ts";
import { TAGS } from "../route-ports.ts";
import { EarningsQuery } from "../schema.ts";
import { toMachineId } from "../own-machine.ts";
import { viewEarned } from "../views.ts";
import { planEarnings, planEarningsPage } from "./rules/earnings-plan.ts";
import {
  EarningsChartQuery,
  EarningsChartResponse,
  EarningsDataResponse,
  EarningsPageQuery,
  EarningsPageResponse,
  ShownEarnings,
  SummaryResponse,
} from "./earnings-schema.ts";
import {
  listReliability,
  readEarnedSoFar,
  readEarningsChart,
  readEarningsPage,
  readSummary,
} from "./earnings-service.ts";

/** Routes for the earnings of the caller: in all, by day or machine, and as a chart. */
export function earningsRoutes(scope: HttpScope): void {
  shownRoutes(scope);
  pagedRoutes(scope);
}

function shownRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/user/earnings/",
    {
      config: { access: { operation: "api.earnings.show", permission: "billing_read" } },
      schema: { tags: TAGS, summary: "Show own earnings in all", response: { 200: ShownEarnings } },
    },
    async (request) => {
      const earned = await readEarnedSoFar(database.kysely, identityOf(request).userId, clock.now());
      return {
        referral_count: 0,
        referral_credits: 0,
        ...(earned === undefined ? {} : { machine_earnings: earned, sla_earnings: 0, sla_collateral: 0 }),
      };
    },
  );
  app.get(
    "/api/v0/user/earnings/data/",
    {
      config: { access: { operation: "api.earnings.data", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "Show own earnings by day and machine",
        querystring: EarningsQuery,
        response: { 200: EarningsDataResponse },
      },
    },
    async (request) => {
      const { machid, ...query } = request.query;
      const machineId = machid === undefined ? undefined : toMachineId(machid);
      const filter = { ...planDays(query, clock.now()), machineId };
      const { userId } = identityOf(request);
      const [sums, reliability] = await Promise.all([
        sumEarningsOf(database.kysely, userId, filter),
        listReliability(database.kysely, userId, machineId),
      ]);
      return {
        success: true as const,
        machine_earnings: viewEarned(sums, reliability),
        referral_earnings: [],
        referral_count: [],
      };
    },
  );
}

function pagedRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v1/user/earnings/",
    {
      config: { access: { operation: "api.earnings.page", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "List own earnings by day or by machine, page by page",
        querystring: EarningsPageQuery,
        response: { 200: EarningsPageResponse },
      },
    },
    async (request) => {
      const plan = planEarningsPage(request.query, clock.now());
      return readEarningsPage(database.kysely, identityOf(request).userId, plan);
    },
  );
  app.get(
    "/api/v1/user/earnings/summary/",
    {
      config: { access: { operation: "api.earnings.summary", permission: "billing_read" } },
      schema: { tags: TAGS, summary: "Add up all own earnings", response: { 200: SummaryResponse } },
    },
    async (request) => ({
      success: true as const,
      summary: await readSummary(database.kysely, identityOf(request).userId, clock.now()),
    }),
  );
  app.get(
    "/api/v1/user/earnings/chart/",
    {
      config: { access: { operation: "api.earnings.chart", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "Show own earnings of every day of a window",
        querystring: EarningsChartQuery,
        response: { 200: EarningsChartResponse },
      },
    },
    async (request) => {
      const plan = planEarnings(request.query.select_filters, clock.now());
      return readEarningsChart(database.kysely, identityOf(request).userId, plan);
    },
  );
}
