import { invalid, notFound } from "../../../../base/errors.ts";
import type { UserId } from "../../../../base/ids.ts";
import { nanos, parseDollars, toDollars } from "../../../../base/money.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { findUserByEmailOrId, recordAudit } from "../../../people/accounts/index.ts";
import { BookedResponse, CorrectionBody, TakeBackBody } from "./correction-schema.ts";
import { bookCorrection, takeBackEarnings, type Booked } from "./correction-service.ts";
import { ADMIN_TAGS } from "../route-ports.ts";

/** Bookings by administrators: earnings taken back, and corrections (docs/administration.md). */
export function correctionRoutes(scope: HttpScope): void {
  takeBackRoute(scope);
  correctionRoute(scope);
}

function takeBackRoute({ app, mutate }: HttpScope): void {
  app.post(
    "/api/v0/admin/earnings/take_back/",
    {
      config: { access: { operation: "api.admin.take_back_earnings", permission: "admin", limit: "money" } },
      schema: {
        tags: ADMIN_TAGS,
        summary: "Take earnings back from a host",
        body: TakeBackBody,
        response: { 200: BookedResponse },
      },
    },
    (request) => {
      const { user, amount: dollars, reason, reference } = request.body;
      const identity = identityOf(request);
      const amount = nanos(amountOf(dollars));
      if (amount < 0n) throw invalid("amount", "amount must be above 0");
      return mutate(request, async (tx) => {
        const userId = await userNamed(tx, user);
        const booking = { userId, amount, reason, reference, actorId: identity.userId };
        const booked = await takeBackEarnings(tx, booking);
        const args = { user_id: userId, amount: toDollars(amount), reason, reference };
        await recordAudit(tx, identity, { ipAddress: request.ip, action: "api.admin.take_back_earnings", args });
        return viewBooked(userId, booked);
      });
    },
  );
}

function correctionRoute({ app, mutate }: HttpScope): void {
  app.post(
    "/api/v0/admin/corrections/",
    {
      config: { access: { operation: "api.admin.book_correction", permission: "admin", limit: "money" } },
      schema: {
        tags: ADMIN_TAGS,
        summary: "Correct the credit or the earnings of an account",
        body: CorrectionBody,
        response: { 200: BookedResponse },
      },
    },
    (request) => {
      const { user, amount: dollars, reason, reference, side = "credit" } = request.body;
      const identity = identityOf(request);
      const signed = amountOf(dollars);
      const direction = signed > 0n ? "up" : "down";
      const amount = nanos(signed > 0n ? signed : -signed);
      return mutate(request, async (tx) => {
        const userId = await userNamed(tx, user);
        const correction = { userId, amount, reason, reference, side, direction, actorId: identity.userId } as const;
        const booked = await bookCorrection(tx, correction);
        const args = { user_id: userId, side, amount: toDollars(signed), reason, reference };
        await recordAudit(tx, identity, { ipAddress: request.ip, action: "api.admin.book_correction", args });
        return viewBooked(userId, booked);
      });
    },
  );
}

function amountOf(dollars: number): bigint {
  const amount = parseDollars(dollars);
  if (amount === undefined || amount === 0n) throw invalid("amount", "amount must be a number of dollars other than 0");
  return amount;
}

async function userNamed(tx: Tx, text: string): Promise<UserId> {
  const user = await findUserByEmailOrId(tx.db, text);
  if (user === undefined) throw notFound("no_such_user", `There is no user ${text}.`);
  return user.id;
}

function viewBooked(userId: UserId, { transferId, isNew, balance }: Booked) {
  return {
    success: true as const,
    user_id: userId,
    transfer_id: String(transferId),
    is_new: isNew,
    balance: toDollars(balance),
  };
}
