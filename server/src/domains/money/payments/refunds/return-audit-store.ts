// Returned card payments as the audit reads them.
import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { debtors } from "../../ledger/for-payments.ts";
import { NANOS_PER_CENT } from "../rules/cents.ts";
import type { TakenFrom } from "./rules/return-keys.ts";

export type AuditedReturn = {
  readonly key: string;
  /** The user of the payment; undefined when it was not credited, so that nothing is booked. */
  readonly userId: UserId | undefined;
  /** The amount that must be booked for the return. */
  readonly dueNanos: bigint;
  readonly takenNanos: bigint;
  readonly lostNanos: bigint;
  readonly bookedCount: number;
  /** True for a dispute that the operator won, so that the money came back. */
  readonly isReversed: boolean;
  /** The accounts that the amount was taken from, with the sums taken and the sums not given back. */
  readonly takings: readonly (TakenFrom & { readonly allNanos: bigint; readonly openNanos: bigint })[];
};

/** Returns since a moment, and those with these keys. */
export async function listAuditedReturns(
  db: Reader,
  { since, keys }: { readonly since: Date | undefined; readonly keys: readonly string[] },
): Promise<readonly AuditedReturn[]> {
  const { rows } = await sql<{
    readonly key: string;
    readonly user_id: UserId | null;
    readonly returned_cents: bigint;
    readonly is_reversed: boolean;
    readonly taken_nanos: bigint;
    readonly lost_nanos: bigint;
    readonly booked_count: number;
    readonly takings: readonly {
      kind: TakenFrom["kind"];
      user_id: UserId;
      through: readonly UserId[];
      all: string;
      open: string;
    }[];
  }>`
    select r.key, p.user_id, r.returned_cents, r.is_reversed, r.taken_nanos, r.lost_nanos, r.booked_count,
      coalesce((
        select json_agg(json_build_object(
          'kind', s.account_kind, 'user_id', s.user_id, 'through', to_json(s.through), 'all', s.all_nanos::text,
          'open', s.open::text
        ))
        from (
          select account_kind, user_id, through, sum(amount_nanos) as all_nanos,
            coalesce(sum(amount_nanos) filter (where given_back_at is null), 0) as open
          from payment_takings where return_key = r.key group by account_kind, user_id, through
        ) as s
      ), '[]') as takings
    from payment_returns r
    left join payments p on p.intent_id = r.intent_id and p.state = 'paid'
    where r.created_at >= coalesce(${since ?? null}::timestamptz, '-infinity') or r.key = any (${keys}::text[])
    order by r.key
  `.execute(db);
  return rows.map((row) => ({
    key: row.key,
    userId: row.user_id ?? undefined,
    dueNanos: row.user_id === null || row.is_reversed ? 0n : row.returned_cents * NANOS_PER_CENT,
    takenNanos: row.taken_nanos,
    lostNanos: row.lost_nanos,
    bookedCount: row.booked_count,
    isReversed: row.is_reversed,
    takings: row.takings.map(({ kind, user_id: userId, through, all, open }) => ({
      kind,
      userId,
      through,
      allNanos: BigInt(all),
      openNanos: BigInt(open),
    })),
  }));
}

export type AuditedDebt = { readonly userId: UserId; readonly debtNanos: bigint; readonly takenNanos: bigint };

/** The debt that each user's credit may have, and the amounts that returned payments took from it. */
export async function listAuditedDebts(db: Reader): Promise<readonly AuditedDebt[]> {
  const { rows } = await sql<{ readonly user_id: UserId; readonly debt: bigint; readonly taken: string }>`
    select debtor.user_id, debtor.debt_nanos as debt, coalesce(sum(r.taken_nanos), 0)::text as taken
    from ${debtors} as debtor
    left join payments p on p.user_id = debtor.user_id and p.state = 'paid'
    left join payment_returns r on r.intent_id = p.intent_id
    group by debtor.user_id, debtor.debt_nanos
    order by debtor.user_id
  `.execute(db);
  return rows.map((row) => ({ userId: row.user_id, debtNanos: row.debt, takenNanos: BigInt(row.taken) }));
}
