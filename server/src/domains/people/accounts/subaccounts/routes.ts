import { inSnapshot } from "../../../../db/transaction.ts";
import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { ACCOUNT_TAGS, type AccountPorts } from "../route-ports.ts";
import { RegenerateBody, RegenerateResponse, SubaccountsResponse } from "../schema.ts";
import { viewSubaccount } from "../views.ts";
import { regenerateKeys } from "./regenerate-service.ts";
import { listSubaccounts } from "./store.ts";

/** Routes for the subaccounts of the caller and their keys. */
export function subaccountRoutes({ app, database, mutate }: HttpScope, ports: AccountPorts): void {
  app.get(
    "/api/v0/subaccounts/",
    {
      config: { access: { operation: "api.subaccount.list", permission: "user_read" } },
      schema: { tags: ACCOUNT_TAGS, summary: "Show own subaccounts", response: { 200: SubaccountsResponse } },
    },
    (request) => {
      const { userId } = identityOf(request);
      return inSnapshot(database, async (db) => {
        const subaccounts = new Map((await listSubaccounts(db, userId)).map((one) => [one.id, one]));
        const facts = await ports.factsOf(db, [...subaccounts.keys()]);
        return {
          users: facts.flatMap((known) => {
            const subaccount = subaccounts.get(known.userId);
            return subaccount === undefined ? [] : [viewSubaccount(subaccount, known)];
          }),
        };
      });
    },
  );
  app.put(
    "/api/v0/subaccounts/regenerate_keys/",
    {
      config: { access: { operation: "api.subaccount.regenerate_keys", permission: "user_write", limit: "keys" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Replace the key of one subaccount, or of all",
        body: RegenerateBody,
        response: { 200: RegenerateResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => ({
        success: true as const,
        regenerated_keys: [...(await regenerateKeys(tx, callerOf(request), request.body, ports))],
      })),
  );
}
