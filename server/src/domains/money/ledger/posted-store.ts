// Movements of all accounts by their codes, in the order of posting.
import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import type { MovementCode } from "./movement-store.ts";
import { asTransferId, type Cause, type TransferId } from "./types.ts";

type Side = { readonly kind: string; readonly userId: UserId | undefined };

export type PostedMovement = {
  readonly id: TransferId;
  readonly code: MovementCode;
  readonly debit: Side;
  readonly credit: Side;
  readonly amount: Nanos;
  readonly cause: Cause;
  readonly description: string;
  readonly createdAt: Date;
};

/** The movement after which a list of posted movements continues. */
export type PostedPlace = { readonly at: Date; readonly id: bigint };

/** Movements under these codes from an instant on, oldest first, after a place. */
export async function listPostedMovements(
  db: Reader,
  codes: readonly MovementCode[],
  { after, limit }: { readonly after: PostedPlace; readonly limit: number },
): Promise<readonly PostedMovement[]> {
  return select(
    db,
    codes,
    sql`t.code = any(${[...codes]}::text[]) and (t.created_at, t.id) > (${after.at}::timestamptz, ${after.id}::bigint)
      order by t.created_at, t.id limit ${limit}::integer`,
  );
}

/** Those of these transfers that are movements under these codes, by their ids. */
export async function listMovementsOf(
  db: Reader,
  codes: readonly MovementCode[],
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, PostedMovement>> {
  const found = await select(db, codes, sql`t.code = any(${[...codes]}::text[]) and t.id = any(${[...ids]}::bigint[])`);
  return new Map(found.map((movement) => [movement.id, movement]));
}

async function select(
  db: Reader,
  codes: readonly MovementCode[],
  condition: ReturnType<typeof sql>,
): Promise<readonly PostedMovement[]> {
  const { rows } = await sql<{
    readonly id: bigint;
    readonly code: string;
    readonly debit_kind: string;
    readonly debit_user_id: UserId | null;
    readonly credit_kind: string;
    readonly credit_user_id: UserId | null;
    readonly amount_nanos: bigint;
    readonly cause: Cause;
    readonly description: string;
    readonly created_at: Date;
  }>`
    select t.id, t.code, d.kind as debit_kind, d.user_id as debit_user_id, c.kind as credit_kind,
      c.user_id as credit_user_id, t.amount_nanos, t.cause, t.description, t.created_at
    from ledger_transfers t
    join ledger_accounts d on d.id = t.debit_account_id
    join ledger_accounts c on c.id = t.credit_account_id
    where t.code not in ('usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down') and ${condition}
  `.execute(db);
  return rows.map((row) => {
    const code = codes.find((candidate) => candidate === row.code);
    invariant(code !== undefined, `transfer ${row.id} is no movement that was asked for: ${row.code}`);
    return {
      id: asTransferId(row.id),
      code,
      debit: { kind: row.debit_kind, userId: row.debit_user_id ?? undefined },
      credit: { kind: row.credit_kind, userId: row.credit_user_id ?? undefined },
      amount: nanos(row.amount_nanos),
      cause: row.cause,
      description: row.description,
      createdAt: row.created_at,
    };
  });
}
