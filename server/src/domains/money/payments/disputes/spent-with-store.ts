// Payments and credit transfers of some users from a point in time on.
import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import { bigints, integers, timestamps } from "../../../../db/arrays.ts";
import type { Reader } from "../../../../db/transaction.ts";

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

type Row = {
  readonly from_id: UserId;
  readonly to_id: UserId;
  readonly sent: string;
  readonly first_id: string;
  readonly first_at: Date;
};

/** Credit that these users sent to others; the recipient of the latest transfer comes first. */
export async function listSentCredit(db: Reader, senders: readonly Arrival[]): Promise<readonly Sent[]> {
  const { rows } = await sql<Row>`
    select w.user_id as from_id, c.user_id as to_id, (sum(t.amount_nanos) - coalesce((
        select sum(b.amount_nanos) from ledger_transfers b
        where b.debit_account_id = c.id and b.credit_account_id = a.id and b.code = 'credit_transfer'
          and b.created_at >= w.since_at and b.id > w.since_id
      ), 0))::text as sent,
      min(t.id)::text as first_id, min(t.created_at) as first_at
    from ${wanted(senders)} as w (user_id, since_id, since_at)
    join ledger_accounts a on coalesce(a.user_id, 0) = w.user_id and a.kind = 'credit'
    join ledger_transfers t on t.debit_account_id = a.id and t.code = 'credit_transfer'
      and t.created_at >= w.since_at and t.id > w.since_id
    join ledger_accounts c on c.id = t.credit_account_id and c.kind = 'credit'
    group by w.user_id, w.since_id, w.since_at, a.id, c.id
    order by max(t.id) desc
  `.execute(db);
  return rows.map(toSent);
}

/** Hosts that these users paid, by charge lines, less amounts returned for failures; the host paid last comes first. */
export async function listPaidHosts(db: Reader, senders: readonly Arrival[]): Promise<readonly Sent[]> {
  const { rows } = await sql<Row>`
    select w.user_id as from_id, l.host_id as to_id, (sum(l.amount_nanos) - coalesce((
        select sum(b.amount_nanos) from ledger_accounts e
        join ledger_transfers b on b.debit_account_id = e.id and b.code = 'host_credit'
          and b.created_at >= w.since_at and b.id > w.since_id
        join ledger_accounts r on r.id = b.credit_account_id and r.user_id = w.user_id
        where coalesce(e.user_id, 0) = l.host_id and e.kind = 'earnings'
      ), 0))::text as sent,
      min(l.transfer_id)::text as first_id, min(l.charged_at) as first_at
    from ${wanted(senders)} as w (user_id, since_id, since_at)
    join charge_lines l on l.payer_id = w.user_id and l.charged_at >= w.since_at and l.transfer_id > w.since_id
    where l.host_id <> l.payer_id
    group by w.user_id, w.since_id, w.since_at, l.host_id
    order by max(l.id) desc
  `.execute(db);
  return rows.map(toSent);
}

function wanted(senders: readonly Arrival[]) {
  return sql`unnest(
    ${integers(senders.map(({ userId }) => userId))}::integer[],
    ${bigints(senders.map(({ transferId }) => transferId))}::bigint[],
    ${timestamps(senders.map(({ at }) => at.getTime() - SKEW_MS))}::timestamptz[]
  )`;
}

function toSent(row: Row): Sent {
  return {
    from: row.from_id,
    to: row.to_id,
    nanos: BigInt(row.sent),
    firstId: BigInt(row.first_id),
    firstAt: row.first_at,
  };
}
