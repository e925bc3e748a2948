import { Type } from "typebox";
import { model } from "../../../../http/model.ts";
import { epochSeconds } from "../../../../base/clock.ts";
import { toDollars, nanos } from "../../../../base/money.ts";
import type { HttpScope } from "../../../../http/server.ts";
import { balancesOf } from "../../ledger/index.ts";
import { nanosOfCents } from "../rules/cents.ts";
import { listDisputes, type Dispute } from "./dispute-store.ts";
import { selectOpenHolds } from "../payouts/payout-hold-store.ts";
import { ADMIN_TAGS } from "../route-ports.ts";

/** Accounts per answer. */
const ACCOUNTS_MAX = 500;

const DisputesQuery = Type.Object({
  all: Type.Optional(Type.Union([Type.Literal("true"), Type.Literal("false")])),
});
const DisputesResponse = Type.Object({
  success: Type.Literal(true),
  accounts: Type.Array(
    model("DisputedAccount", {
      user_id: Type.Integer(),
      open_count: Type.Integer({ description: "Disputes that are not decided" }),
      lost_count: Type.Integer({ description: "Disputes that were decided for the account" }),
      won_count: Type.Integer({ description: "Disputes that were decided for the operator" }),
      disputed: Type.Number({ description: "Dollars of open and lost disputes" }),
      owed: Type.Number({ description: "Dollars that the account's credit is below zero" }),
      payout_hold_id: Type.Union([Type.Integer(), Type.Null()]),
      disputes: Type.Array(
        model("Dispute", {
          reference: Type.String(),
          payment_id: Type.Integer(),
          amount: Type.Number(),
          state: Type.Union([Type.Literal("open"), Type.Literal("lost"), Type.Literal("won")]),
          opened_at: Type.Number(),
          closed_at: Type.Union([Type.Number(), Type.Null()]),
        }),
      ),
    }),
  ),
});

/** Accounts with disputed card payments, for administrators (docs/administration.md). */
export function disputeRoutes({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/admin/disputes/",
    {
      config: { access: { operation: "api.admin.disputes", permission: "admin" } },
      schema: {
        tags: ADMIN_TAGS,
        summary: "Show accounts with disputed card payments",
        querystring: DisputesQuery,
        response: { 200: DisputesResponse },
      },
    },
    async ({ query }) => {
      const db = database.kysely;
      const disputes = await listDisputes(db, { all: query.all === "true", accountsMax: ACCOUNTS_MAX });
      const byUser = Map.groupBy(disputes, ({ userId }) => userId);
      const userIds = [...byUser.keys()];
      const balances = await balancesOf(db, userIds);
      const holds = (await selectOpenHolds(db, userIds)).filter(({ kind }) => kind === "disputed_money");
      const holdOf = new Map(holds.map(({ userId, id }) => [userId, id]));
      const accounts = [...byUser].map(([userId, own]) => {
        const available = balances.get(userId)?.available ?? 0n;
        return {
          user_id: userId,
          ...sumsOf(own),
          owed: toDollars(nanos(available < 0n ? -available : 0n)),
          payout_hold_id: holdOf.get(userId) ?? null,
          disputes: own.map(viewDispute),
        };
      });
      return { success: true as const, accounts };
    },
  );
}

function sumsOf(disputes: readonly Dispute[]) {
  const count = (wanted: Dispute["state"]) => disputes.filter(({ state }) => state === wanted).length;
  const cents = disputes.reduce((sum, dispute) => (dispute.state === "won" ? sum : sum + dispute.cents), 0n);
  return {
    open_count: count("open"),
    lost_count: count("lost"),
    won_count: count("won"),
    disputed: toDollars(nanosOfCents(cents)),
  };
}

function viewDispute({ reference, paymentId, cents, state, openedAt, closedAt }: Dispute) {
  return {
    reference,
    payment_id: paymentId,
    amount: toDollars(nanosOfCents(cents)),
    state,
    opened_at: epochSeconds(openedAt),
    closed_at: closedAt === undefined ? null : epochSeconds(closedAt),
  };
}
