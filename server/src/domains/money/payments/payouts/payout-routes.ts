import { invalid } from "../../../../base/errors.ts";
import { asId, type PaymentId, type PayoutId } from "../../../../base/ids.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { listAddresses } from "../../../people/accounts/for-payments.ts";
import { recordAudit } from "../../../people/accounts/index.ts";
import { disputeRoutes } from "../disputes/dispute-routes.ts";
import { correctionRoutes } from "../corrections/correction-routes.ts";
import { payoutHoldRoutes } from "./payout-hold-routes.ts";
import { listOpenPayoutHolds } from "./payout-hold-store.ts";
import { parsePayoutTarget } from "./rules/payout-method.ts";
import { choosePayoutMethod, readPayoutDetails } from "./payout-method-service.ts";
import { findPayoutMethod } from "./payout-method-store.ts";
import { noSuchPayout, settleByHand, type HandSettlement } from "./payout-service.ts";
import { findPayout, listPayouts, selectPayouts, type Payout } from "./payout-store.ts";
import { wantRefund } from "../refunds/refund-service.ts";
import { ADMIN_TAGS, HOST_TAGS, type PaymentPorts } from "../route-ports.ts";
import { readPayable } from "./payable-service.ts";
import { feeRatePpm, readEarningsRules } from "../rules-store.ts";
import { releaseRoute } from "./release-routes.ts";
import {
  AdminPayoutResponse,
  AdminPayoutsQuery,
  AdminPayoutsResponse,
  IdParams,
  PageQuery,
  PayoutMethodBody,
  PayoutMethodResponse,
  PayoutsResponse,
  RefundBody,
  RefundResponse,
  SettlePayoutBody,
  SuccessResponse,
} from "../schema.ts";
import {
  dollarsOfCents,
  percentOf,
  viewAdminPayout,
  viewEarnings,
  viewPayout,
  viewPayoutHold,
  viewPayoutMethod,
} from "../views.ts";

const PAGE_LENGTH = 100;

export function payoutRoutes(scope: HttpScope, ports: PaymentPorts): void {
  hostRoutes(scope, ports);
  adminRoutes(scope, ports);
  settleRoute(scope, ports);
  payoutHoldRoutes(scope);
  correctionRoutes(scope);
  disputeRoutes(scope);
  refundRoute(scope);
  releaseRoute(scope);
}

function hostRoutes({ app, database, clock, mutate }: HttpScope, ports: PaymentPorts): void {
  app.get(
    "/api/v0/billing/payouts/",
    {
      config: { access: { operation: "api.billing.payouts", permission: "billing_read" } },
      schema: { tags: HOST_TAGS, summary: "Show payouts", querystring: PageQuery, response: { 200: PayoutsResponse } },
    },
    async (request) => {
      const { limit = PAGE_LENGTH, before_id: before } = request.query;
      const beforeId = before === undefined ? undefined : asId<PayoutId>(before);
      const { userId } = identityOf(request);
      const [payouts, feePpm, holds, payable, rules] = await Promise.all([
        listPayouts(database.kysely, userId, { limit, beforeId }),
        feeRatePpm(database.kysely),
        listOpenPayoutHolds(database.kysely, userId),
        readPayable(database.kysely, clock.now(), userId),
        readEarningsRules(database.kysely),
      ]);
      return {
        success: true as const,
        fee_percent: percentOf(feePpm),
        holds: holds.map(viewPayoutHold),
        earnings: viewEarnings(payable, rules),
        payouts: payouts.map(viewPayout),
      };
    },
  );

  app.get(
    "/api/v0/billing/payout_method/",
    {
      config: { access: { operation: "api.billing.payout_method", permission: "billing_read" } },
      schema: { tags: HOST_TAGS, summary: "Show where payouts go", response: { 200: PayoutMethodResponse } },
    },
    async (request) => viewPayoutMethod(await findPayoutMethod(database.kysely, identityOf(request).userId)),
  );

  app.put(
    "/api/v0/billing/payout_method/",
    {
      config: { access: { operation: "api.billing.choose_payout_method", permission: "billing_write" } },
      schema: {
        tags: HOST_TAGS,
        summary: "Choose where payouts go",
        body: PayoutMethodBody,
        response: { 200: PayoutMethodResponse },
      },
    },
    (request) => {
      const identity = identityOf(request);
      const target = parsePayoutTarget(request.body.method, request.body.details);
      return mutate(request, async (tx) => {
        await choosePayoutMethod(tx, ports, { userId: identity.userId, target });
        const args = { method: target.method, shown: target.shown };
        await recordAudit(tx, identity, { ipAddress: request.ip, action: "api.billing.choose_payout_method", args });
        return viewPayoutMethod(await findPayoutMethod(tx.db, identity.userId));
      });
    },
  );
}

