import { identityOf, type HttpScope } from "../../http/server.ts";
import { listCappedData } from "./capped-service.ts";
import { ArrearsAnswer } from "./schema.ts";
import { findOpenArrears } from "./store.ts";
import { viewArrears, viewCappedData } from "./views.ts";

export function arrearsRoutes({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/arrears/",
    {
      config: { access: { operation: "api.arrears.show", permission: "billing_read" } },
      schema: {
        tags: ["Arrears"],
        summary: "Show until when data is kept that credit or a cap does not pay for",
        response: { 200: ArrearsAnswer },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const arrears = await findOpenArrears(database.kysely, userId);
      const capped = await listCappedData(database.kysely, userId);
      return {
        success: true as const,
        arrears: arrears === undefined ? null : viewArrears(arrears),
        caps: capped.map(viewCappedData),
      };
    },
  );
}
