import { invalid, notFound } from "../../../base/errors.ts";
import { asId, type InstanceId } from "../../../base/ids.ts";
import { toDollars } from "../../../base/money.ts";
import { passAsRecorded } from "../../../http/request-contexts.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { findRoleIdentifier, findUserByEmailOrId, recordAudit, resolveUserId } from "../../people/accounts/index.ts";
import { listInstanceNames } from "../../rental/instances/index.ts";
import { balanceOf, type TransferPoster } from "../ledger/index.ts";
import { findInCause } from "../ledger/for-invoices.ts";
import {
  createRecipientFinder,
  parseAmount,
  REQUEST_DIGEST,
  transferCredit,
} from "./credit-transfers/credit-transfer-service.ts";
import { createBoundCheck } from "./credit-transfers/movable.ts";
import { createCapCheck } from "./credit-transfers/key-caps.ts";
import { transferRules } from "./credit-transfers/rules/transfer-rules.ts";
import { grantCredit } from "./grants.ts";
import { planReport } from "./rules/report.ts";
import {
  FetchBody,
  FetchResponse,
  GrantBody,
  GrantResponse,
  InvoicesParams,
  InvoicesQuery,
  InvoicesResponse,
  SuccessResponse,
  TransferBody,
} from "./schema.ts";
import { accountDocumentRoutes } from "./account-documents/account-document-routes.ts";
import { issuedRoutes } from "./account-documents/issued-routes.ts";
import { chargeRoutes } from "./charges/charge-routes.ts";
import { documentRoutes } from "./documents/document-routes.ts";
import { exportRoutes } from "./export-routes.ts";
import { movementRoutes } from "./movements/movement-routes.ts";
import { spendDayRoutes } from "./spend/days-routes.ts";
import { spendRoutes } from "./spend/spend-routes.ts";
import { readReport } from "./service.ts";

const TAGS = ["Billing"];

export type InvoicePorts = {
  /** Created and drained by the process, since its commits outlive the request that asked for them. */
  readonly poster: TransferPoster;
};

export function invoiceRoutes(scope: HttpScope, { poster }: InvoicePorts): void {
  transferRoute(scope, poster);
  invoicesRoute(scope);
  movementRoutes(scope);
  chargeRoutes(scope);
  spendDayRoutes(scope);
  spendRoutes(scope);
  exportRoutes(scope);
  documentRoutes(scope);
  accountDocumentRoutes(scope);
  issuedRoutes(scope);
  contractNamesRoute(scope);
  grantRoute(scope);
}

function transferRoute({ app, database, clock, repeatable }: HttpScope, poster: TransferPoster): void {
  const ports = {
    poster,
    findRecipient: createRecipientFinder(database),
    refuseCapped: createCapCheck(database),
    isBound: createBoundCheck(database, clock),
    database,
    clock,
    findRequest: (key: string) => findInCause(database.kysely, key, REQUEST_DIGEST),
    refuseTransfer: transferRules((teamId, personId) => findRoleIdentifier(database.kysely, teamId, personId)),
  };
  app.put(
    "/api/v0/commands/transfer_credit/",
    {
      config: {
        access: { operation: "api.billing.transfer_credit", permission: "billing_write", limit: "money" },
      },
      schema: { tags: TAGS, summary: "Transfer credit", body: TransferBody, response: { 200: SuccessResponse } },
    },
    async (request) => {
      const { recipient, amount, sender = "me", apikey_id: statedApiKeyId } = request.body;
      await transferCredit(ports, {
        identity: identityOf(request),
        ipAddress: request.ip,
        requestId: request.id,
        sender: String(sender),
        recipient: String(recipient),
        amount: parseAmount(amount),
        statedApiKeyId: statedApiKeyId === undefined ? undefined : String(statedApiKeyId),
        repeatable: repeatable(request),
      });
      // The database writes the entry of the audit log, with the transfer (migration 0231).
      passAsRecorded();
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

/** Finds instances with this label. */
function contractNamesRoute({ app, database }: HttpScope): void {
  app.post(
    "/api/v0/contracts/fetch/",
    {
      config: { access: { operation: "api.billing.fetch_contracts", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "Find contracts by their label",
        body: FetchBody,
        response: { 200: FetchResponse },
      },
    },
    async (request) => {
      const { label, contract_ids: ids = [] } = request.body;
      const named = await listInstanceNames(
        database.kysely,
        identityOf(request).userId,
        ids.map((id) => asId<InstanceId>(id)),
      );
      const matching = label === undefined ? named : named.filter((name) => (name.label ?? "") === label);
      return { contracts: matching.map((name) => ({ id: name.id, label: name.label ?? null })) };
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
      const { email, user_id: id, amount, reason = "Credit granted", paid_by: paidBy } = request.body;
      const named = email ?? id;
      if (named === undefined) throw invalid("email", "email or user_id is required");
      const identity = identityOf(request);
      return mutate(request, async (tx) => {
        const user = await findUserByEmailOrId(tx.db, String(named));
        if (user === undefined) throw notFound("no_such_user", `There is no user ${named}.`);
        await grantCredit(tx, { userId: user.id, amount: parseAmount(amount), reason, paidBy, actor: identity });
        const args = { user_id: user.id, amount, ...(paidBy === undefined ? {} : { paid_by: paidBy }) };
        await recordAudit(tx, identity, { ipAddress: request.ip, action: "api.admin.credit", args });
        const { available } = await balanceOf(tx.db, user.id);
        return { success: true as const, id: user.id, email: user.email, credit: toDollars(available) };
      });
    },
  );
}
