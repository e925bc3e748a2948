// Credit that some users sent on from a point in time on.
import { sql, type RawBuilder } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import { bigints, integers, timestamps } from "../../../db/arrays.ts";
import type { Reader } from "../../../db/transaction.ts";

/** The first transfer by which credit of a payment can have reached a user. */
export type Arrival = { readonly userId: UserId; readonly transferId: bigint; readonly at: Date };

/**
 * The sum that one user sent to another, or paid to a host, after credit of the payment can have reached the sender.
 */
export type Sent = {
  readonly from: UserId;
  readonly to: UserId;
  /** Nano-dollars, less amounts that came back. */
  readonly nanos: bigint;
  readonly firstId: bigint;
  readonly firstAt: Date;
};

/** Longest difference between servers' clocks. Ids decide the order of transfers; times only serve the index. */
const SKEW_MS = 600_000;

/** A row of a statement on sent credit. */
export type SentRow = {
  readonly from_id: UserId;
  readonly to_id: UserId;
  readonly sent: string;
  readonly first_id: string;
  readonly first_at: Date;
};

/** Credit that these users sent to others; the recipient of the latest transfer comes first. */
export async function listSentCredit(db: Reader, senders: readonly Arrival[]): Promise<readonly Sent[]> {
  const { rows } = await sql<SentRow>`
    select w.user_id as from_id, c.user_id as to_id, (sum(t.amount_nanos) - coalesce((
        select sum(b.amount_nanos) from ledger_transfers b
        where b.debit_account_id = c.id and b.credit_account_id = a.id and b.code = 'credit_transfer'
          and b.created_at >= w.since_at and b.id > w.since_id
      ), 0))::text as sent,
      min(t.id)::text as first_id, min(t.created_at) as first_at
    from ${arrivalRows(senders)} as w (user_id, since_id, since_at)
    join ledger_accounts a on coalesce(a.user_id, 0) = w.user_id and a.kind = 'credit'
    join ledger_transfers t on t.debit_account_id = a.id and t.code = 'credit_transfer'
      and t.created_at >= w.since_at and t.id > w.since_id
    join ledger_accounts c on c.id = t.credit_account_id and c.kind = 'credit'
    group by w.user_id, w.since_id, w.since_at, a.id, c.id
    order by max(t.id) desc
  `.execute(db);
  return rows.map(toSent);
}

/** SQL for other stores: these arrivals as rows of user, transfer and time. */
export function arrivalRows(senders: readonly Arrival[]) {
  return sql`unnest(
    ${integers(senders.map(({ userId }) => userId))}::integer[],
    ${bigints(senders.map(({ transferId }) => transferId))}::bigint[],
    ${timestamps(senders.map(({ at }) => at.getTime() - SKEW_MS))}::timestamptz[]
  )`;
}

export function toSent(row: SentRow): Sent {
  return {
    from: row.from_id,
    to: row.to_id,
    nanos: BigInt(row.sent),
    firstId: BigInt(row.first_id),
    firstAt: row.first_at,
  };
}

/** A payer, a host and the arrival of the payer's credit in a statement: columns or parameters. */
type PaidInSql = Readonly<Record<"payerId" | "hostId" | "sinceId" | "sinceAt", RawBuilder<unknown>>>;

/** SQL for other stores: the sum that a host's earnings gave back to a payer for failures since an arrival. */
export const hostCreditSince = ({ payerId, hostId, sinceId, sinceAt }: PaidInSql) =>
  sql<string>`coalesce((
    select sum(b.amount_nanos) from ledger_accounts e
    join ledger_transfers b on b.debit_account_id = e.id and b.code = 'host_credit'
      and b.created_at >= ${sinceAt} and b.id > ${sinceId}
    join ledger_accounts r on r.id = b.credit_account_id and r.user_id = ${payerId}
    where coalesce(e.user_id, 0) = ${hostId} and e.kind = 'earnings'
  ), 0)`;
