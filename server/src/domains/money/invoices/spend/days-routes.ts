import { inSnapshot } from "../../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { SpendDays, SpendDaysQuery, SpendForecast } from "./days-schema.ts";
import { readSpendDays, readSpendForecast } from "./days-service.ts";
import { SPLITS } from "./rules/split.ts";

/** Routes for spending by day, and for its forecast. */
export function spendDayRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/charges/split/",
    {
      config: { access: { operation: "api.billing.spend_days", permission: "billing_read" } },
      schema: {
        tags: ["Billing"],
        summary: "Show spending by day, split by instance, label, endpoint, person, key or kind",
        querystring: SpendDaysQuery,
        response: { 200: SpendDays },
      },
    },
    (request) => {
      const { by: asked, days = 30 } = request.query;
      const by = SPLITS.find((split) => split === asked) ?? "instance";
      const caller = { userId: identityOf(request).userId, now: clock.now() };
      return inSnapshot(database, (db) => readSpendDays(db, caller, { by, days }));
    },
  );
  app.get(
    "/api/v0/charges/forecast/",
    {
      config: { access: { operation: "api.billing.spend_forecast", permission: "billing_read" } },
      schema: {
        tags: ["Billing"],
        summary: "Forecast this month's spending and when the balance is used up",
        response: { 200: SpendForecast },
      },
    },
    (request) => inSnapshot(database, (db) => readSpendForecast(db, clock.now(), identityOf(request).userId)),
  );
}
