import { sql } from "kysely";
import type { PaymentCardId, PaymentId, UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

export type PaymentState = "pending" | "paid" | "failed" | "expired" | "mismatched";
export type PaymentKind = "checkout" | "setup" | "autobill";

/** A payment that was requested from a user through the provider, or the saving of a card. */
export type Payment = {
  readonly id: PaymentId;
  readonly userId: UserId;
  readonly kind: PaymentKind;
  readonly state: PaymentState;
  /** The amount in cents; undefined for a setup, which saves a card without a payment. */
  readonly amountCents: bigint | undefined;
  readonly savesCard: boolean;
  readonly attemptNumber: number | undefined;
  readonly cardId: PaymentCardId | undefined;
  readonly requestSha256: Buffer | undefined;
  readonly url: string | undefined;
  readonly intentId: string | undefined;
  readonly failure: string | undefined;
  readonly createdAt: Date;
  readonly settledAt: Date | undefined;
};

const FAILURE_LENGTH_MAX = 500;

const COLUMNS = [
  "id",
  "user_id",
  "kind",
  "state",
  "amount_cents",
  "saves_card",
  "attempt_number",
  "card_id",
  "request_sha256",
  "url",
  "intent_id",
  "failure",
  "created_at",
  "settled_at",
] as const;

export type PageRequest = {
  readonly userId: UserId;
  readonly kind: "checkout" | "setup";
  readonly amountCents: bigint | undefined;
  readonly savesCard: boolean;
  /** Digests of the caller's Idempotency-Key and of the request. */
  readonly repeatable: { readonly requestKey: Buffer; readonly requestSha256: Buffer } | undefined;
};

/** Pages of a user that were opened since a moment and are still open. */
export async function countOpenPages(tx: Tx, userId: UserId, since: Date): Promise<number> {
  const { count } = await tx.db
    .selectFrom("payments")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .where("kind", "<>", "autobill")
    .where("state", "=", "pending")
    .where("created_at", ">", since)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Stores the request for a page; a repetition under the same key returns the first request. */
export async function insertPageRequest(
  tx: Tx,
  request: PageRequest,
): Promise<{ readonly payment: Payment; readonly isNew: boolean }> {
  const { repeatable } = request;
  const inserted = await tx.db
    .insertInto("payments")
    .values({
      user_id: request.userId,
      kind: request.kind,
      amount_cents: request.amountCents ?? null,
      saves_card: request.savesCard,
      request_key: repeatable?.requestKey ?? null,
      request_sha256: repeatable?.requestSha256 ?? null,
      created_at: tx.now,
    })
    .onConflict((conflict) => conflict.column("request_key").doNothing())
    .returning(COLUMNS)
    .executeTakeFirst();
  if (inserted !== undefined) return { payment: toPayment(inserted), isNew: true };
  invariant(repeatable !== undefined, "only a key that was used before keeps a payment from being made");
  const first = await tx.db
    .selectFrom("payments")
    .select(COLUMNS)
    .where("request_key", "=", repeatable.requestKey)
    .executeTakeFirstOrThrow();
  return { payment: toPayment(first), isNew: false };
}

/** Inserts an automatic charge; undefined when another one of the user is under way. */
export async function insertAutobill(
  tx: Tx,
  attempt: {
    readonly userId: UserId;
    readonly attemptNumber: number;
    readonly cardId: PaymentCardId;
    readonly amountCents: bigint;
    readonly leaseUntil: Date;
  },
): Promise<Payment | undefined> {
  const row = await tx.db
    .insertInto("payments")
    .values({
      user_id: attempt.userId,
      kind: "autobill",
      amount_cents: attempt.amountCents,
      attempt_number: attempt.attemptNumber,
      card_id: attempt.cardId,
      lease_until: attempt.leaseUntil,
      created_at: tx.now,
    })
    .onConflict((conflict) =>
      conflict.column("user_id").where("kind", "=", "autobill").where("state", "=", "pending").doNothing(),
    )
    .returning(COLUMNS)
    .executeTakeFirst();
  return row && toPayment(row);
}

/** Automatic charges with an unknown outcome, leased to the caller. */
export async function claimAutobills(
  tx: Tx,
  { leaseUntil, limit }: { readonly leaseUntil: Date; readonly limit: number },
): Promise<readonly Payment[]> {
  const { rows } = await sql<{ id: PaymentId }>`
    update payments set lease_until = ${leaseUntil}::timestamptz
    where id in (
      select id from payments
      where kind = 'autobill' and state = 'pending' and coalesce(lease_until, '-infinity') <= ${tx.now}::timestamptz
      order by id
      limit ${limit}::integer
      for update skip locked
    )
    returning id
  `.execute(tx.db);
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  const claimed = await tx.db.selectFrom("payments").select(COLUMNS).where("id", "in", ids).orderBy("id").execute();
  return claimed.map(toPayment);
}

export async function storePage(
  tx: Tx,
  id: PaymentId,
  page: { readonly sessionId: string; readonly url: string },
): Promise<void> {
  await tx.db.updateTable("payments").set({ session_id: page.sessionId, url: page.url }).where("id", "=", id).execute();
}

export async function storeIntent(tx: Tx, id: PaymentId, intentId: string): Promise<void> {
  await tx.db.updateTable("payments").set({ intent_id: intentId }).where("id", "=", id).execute();
}

/** Locks a payment: until the transaction ends, no other one decides its outcome. */
export async function lockPayment(tx: Tx, id: PaymentId): Promise<Payment | undefined> {
  const row = await tx.db.selectFrom("payments").select(COLUMNS).where("id", "=", id).forUpdate().executeTakeFirst();
  return row && toPayment(row);
}

/** The payment that this payment intent of the provider paid. */
export async function findPaymentOfIntent(db: Reader, intentId: string): Promise<Payment | undefined> {
  const row = await db.selectFrom("payments").select(COLUMNS).where("intent_id", "=", intentId).executeTakeFirst();
  return row && toPayment(row);
}

/**
 * Serializes the transactions about one payment intent: its payment and its return may be reported at the same time,
 * and each must see the effect of the other. Taken before every other lock.
 */
export async function lockIntent(tx: Tx, intentId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`payment ${intentId}`}::text, 0))`.execute(tx.db);
}

export async function settlePayment(
  tx: Tx,
  id: PaymentId,
  outcome: {
    readonly state: Exclude<PaymentState, "pending">;
    readonly intentId: string | undefined;
    readonly failure: string | undefined;
  },
): Promise<void> {
  await tx.db
    .updateTable("payments")
    .set({
      state: outcome.state,
      ...(outcome.intentId === undefined ? {} : { intent_id: outcome.intentId }),
      failure: outcome.failure?.slice(0, FAILURE_LENGTH_MAX) || null,
      lease_until: null,
      settled_at: tx.now,
    })
    .where("id", "=", id)
    .execute();
}

/** A user's payments and attempts, newest first; saved cards are left out. */
export async function listPayments(
  db: Reader,
  userId: UserId,
  { limit, beforeId }: { readonly limit: number; readonly beforeId?: PaymentId | undefined },
): Promise<readonly Payment[]> {
  const rows = await db
    .selectFrom("payments")
    .select(COLUMNS)
    .where("user_id", "=", userId)
    .where("kind", "<>", "setup")
    .$if(beforeId !== undefined, (query) => query.where("id", "<", beforeId ?? null))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toPayment);
}

export async function findPayment(db: Reader, id: PaymentId): Promise<Payment | undefined> {
  const row = await db.selectFrom("payments").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && toPayment(row);
}

/** Stores an event; false when it was handled before. */
export async function insertEvent(tx: Tx, event: { readonly id: string; readonly type: string }): Promise<boolean> {
  const result = await tx.db
    .insertInto("payment_events")
    .values({ event_id: event.id, type: event.type, received_at: tx.now })
    .onConflict((conflict) => conflict.column("event_id").doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

type PaymentRow = {
  readonly id: PaymentId;
  readonly user_id: UserId;
  readonly kind: PaymentKind;
  readonly state: PaymentState;
  readonly amount_cents: bigint | null;
  readonly saves_card: boolean;
  readonly attempt_number: number | null;
  readonly card_id: PaymentCardId | null;
  readonly request_sha256: Buffer | null;
  readonly url: string | null;
  readonly intent_id: string | null;
  readonly failure: string | null;
  readonly created_at: Date;
  readonly settled_at: Date | null;
};

function toPayment(row: PaymentRow): Payment {
  return {
    id: row.id,
    userId: row.user_id,
    kind: row.kind,
    state: row.state,
    amountCents: row.amount_cents ?? undefined,
    savesCard: row.saves_card,
    attemptNumber: row.attempt_number ?? undefined,
    cardId: row.card_id ?? undefined,
    requestSha256: row.request_sha256 ?? undefined,
    url: row.url ?? undefined,
    intentId: row.intent_id ?? undefined,
    failure: row.failure ?? undefined,
    createdAt: row.created_at,
    settledAt: row.settled_at ?? undefined,
  };
}
