import { inSnapshot } from "../../../../db/transaction.ts";
import type { HttpScope } from "../../../../http/server.ts";
import { requestOf, TAGS } from "../route-ports.ts";
import { IdParams } from "../schema.ts";
import { CalendarResponse, PriceHintResponse } from "./outlook-schema.ts";
import { readCalendar, readPriceHint } from "./outlook-service.ts";

/** Routes that show a host how a machine was rented, and how its price compares. */
export function outlookRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/machines/:id/calendar/",
    {
      config: { access: { operation: "api.machine.calendar", permission: "machine_read" } },
      schema: {
        tags: TAGS,
        summary: "Show when the GPUs of an own machine were rented, and until when they are",
        params: IdParams,
        response: { 200: CalendarResponse },
      },
    },
    (request) => inSnapshot(database, (db) => readCalendar(db, clock.now(), requestOf(request))),
  );

  app.get(
    "/api/v0/machines/:id/price-hint/",
    {
      config: { access: { operation: "api.machine.price_hint", permission: "machine_read" } },
      schema: {
        tags: TAGS,
        summary: "Compare the price of an own machine with those of other hosts",
        params: IdParams,
        response: { 200: PriceHintResponse },
      },
    },
    (request) => inSnapshot(database, (db) => readPriceHint(db, clock.now(), requestOf(request))),
  );
}
