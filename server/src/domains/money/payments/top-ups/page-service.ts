import { createHash } from "node:crypto";
import { invalid } from "../../../../base/errors.ts";
import type { PaymentId, UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { parseDollars } from "../../../../base/money.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { keyReused, type Repeatable } from "../../../../db/idempotency.ts";
import { requireRoom, requireUser } from "../../../people/accounts/index.ts";
import { lockAccount, storeCustomer } from "../account-store.ts";
import { centsText, wholeCentsOf } from "../rules/cents.ts";
import { refuseDisputed } from "../disputes/dispute-service.ts";
import { paymentsNotConfigured } from "../provider/offline-provider.ts";
import { countOpenPages, insertPageRequest, storePage, type Payment } from "./payment-store.ts";
import type { PaymentDependencies } from "../dependencies.ts";
import { readInstallation } from "../rules-store.ts";

/** Minimum of a top-up, in cents: of a smaller one the provider's own fee would take too large a part. */
const TOP_UP_CENTS_MIN = 500n;
/** The largest amount that Stripe accepts in one payment, in cents. */
const TOP_UP_CENTS_MAX = 99_999_999n;
const OPEN_PAGES_MAX = 20;
/** Age from which the provider accepts no payment on a page, so that a page without an event counts as closed. */
const PAGE_OPEN_MS = 86_400_000;

export type PageWish = {
  readonly userId: UserId;
  readonly kind: "checkout" | "setup";
  readonly amountCents: bigint | undefined;
  readonly savesCard: boolean;
  readonly returnUrl: string;
  readonly repeatable: Repeatable | undefined;
};

/** Parses the dollars of a top-up: whole cents within the limits. Throws an error about `field`. */
export function parseTopUp(field: string, dollars: number): bigint {
  const amount = parseDollars(dollars);
  const cents = amount === undefined ? undefined : wholeCentsOf(amount);
  if (cents === undefined || cents < TOP_UP_CENTS_MIN || cents > TOP_UP_CENTS_MAX) {
    const [min, max] = [centsText(TOP_UP_CENTS_MIN), centsText(TOP_UP_CENTS_MAX)];
    throw invalid(field, `${field} must be whole cents, from ${min} to ${max}`);
  }
  return cents;
}

/**
 * Opens a page of the provider on which the user pays or saves a card. It credits nothing: an event reports the money.
 * A repetition under the same Idempotency-Key returns the same page.
 */
export async function openPage(
  { database, clock, provider }: PaymentDependencies,
  wish: PageWish,
): Promise<{ readonly url: string; readonly paymentId: PaymentId }> {
  const { takesCards, topUpText } = provider.describe();
  if (!takesCards) throw paymentsNotConfigured(topUpText);
  const { userId, kind, repeatable } = wish;
  const noted = await withTransaction(database, clock, async (tx) => {
    const user = await requireUser(tx.db, userId);
    const account = await lockAccount(tx, userId);
    const asked = { ...wish, repeatable: repeatable && digestsOf(repeatable, userId) };
    const { payment, isNew } = await insertPageRequest(tx, asked);
    if (isNew) await requireRoomForPage(tx, wish);
    const cents = wish.amountCents;
    if (isNew && cents !== undefined) await refuseDisputed(tx, { userId, cents, leastCents: TOP_UP_CENTS_MIN });
    refuseOther(payment, repeatable);
    return { payment, account, email: user.email, installation: await readInstallation(tx.db) };
  });
  const { payment, account, email, installation } = noted;
  if (payment.url !== undefined) return { url: payment.url, paymentId: payment.id };
  const customerId = account.customerId ?? (await makeCustomer());
  const order = { installation, paymentId: payment.id };
  const request = { order, customerId, returnUrl: wish.returnUrl };
  const page = await (kind === "setup" ? provider.createSetup(request) : createCheckout());
  await withTransaction(database, clock, (tx) => storePage(tx, payment.id, page));
  return { url: page.url, paymentId: payment.id };

  async function makeCustomer(): Promise<string> {
    const made = await provider.createCustomer({ installation, userId, email });
    return withTransaction(database, clock, (tx) => storeCustomer(tx, userId, made));
  }
  function createCheckout() {
    invariant(payment.amountCents !== undefined, "a checkout asks for money");
    return provider.createCheckout({ ...request, amountCents: payment.amountCents, savesCard: payment.savesCard });
  }
}

/**
 * Refuses more open pages than the limit: each is a row here and a session at the provider, and is free for its user.
 */
async function requireRoomForPage(tx: Tx, { userId, kind }: PageWish): Promise<void> {
  const since = new Date(tx.now.getTime() - PAGE_OPEN_MS);
  const count = async () => (await countOpenPages(tx, userId, since)) - 1; // Without the new one.
  const advice = "Use one of them; a page closes 24 hours after it was made.";
  const field = kind === "checkout" ? "amount" : "payment_methods";
  await requireRoom(tx, userId, { count, max: OPEN_PAGES_MAX, field, what: "open payment pages", advice });
}

function digestsOf({ apiKeyId, key, requestSha256 }: Repeatable, userId: UserId) {
  const requestKey = createHash("sha256").update(`${userId} ${apiKeyId} ${key}`).digest();
  return { requestKey, requestSha256 };
}

function refuseOther({ requestSha256 }: Payment, repeatable: Repeatable | undefined): void {
  if (repeatable === undefined || requestSha256 === undefined) return;
  if (!requestSha256.equals(repeatable.requestSha256)) throw keyReused();
}
