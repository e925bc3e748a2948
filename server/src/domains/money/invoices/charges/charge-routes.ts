import { inSnapshot } from "../../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { planCharges, planChargesChart } from "./rules/charge-plan.ts";
import { ChargesChartQuery, ChargesChartResponse, ChargesQuery, ChargesResponse } from "./charge-schema.ts";
import { readCharges, readChart } from "./charge-service.ts";

/** Routes for charges: usage and its price. */
export function chargeRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/charges/",
    {
      config: { access: { operation: "api.billing.charges", permission: "billing_read" } },
      schema: {
        tags: ["Billing"],
        summary: "List charges by day, or every charge line",
        querystring: ChargesQuery,
        response: { 200: ChargesResponse },
      },
    },
    async (request) => {
      const plan = planCharges(request.query);
      const { userId } = identityOf(request);
      return inSnapshot(database, (db) => readCharges(db, userId, plan));
    },
  );
  app.get(
    "/api/v0/charges/chart/",
    {
      config: { access: { operation: "api.billing.charges_chart", permission: "billing_read" } },
      schema: {
        tags: ["Billing"],
        summary: "Show the charges of every day of a window",
        querystring: ChargesChartQuery,
        response: { 200: ChargesChartResponse },
      },
    },
    async (request) => {
      const scope = planChargesChart(request.query.select_filters, clock.now());
      const { userId } = identityOf(request);
      return inSnapshot(database, (db) => readChart(db, userId, scope));
    },
  );
}
