import { AppError, invalid, notFound } from "../../../../base/errors.ts";
import type { PaymentCardId, UserId } from "../../../../base/ids.ts";
import { parseDollars } from "../../../../base/money.ts";
import { withTransaction, type Reader, type Tx } from "../../../../db/transaction.ts";
import { requireUser } from "../../../people/accounts/index.ts";
import { setBalanceThreshold } from "../../../people/accounts/for-payments.ts";
import {
  clearStale,
  findAccount,
  listStale,
  lockAccount,
  storeAutobill,
  type PaymentAccount,
} from "../account-store.ts";
import { chargeCents } from "./rules/autobilling.ts";
import {
  findDefaultCard,
  listCards,
  listToDetach,
  noteDetached,
  removeCard,
  setDefaultCard,
  upsertCard,
} from "./card-store.ts";
import type { PaymentDependencies } from "../dependencies.ts";
import { inParallel } from "../provider/in-parallel.ts";
import { parseTopUp } from "../top-ups/page-service.ts";

const PER_RUN = 20;

/** Removes a card from use at once; a loop tells the provider. Another user's card is answered like an absent one. */
export async function forgetCard(tx: Tx, userId: UserId, id: PaymentCardId): Promise<void> {
  await lockAccount(tx, userId);
  if (!(await removeCard(tx, userId, id))) throw noSuchCard(id);
}

export async function preferCard(tx: Tx, userId: UserId, id: PaymentCardId): Promise<void> {
  await lockAccount(tx, userId);
  if (!(await setDefaultCard(tx, userId, id))) throw noSuchCard(id);
  // Another card may succeed where the earlier one failed.
  await storeAutobill(tx, userId, { failureCount: 0, notBeforeAt: null });
}

function noSuchCard(id: PaymentCardId): AppError {
  return notFound("no_such_payment_method", `You have no saved card ${id}.`);
}

export type SyncStatus = { readonly refreshed: number; readonly detached: number; readonly unanswered: number };

/** Synchronizes cards with the provider: reads cards that may have been added, and detaches cards that were removed. */
export async function syncCards(dependencies: PaymentDependencies): Promise<SyncStatus> {
  const { database, clock, provider } = dependencies;
  if (!provider.describe().takesCards) return { refreshed: 0, detached: 0, unanswered: 0 };
  const stale = await listStale(database.kysely, PER_RUN);
  const refreshed = await countAnswered(stale, (account) => refreshCards(dependencies, account));
  const gone = await listToDetach(database.kysely, PER_RUN);
  const detached = await countAnswered(gone, async ({ userId, methodId }) => {
    await provider.detachCard(methodId);
    await withTransaction(database, clock, async (tx) => {
      await lockAccount(tx, userId);
      await noteDetached(tx, methodId);
    });
  });
  return { refreshed, detached, unanswered: stale.length + gone.length - refreshed - detached };
}

async function refreshCards(
  { database, clock, provider }: PaymentDependencies,
  { userId, customerId }: PaymentAccount,
): Promise<void> {
  // Stored cards are read first, so that a card that is stored during the answer does not count as gone.
  const noted = await listCards(database.kysely, userId);
  const cards = customerId === undefined ? [] : await provider.listCards(customerId);
  const present = new Set(cards.map(({ methodId }) => methodId));
  await withTransaction(database, clock, async (tx) => {
    await lockAccount(tx, userId);
    for (const card of cards) await upsertCard(tx, userId, card);
    for (const { methodId } of noted) if (!present.has(methodId)) await noteDetached(tx, methodId);
    await clearStale(tx, userId);
  });
}

/** Works on each item; items that the provider did not answer are left for the next run. */
async function countAnswered<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<number> {
  const answers = await inParallel(items, async (item) => {
    try {
      await work(item);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.kind === "unavailable") return false;
      throw error;
    }
  });
  return answers.filter((isAnswered) => isAnswered).length;
}

export type AutobillChanges = {
  readonly enabled?: boolean | undefined;
  readonly threshold?: number | undefined;
  readonly amount?: number | undefined;
};

/** Changes threshold, amount and switch of automatic payments; omitted fields stay. */
export async function changeAutobill(tx: Tx, userId: UserId, changes: AutobillChanges): Promise<void> {
  const threshold = changes.threshold === undefined ? undefined : parseDollars(changes.threshold);
  if (changes.threshold !== undefined && (threshold === undefined || threshold < 0n)) {
    throw invalid("threshold", "threshold must be an amount of dollars that is not negative");
  }
  const amountCents = changes.amount === undefined ? undefined : parseTopUp("amount", changes.amount);
  await lockAccount(tx, userId);
  if (changes.enabled === true && (await findDefaultCard(tx.db, userId)) === undefined) {
    throw invalid("enabled", "There is no saved card to charge: save one first.", "no_saved_card");
  }
  await setBalanceThreshold(tx, userId, { threshold, isEnabled: changes.enabled });
  if (amountCents !== undefined) await storeAutobill(tx, userId, { amountCents });
  // Switching on ends the pause after an earlier failure.
  if (changes.enabled === true) await storeAutobill(tx, userId, { failureCount: 0, notBeforeAt: null });
}

/** The current settings and state of a user's automatic payments. */
export async function readAutobill(db: Reader, userId: UserId) {
  const [user, account, card] = await Promise.all([
    requireUser(db, userId),
    findAccount(db, userId),
    findDefaultCard(db, userId),
  ]);
  const threshold = user.balanceThresholdNanos;
  return {
    isEnabled: user.isBalanceThresholdEnabled,
    threshold,
    amountCents: chargeCents({ chosenCents: account?.autobillCents, threshold }),
    card,
    failureCount: account?.failureCount ?? 0,
    notBeforeAt: account?.notBeforeAt,
  };
}
