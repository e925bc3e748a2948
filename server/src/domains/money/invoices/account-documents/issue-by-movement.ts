import type { Clock } from "../../../../base/clock.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import {
  listPostedMovements,
  type MovementCode,
  type PostedMovement,
  type PostedPlace,
} from "../../ledger/for-invoices.ts";
import type { Seller } from "../seller.ts";
import {
  issueDocument,
  listDocumentedAmong,
  lockKindClock,
  readKindClock,
  storeKindClock,
  type Draft,
} from "./account-document-store.ts";
import type { AccountDocumentKind } from "./rules/account-document.ts";

export type IssueMeans = { readonly database: Database; readonly clock: Clock; readonly seller: Seller };

/** `none`: the movement needs no document. `later`: the document that it refers to is not issued yet. */
export type Drafted = Draft | "none" | "later";

type Kind = {
  readonly kind: AccountDocumentKind;
  readonly codes: readonly MovementCode[];
  /** Drafts the document of one movement; the data that it reads may change until the transaction ends. */
  readonly draft: (tx: Tx, movement: PostedMovement) => Promise<Drafted>;
};

/** Longest time from the start of a transaction until its movements are committed. */
const LAG_MS = 3_600_000;
const PER_PAGE = 500;
const PAGES_PER_RUN = 40;

/**
 * Issues a document for each movement under these codes, oldest first. Safe to repeat and to run concurrently: a
 * movement has one document. Returns the number issued. A movement whose document cannot be issued does not hold up
 * others; the run fails at its end, and the next one starts with it.
 */
export async function issueByMovement(means: IssueMeans, kind: Kind): Promise<number> {
  const { database, clock } = means;
  const begun = clock.now();
  const { doneUntil } = await readKindClock(database.kysely, kind.kind);
  const failures: unknown[] = [];
  let [issued, firstOpen, after]: [number, Date | undefined, PostedPlace] = [0, undefined, { at: doneUntil, id: 0n }];
  let isComplete = false;
  for (let page = 0; page < PAGES_PER_RUN && !isComplete; page += 1) {
    const movements = await listPostedMovements(database.kysely, kind.codes, { after, limit: PER_PAGE });
    const documented = await listDocumentedAmong(
      database.kysely,
      movements.map(({ id }) => id),
    );
    for (const movement of movements.filter(({ id }) => !documented.has(id))) {
      const outcome = await issueOne(means, kind, movement).catch((error: unknown) => {
        failures.push(error);
        return "later" as const;
      });
      if (outcome === "issued") issued += 1;
      if (outcome === "later") firstOpen ??= movement.createdAt;
    }
    const last = movements.at(-1);
    if (last !== undefined) after = { at: last.createdAt, id: last.id };
    isComplete = movements.length < PER_PAGE;
  }
  const reached = isComplete ? begun : after.at;
  await advance(means, kind.kind, earliest([reached, new Date(begun.getTime() - LAG_MS), firstOpen]));
  if (failures.length > 0) throw failures[0];
  return issued;
}

async function issueOne(
  { database, clock, seller }: IssueMeans,
  { kind, draft }: Kind,
  movement: PostedMovement,
): Promise<"issued" | "none" | "later"> {
  return withTransaction(database, clock, async (tx) => {
    const drafted = await draft(tx, movement);
    if (drafted === "none" || drafted === "later") return drafted;
    await lockKindClock(tx, kind);
    if ((await listDocumentedAmong(tx.db, [movement.id])).size > 0) return "none";
    await issueDocument(tx, seller.numberPrefix, drafted);
    return "issued";
  });
}

/** Stores where the next run starts; the stored place never goes back. */
async function advance({ database, clock }: IssueMeans, kind: AccountDocumentKind, until: Date): Promise<void> {
  await withTransaction(database, clock, async (tx) => {
    const { doneUntil, doneUserId } = await lockKindClock(tx, kind);
    if (until > doneUntil) await storeKindClock(tx, kind, { doneUntil: until, doneUserId });
  });
}

function earliest(moments: readonly (Date | undefined)[]): Date {
  return new Date(Math.min(...moments.flatMap((moment) => moment?.getTime() ?? [])));
}
