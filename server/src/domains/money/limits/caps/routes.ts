import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { inSnapshot } from "../../../../db/transaction.ts";
import { capsStopAt } from "../../charging/for-limits.ts";
import { listCaps } from "../../ledger/index.ts";
import { CapAnswer, Caps, Done, IdParams, PutCapBody } from "./schema.ts";
import { removeCap, setCap, settleBeforeCap } from "./service.ts";
import { viewCap } from "./views.ts";

const TAGS = ["Caps"];

export function capRoutes({ app, database, clock, mutate }: HttpScope): void {
  app.get(
    "/api/v0/caps/",
    {
      config: { access: { operation: "api.cap.list", permission: "billing_read" } },
      schema: { tags: TAGS, summary: "Show the limits on spending", response: { 200: Caps } },
    },
    async (request) => {
      const now = clock.now();
      const { userId } = identityOf(request);
      const [caps, stops] = await inSnapshot(database, async (db) => {
        const found = await listCaps(db, userId, now);
        return [found, await capsStopAt(db, now, { userId, caps: found })] as const;
      });
      return { success: true as const, caps: caps.map((cap) => viewCap(cap, now, stops.get(cap.id))) };
    },
  );
  app.put(
    "/api/v0/caps/",
    {
      config: { access: { operation: "api.cap.set", permission: "billing_write" } },
      schema: {
        tags: TAGS,
        summary: "Limit what is spent in a period by the account, a key, an endpoint group or an instance",
        body: PutCapBody,
        response: { 200: CapAnswer },
      },
    },
    async (request) => {
      await settleBeforeCap(database, clock, identityOf(request), request.body);
      return mutate(request, async (tx) => {
        const cap = await setCap(tx, identityOf(request), request.body);
        const stops = await capsStopAt(tx.db, tx.now, { userId: cap.userId, caps: [cap] });
        return { success: true as const, cap: viewCap(cap, tx.now, stops.get(cap.id)) };
      });
    },
  );
  app.delete(
    "/api/v0/caps/:id/",
    {
      config: { access: { operation: "api.cap.remove", permission: "billing_write" } },
      schema: { tags: TAGS, summary: "Remove a limit on spending", params: IdParams, response: { 200: Done } },
    },
    (request) =>
      mutate(request, async (tx) => {
        await removeCap(tx, identityOf(request), request.params.id);
        return { success: true as const, msg: `Cap ${request.params.id} is removed.` };
      }),
  );
}
