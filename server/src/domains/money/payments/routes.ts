import { asId, type PaymentCardId, type PaymentId } from "../../../base/ids.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { recordAudit } from "../../people/accounts/index.ts";
import { listCards } from "./cards/card-store.ts";
import { changeAutobill, forgetCard, preferCard, readAutobill } from "./cards/card-service.ts";
import { paymentsNotConfigured } from "./provider/offline-provider.ts";
import { openPage, parseTopUp } from "./top-ups/page-service.ts";
import { listPayments } from "./top-ups/payment-store.ts";
import { payoutRoutes } from "./payouts/payout-routes.ts";
import { BILLING_TAGS, dependenciesOf, returnUrlOf, type PaymentPorts } from "./route-ports.ts";
import {
  AutobillBody,
  AutobillResponse,
  CardsResponse,
  CheckoutBody,
  IdParams,
  PageQuery,
  PageResponse,
  PaymentsResponse,
  PreferCardBody,
  SuccessResponse,
} from "./schema.ts";
import { viewAutobill, viewCard, viewPayment } from "./views.ts";
import { webhookRoutes } from "./webhook-routes.ts";

const PAGE_LENGTH = 100;

/**
 * Routes for top-ups, saved cards, automatic payments and payouts, for the provider's events and for administrators.
 */
export function paymentRoutes(scope: HttpScope, ports: PaymentPorts): void {
  pageRoutes(scope, ports);
  cardRoutes(scope, ports);
  autobillRoutes(scope);
  payoutRoutes(scope, ports);
  webhookRoutes(scope, ports);
}

function pageRoutes(scope: HttpScope, ports: PaymentPorts): void {
  const { app, database, repeatable } = scope;
  const dependencies = dependenciesOf(scope, ports);
  app.post(
    "/api/v0/billing/checkout/",
    {
      config: { access: { operation: "api.billing.checkout", permission: "billing_write", limit: "money" } },
      schema: {
        tags: BILLING_TAGS,
        summary: "Add credit by card",
        body: CheckoutBody,
        response: { 200: PageResponse },
      },
    },
    async (request) => {
      const { amount, save_card: savesCard = false } = request.body;
      const { url, paymentId } = await openPage(dependencies, {
        userId: identityOf(request).userId,
        kind: "checkout",
        amountCents: parseTopUp("amount", amount),
        savesCard,
        returnUrl: returnUrlOf(ports, request),
        repeatable: repeatable(request),
      });
      return { success: true as const, url, payment_id: paymentId };
    },
  );

  app.post(
    "/api/v0/billing/payment_methods/",
    {
      config: { access: { operation: "api.billing.save_card", permission: "billing_write", limit: "money" } },
      schema: { tags: BILLING_TAGS, summary: "Save a card", response: { 200: PageResponse } },
    },
    async (request) => {
      const { url, paymentId } = await openPage(dependencies, {
        userId: identityOf(request).userId,
        kind: "setup",
        amountCents: undefined,
        savesCard: true,
        returnUrl: returnUrlOf(ports, request),
        repeatable: repeatable(request),
      });
      return { success: true as const, url, payment_id: paymentId };
    },
  );

  app.get(
    "/api/v0/billing/payments/",
    {
      config: { access: { operation: "api.billing.payments", permission: "billing_read" } },
      schema: {
        tags: BILLING_TAGS,
        summary: "Show card payments",
        querystring: PageQuery,
        response: { 200: PaymentsResponse },
      },
    },
    async (request) => {
      const { limit = PAGE_LENGTH, before_id: before } = request.query;
      const beforeId = before === undefined ? undefined : asId<PaymentId>(before);
      const payments = await listPayments(database.kysely, identityOf(request).userId, { limit, beforeId });
      return { success: true as const, payments: payments.map(viewPayment) };
    },
  );
}

function cardRoutes({ app, database, mutate }: HttpScope, { provider }: PaymentPorts): void {
  app.get(
    "/api/v0/billing/payment_methods/",
    {
      config: { access: { operation: "api.billing.cards", permission: "billing_read" } },
      schema: { tags: BILLING_TAGS, summary: "Show saved cards", response: { 200: CardsResponse } },
    },
    async (request) => {
      const { takesCards, topUpText } = provider.describe();
      if (!takesCards) throw paymentsNotConfigured(topUpText);
      const cards = await listCards(database.kysely, identityOf(request).userId);
      return { success: true as const, payment_methods: cards.map(viewCard) };
    },
  );

  app.put(
    "/api/v0/billing/payment_methods/:id/",
    {
      config: { access: { operation: "api.billing.prefer_card", permission: "billing_write" } },
      schema: {
        tags: BILLING_TAGS,
        summary: "Choose the card that is charged automatically",
        params: IdParams,
        body: PreferCardBody,
        response: { 200: SuccessResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const identity = identityOf(request);
        const id = asId<PaymentCardId>(request.params.id);
        await preferCard(tx, identity.userId, id);
        await recordAudit(tx, identity, { ipAddress: request.ip, action: "api.billing.prefer_card", args: { id } });
        return { success: true as const };
      }),
  );

  app.delete(
    "/api/v0/billing/payment_methods/:id/",
    {
      config: { access: { operation: "api.billing.forget_card", permission: "billing_write" } },
      schema: {
        tags: BILLING_TAGS,
        summary: "Remove a saved card",
        params: IdParams,
        response: { 200: SuccessResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const identity = identityOf(request);
        const id = asId<PaymentCardId>(request.params.id);
        await forgetCard(tx, identity.userId, id);
        await recordAudit(tx, identity, { ipAddress: request.ip, action: "api.billing.forget_card", args: { id } });
        return { success: true as const };
      }),
  );
}

function autobillRoutes({ app, database, mutate }: HttpScope): void {
  app.get(
    "/api/v0/billing/autobill/",
    {
      config: { access: { operation: "api.billing.autobill", permission: "billing_read" } },
      schema: { tags: BILLING_TAGS, summary: "Show automatic payments", response: { 200: AutobillResponse } },
    },
    async (request) => viewAutobill(await readAutobill(database.kysely, identityOf(request).userId)),
  );

  app.put(
    "/api/v0/billing/autobill/",
    {
      config: { access: { operation: "api.billing.change_autobill", permission: "billing_write" } },
      schema: {
        tags: BILLING_TAGS,
        summary: "Change automatic payments",
        body: AutobillBody,
        response: { 200: AutobillResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const identity = identityOf(request);
        const { enabled, threshold, amount } = request.body;
        await changeAutobill(tx, identity.userId, { enabled, threshold, amount });
        const args = { enabled, threshold, amount };
        await recordAudit(tx, identity, { ipAddress: request.ip, action: "api.billing.change_autobill", args });
        return viewAutobill(await readAutobill(tx.db, identity.userId));
      }),
  );
}
