import { invalid, notFound } from "../../base/errors.ts";
import { toDollars } from "../../base/money.ts";
import { identityOf, type HttpScope } from "../../http/server.ts";
import { findUserByEmailOrId, recordAudit, resolveUserId } from "../accounts/index.ts";
import { balanceOf, type TransferPoster } from "../ledger/index.ts";
import { createRecipientFinder, parseAmount, transferCredit } from "./credit-transfer.ts";
import { grantCredit } from "./grants.ts";
import { planReport } from "./report.ts";
import {
  GrantBody,
  GrantResponse,
  InvoicesParams,
  InvoicesQuery,
  InvoicesResponse,
  SuccessResponse,
  TransferBody,
} from "./schema.ts";
import { readReport } from "./service.ts";

const TAGS = ["Billing"];

export type BillingPorts = {
  /** Made and drained by the process, since its commits outlive the request that asked for them. */
  readonly poster: TransferPoster;
};

export function billingRoutes(scope: HttpScope, { poster }: BillingPorts): void {
  transferRoute(scope, poster);
  invoicesRoute(scope);
  grantRoute(scope);
}

function transferRoute({ app, database, repeatable }: HttpScope, poster: TransferPoster): void {
  const ports = { poster, findRecipient: createRecipientFinder(database) };
  app.put(
    "/api/v0/commands/transfer_credit/",
    {
      config: {
        access: { operation: "api.billing.transfer_credit", permission: "billing_write", limit: "money" },
      },
      schema: { tags: TAGS, summary: "Transfer credit", body: TransferBody, response: { 200: SuccessResponse } },
    },
    async (request) => {
      const { recipient, amount, apikey_id: statedApiKeyId } = request.body;
      await transferCredit(ports, {
        identity: identityOf(request),
        ipAddress: request.ip,
        recipient: String(recipient),
        amount: parseAmount(amount),
        statedApiKeyId: statedApiKeyId === undefined ? undefined : String(statedApiKeyId),
        repeatable: repeatable(request),
      });
      return { success: true as const };
    },
  );
}

function invoicesRoute({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/users/:user_id/invoices/",
    {
      config: { access: { operation: "api.billing.invoices", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "Show invoices",
        params: InvoicesParams,
        querystring: InvoicesQuery,
        response: { 200: InvoicesResponse },
      },
    },
    async (request) => {
      const userId = await resolveUserId(database.kysely, identityOf(request), request.params.user_id);
      const plan = planReport(request.query);
      return readReport(database.kysely, clock.now(), { userId, plan });
    },
  );
}

function grantRoute({ app, mutate }: HttpScope): void {
  app.post(
    "/api/v0/admin/credit/",
    {
      config: { access: { operation: "api.admin.credit", permission: "admin", limit: "money" } },
      schema: {
        tags: ["Administration"],
        summary: "Give a user credit",
        body: GrantBody,
        response: { 200: GrantResponse },
      },
    },
    (request) => {
      const { email, user_id: id, amount, reason = "Credit granted" } = request.body;
      const named = email ?? id;
      if (named === undefined) throw invalid("email", "email or user_id is required");
      const identity = identityOf(request);
      return mutate(request, async (tx) => {
        const user = await findUserByEmailOrId(tx.db, String(named));
        if (user === undefined) throw notFound("no_such_user", `There is no user ${named}.`);
        await grantCredit(tx, { userId: user.id, amount: parseAmount(amount), reason, actor: identity });
        const args = { user_id: user.id, amount };
        await recordAudit(tx, identity, { ipAddress: request.ip, action: "api.admin.credit", args });
        const { available } = await balanceOf(tx.db, user.id);
        return { success: true as const, id: user.id, email: user.email, credit: toDollars(available) };
      });
    },
  );
}
