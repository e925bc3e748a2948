import { sql } from "kysely";
import type { LedgerCapId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import { bigints, integers, jsons, texts } from "../../../db/arrays.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { postTransfers } from "./transfer-store.ts";
import { parseCapPeriod, parseCapScope } from "./caps/cap-scope.ts";
import { asHoldId, type HoldId, type HoldOutcome, type HoldRequest, type Limitation } from "./types.ts";
import type { TransferOutcome, TransferRequest } from "./types.ts";

type PlacedRow = {
  readonly hold_id: bigint | null;
  readonly shortfall_nanos: bigint | null;
  readonly available_nanos: bigint;
  readonly cap_id: LedgerCapId | null;
  readonly cap_scope: string | null;
  readonly cap_period: string | null;
};

/** Sets a part of a user's credit aside in the caller's transaction, or returns how much is missing. */
export async function placeHold(tx: Tx, request: HoldRequest): Promise<HoldOutcome> {
  const [outcome] = await placeHolds(tx, [request]);
  invariant(outcome !== undefined, "each hold has its outcome");
  return outcome;
}

/**
 * Places holds in order, each with the effect of those before it; a hold that the balance or a cap does not cover
 * leaves the others alone. Locks the credit accounts of all users in the order of their ids, then the caps that limit
 * them, until the transaction ends.
 */
export async function placeHolds(tx: Tx, requests: readonly HoldRequest[]): Promise<readonly HoldOutcome[]> {
  if (requests.length === 0) return [];
  invariant(
    requests.every(({ amount }) => amount > 0n),
    "a hold sets a positive amount aside",
  );
  const users = [...new Set(requests.map(({ userId }) => userId))];
  const positions = new Map(users.map((userId, index) => [userId, index + 1]));
  const owners = integers(requests.map(({ userId }) => positions.get(userId)));
  const amounts = bigints(requests.map(({ amount }) => amount));
  const causes = jsons(requests.map(({ cause }) => JSON.stringify(cause)));
  const scopeLists = texts(requests.map(scopeListOf));
  const { rows } = await sql<PlacedRow>`
    select hold_id, shortfall_nanos, available_nanos, cap_id, cap_scope, cap_period
    from ledger_place_holds(
      ${integers(users)}::integer[], ${owners}::integer[], ${amounts}::bigint[], ${causes}::jsonb[], ${scopeLists}::text[],
      ${tx.now}::timestamptz
    )`.execute(tx.db);
  return rows.map((row): HoldOutcome => {
    if (row.hold_id !== null) return { kind: "placed", holdId: asHoldId(row.hold_id) };
    invariant(row.shortfall_nanos !== null, "what is missing has an amount");
    return {
      kind: "insufficient",
      shortfallNanos: nanos(row.shortfall_nanos),
      availableNanos: nanos(row.available_nanos),
      limitedBy: limitationOf(row),
    };
  });
}

function scopeListOf({ scopes }: HoldRequest): string {
  return [...new Set(scopes)].join(" ");
}

function limitationOf({ cap_id: capId, cap_scope: scope, cap_period: period }: PlacedRow): Limitation {
  if (capId === null || scope === null || period === null) return { kind: "balance" };
  return { kind: "cap", capId, scope: parseCapScope(scope), period: parseCapPeriod(period) };
}

/** Releases a hold. Returns whether it was pending: a second release, or one after posting, changes nothing. */
export async function releaseHold(tx: Tx, holdId: HoldId): Promise<boolean> {
  return (await releaseHolds(tx, [holdId])).length === 1;
}

/** Releases many holds at once; returns those that were pending. */
export function releaseHolds(tx: Tx, holdIds: readonly HoldId[]): Promise<readonly HoldId[]> {
  return closeHolds(tx, holdIds, "released");
}

/** The amount of a pending hold; undefined when it is closed. */
export async function findPendingHold(db: Reader, holdId: HoldId): Promise<Nanos | undefined> {
  const row = await db
    .selectFrom("ledger_holds")
    .select("amount_nanos")
    .where("id", "=", holdId)
    .where("state", "=", "pending")
    .executeTakeFirst();
  return row === undefined ? undefined : nanos(row.amount_nanos);
}

/** The amounts of those of these holds that are pending. */
export async function listPendingAmounts(db: Reader, holdIds: readonly HoldId[]): Promise<ReadonlyMap<HoldId, Nanos>> {
  if (holdIds.length === 0) return new Map();
  const { rows } = await sql<{ id: bigint; amount: bigint }>`
    select h.id, h.amount_nanos as amount from ledger_holds h
    where h.id = any(${bigints(holdIds)}::bigint[]) and h.state = 'pending'
  `.execute(db);
  return new Map(rows.map(({ id, amount }) => [asHoldId(id), nanos(amount)]));
}

/** A name in a hold's cause: the run has no credit to go on, and the hold covers the time until it has stopped. */
export const UNTIL_STOPPED = "until_stopped";

/** True when a hold covers only the time until its instance has stopped. */
export async function isHeldUntilStopped(db: Reader, holdId: HoldId): Promise<boolean> {
  const { rows } = await sql<{ is_last: boolean }>`
    select h.cause ? ${UNTIL_STOPPED}::text as is_last from ledger_holds h where h.id = ${holdId}::bigint
  `.execute(db);
  return rows[0]?.is_last === true;
}

/** Those of these holds that are pending and equal the hold that the request beside them would place. */
export async function listHoldsAlike(
  db: Reader,
  wanted: readonly (HoldRequest & { readonly holdId: HoldId })[],
): Promise<readonly HoldId[]> {
  if (wanted.length === 0) return [];
  const { rows } = await sql<{ id: bigint }>`
    select h.id
    from unnest(
      ${bigints(wanted.map(({ holdId }) => holdId))}::bigint[], ${bigints(wanted.map(({ amount }) => amount))}::bigint[],
      ${jsons(wanted.map(({ cause }) => JSON.stringify(cause)))}::jsonb[], ${texts(wanted.map(scopeListOf))}::text[]
    ) as w (id, amount_nanos, cause, scopes)
    join ledger_holds h on h.id = w.id and h.amount_nanos = w.amount_nanos and h.cause = w.cause
      and h.scopes = string_to_array(w.scopes, ' ')
    where h.state = 'pending'
  `.execute(db);
  return rows.map(({ id }) => asHoldId(id));
}

/** Closes holds as posted, for charges that follow in the same transaction; returns those that were pending. */
export function useHolds(tx: Tx, holdIds: readonly HoldId[]): Promise<readonly HoldId[]> {
  return closeHolds(tx, holdIds, "posted");
}

/**
 * Posts transfers from a hold: the hold is closed as posted, and its amount is available to these transfers. They may
 * cost less than the hold, or more as far as the account has it. A hold that is closed already adds nothing.
 */
export async function postHold(
  tx: Tx,
  holdId: HoldId,
  requests: readonly TransferRequest[],
): Promise<readonly TransferOutcome[]> {
  await closeHolds(tx, [holdId], "posted");
  return postTransfers(tx, requests);
}

async function closeHolds(
  tx: Tx,
  holdIds: readonly HoldId[],
  state: "released" | "posted",
): Promise<readonly HoldId[]> {
  if (holdIds.length === 0) return [];
  const { rows } = await sql<{ hold_id: bigint }>`
    select closed.hold_id
    from ledger_close_holds(${bigints(holdIds)}::bigint[], ${state}::text, ${tx.now}::timestamptz) as closed (hold_id)
  `.execute(tx.db);
  return rows.map(({ hold_id }) => asHoldId(hold_id));
}

/**
 * Deletes holds that were closed before a moment: at most `limit`, without those that others are deleting. Returns the
 * number deleted.
 */
export async function deleteClosedHolds(tx: Tx, before: Date, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ledger_holds where id = any(array(
      select id from ledger_holds where closed_at < ${before}::timestamptz
      order by closed_at limit ${limit}::integer for update skip locked
    ))
  `.execute(tx.db);
  return Number(numAffectedRows);
}
