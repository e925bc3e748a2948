import { inSnapshot } from "../../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { planMovements } from "./rules/movement-plan.ts";
import { MovementsQuery, MovementsResponse, RawInvoicesQuery, RawInvoicesResponse } from "./movement-schema.ts";
import { readMovements, searchInvoices } from "./movement-service.ts";

const TAGS = ["Billing"];

/** Routes for movements of money: pages of movements, and raw invoices. */
export function movementRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v1/invoices/",
    {
      config: { access: { operation: "api.billing.list_invoices", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "List money movements",
        querystring: MovementsQuery,
        response: { 200: MovementsResponse },
      },
    },
    async (request) => {
      const plan = planMovements(request.query);
      // Published clients expect status 200 for a missing or wrong range of dates.
      if (plan === undefined) {
        return { success: false, error: "Invalid date range", count: 0, total: 0, results: [], next_token: null };
      }
      return readMovements(database.kysely, identityOf(request).userId, plan);
    },
  );
  app.get(
    "/api/v0/invoices/",
    {
      config: { access: { operation: "api.billing.search_invoices", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "Search money movements",
        querystring: RawInvoicesQuery,
        response: { 200: RawInvoicesResponse },
      },
    },
    async (request) =>
      inSnapshot(database, (db) => searchInvoices(db, clock.now(), identityOf(request).userId, request.query)),
  );
}