function adminRoutes({ app, database }: HttpScope, { encryption }: PaymentPorts): void {
  const viewForAdmin = async (payouts: readonly Payout[]) => {
    const addresses = await listAddresses(
      database.kysely,
      payouts.map(({ userId }) => userId),
    );
    return payouts.map((payout) => viewAdminPayout(payout, addresses.get(payout.userId)));
  };

  app.get(
    "/api/v0/admin/payouts/",
    {
      config: { access: { operation: "api.admin.payouts", permission: "admin" } },
      schema: {
        tags: ADMIN_TAGS,
        summary: "Show payouts to hosts",
        querystring: AdminPayoutsQuery,
        response: { 200: AdminPayoutsResponse },
      },
    },
    async (request) => {
      const { limit = PAGE_LENGTH, before_id: before, state } = request.query;
      const payouts = await selectPayouts(database.kysely, {
        limit,
        beforeId: before === undefined ? undefined : asId<PayoutId>(before),
        states: state === undefined ? undefined : [state],
      });
      return { success: true as const, payouts: await viewForAdmin(payouts) };
    },
  );

  app.get(
    "/api/v0/admin/payouts/:id/",
    {
      config: { access: { operation: "api.admin.payout", permission: "admin" } },
      schema: {
        tags: ADMIN_TAGS,
        summary: "Show a payout with its full destination",
        params: IdParams,
        response: { 200: AdminPayoutResponse },
      },
    },
    async (request) => {
      const id = asId<PayoutId>(request.params.id);
      const payout = await findPayout(database.kysely, id);
      if (payout === undefined) throw noSuchPayout(id);
      const method = await readPayoutDetails(database.kysely, encryption, payout.userId);
      const address = (await listAddresses(database.kysely, [payout.userId])).get(payout.userId);
      return {
        success: true as const,
        payout: viewAdminPayout(payout, address),
        payout_method: method === undefined ? null : { method: method.method, details: method.details ?? {} },
      };
    },
  );
}

function settleRoute({ app, mutate }: HttpScope, { provider }: PaymentPorts): void {
  app.put(
    "/api/v0/admin/payouts/:id/",
    {
      config: { access: { operation: "api.admin.settle_payout", permission: "admin", limit: "money" } },
      schema: {
        tags: ADMIN_TAGS,
        summary: "Mark a payout as paid, or as failed when it came back",
        params: IdParams,
        body: SettlePayoutBody,
        response: { 200: SuccessResponse },
      },
    },
    (request) => {
      const id = asId<PayoutId>(request.params.id);
      const settlement = readSettlement(request.body);
      const identity = identityOf(request);
      return mutate(request, async (tx) => {
        await settleByHand(tx, provider, { id, settlement });
        const args = { payout_id: id, ...settlement };
        await recordAudit(tx, identity, { ipAddress: request.ip, action: "api.admin.settle_payout", args });
        return { success: true as const };
      });
    },
  );
}

function readSettlement(body: {
  readonly state: "paid" | "failed";
  readonly reference?: string;
  readonly reason?: string;
}): HandSettlement {
  const { state, reference, reason } = body;
  if (state === "paid") {
    if (reference === undefined) throw invalid("reference", "reference is required: what is the payment called?");
    return { state, reference };
  }
  if (reason === undefined) throw invalid("reason", "reason is required: why did it come back?");
  return { state, reason };
}

function refundRoute({ app, mutate }: HttpScope): void {
  app.post(
    "/api/v0/admin/payments/:id/refund/",
    {
      config: { access: { operation: "api.admin.refund_payment", permission: "admin", limit: "money" } },
      schema: {
        tags: ADMIN_TAGS,
        summary: "Refund a card payment",
        params: IdParams,
        body: RefundBody,
        response: { 200: RefundResponse },
      },
    },
    (request) => {
      const identity = identityOf(request);
      const paymentId = asId<PaymentId>(request.params.id);
      return mutate(request, async (tx) => {
        const amount = dollarsOfCents(await wantRefund(tx, { paymentId, amount: request.body.amount }));
        const args = { payment_id: paymentId, amount };
        await recordAudit(tx, identity, { ipAddress: request.ip, action: "api.admin.refund_payment", args });
        return { success: true as const, amount };
      });
    },
  );
}
