import { inSnapshot } from "../../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { planCharges } from "./rules/charge-plan.ts";
import { ChargesQuery, ChargesResponse } from "./charge-schema.ts";
import { readCharges } from "./charge-service.ts";

/** Routes for charges: usage and its price. */
export function chargeRoutes({ app, database }: HttpScope): void {
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
}
