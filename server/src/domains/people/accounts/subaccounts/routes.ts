import { ZERO } from "../../../../base/money.ts";
import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { ACCOUNT_TAGS, type AccountPorts } from "../route-ports.ts";
import { RegenerateBody, RegenerateResponse, SubaccountsResponse } from "../schema.ts";
import { viewSubaccount } from "../views.ts";
import { regenerateKeys } from "./regenerate-service.ts";
import { listSubaccounts } from "./store.ts";

const NO_MONEY = { balanceNanos: ZERO, availableNanos: ZERO };
const NO_PAYMENTS = { last4: undefined, hasPayoutMethod: false };

/** Routes for the subaccounts of the caller and their keys. */
export function subaccountRoutes({ app, database, mutate }: HttpScope, ports: AccountPorts): void {
  app.get(
    "/api/v0/subaccounts/",
    {
      config: { access: { operation: "api.subaccount.list", permission: "user_read" } },
      schema: { tags: ACCOUNT_TAGS, summary: "Show own subaccounts", response: { 200: SubaccountsResponse } },
    },
    async (request) => {
      const subaccounts = await listSubaccounts(database.kysely, identityOf(request).userId);
      const ids = subaccounts.map(({ id }) => id);
      const [balances, standings] = await Promise.all([ports.balancesOf(ids), ports.paymentStandingsOf(ids)]);
      return {
        users: subaccounts.map((one) =>
          viewSubaccount(one, {
            balance: balances.get(one.id) ?? NO_MONEY,
            payments: standings.get(one.id) ?? NO_PAYMENTS,
          }),
        ),
      };
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
