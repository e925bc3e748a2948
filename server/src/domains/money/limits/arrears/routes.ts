import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { inSnapshot } from "../../../../db/transaction.ts";
import { balanceStopsAt } from "../../charging/for-limits.ts";
import { listCappedData } from "./capped-service.ts";
import { ArrearsAnswer } from "./schema.ts";
import { findOpenArrears } from "./store.ts";
import { viewArrears, viewCappedData } from "./views.ts";

export function arrearsRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/arrears/",
    {
      config: { access: { operation: "api.arrears.show", permission: "billing_read" } },
      schema: {
        tags: ["Arrears"],
        summary: "Show until when unpaid data is kept, and when the balance stops what runs",
        response: { 200: ArrearsAnswer },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const arrears = await findOpenArrears(database.kysely, userId);
      const now = clock.now();
      const stopsAt = await inSnapshot(database, (db) => balanceStopsAt(db, now, userId));
      const capped = await listCappedData(database.kysely, userId);
      return {
        success: true as const,
        arrears: arrears === undefined ? null : viewArrears(arrears),
        balance_stops_at: stopsAt === undefined ? null : stopsAt.getTime() / 1000,
        caps: capped.map(viewCappedData),
      };
    },
  );
}
