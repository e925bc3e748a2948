import { sql } from "kysely";
import type { Clock } from "../../base/clock.ts";
import type { LedgerAccountId } from "../../base/ids.ts";
import { invariant } from "../../base/invariant.ts";
import { MicroBatcher } from "../../base/micro-batcher.ts";
import { nanos } from "../../base/money.ts";
import { bigints, integers, jsons, texts } from "../../db/arrays.ts";
import type { Database } from "../../db/connect.ts";
import { isRetryableState } from "../../db/sql-state.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import type { LockedAccounts } from "./account-store.ts";
import {
  asTransferId,
  storedKindOf,
  type AccountRef,
  type TransferId,
  type TransferOutcome,
  type TransferRequest,
} from "./types.ts";

/** Measured: larger batches gain little and make the first of them wait. */
const BATCH_MAX = 500;
const ATTEMPTS_MAX = 5;

type OutcomeRow = {
  readonly outcome: string;
  readonly transfer_id: bigint | null;
  readonly shortfall_nanos: bigint | null;
  readonly available_nanos: bigint | null;
};

/** Posts one transfer in the caller's transaction: both balances and the transfer, or nothing and the reason why. */
export async function postTransfer(tx: Tx, request: TransferRequest): Promise<TransferOutcome> {
  const [outcome] = await postTransfers(tx, [request]);
  invariant(outcome !== undefined, "each transfer has its outcome");
  return outcome;
}

/**
 * Posts transfers in the caller's transaction, in order, each seeing the effect of those before it; one that cannot be
 * posted leaves the others alone. Locks all their accounts, by id, until the transaction ends.
 */
export async function postTransfers(tx: Tx, requests: readonly TransferRequest[]): Promise<readonly TransferOutcome[]> {
  if (requests.length === 0) return [];
  const [users, kinds, keys, debits, credits, amounts, codes, causes, descriptions, firsts] = toArrays(requests);
  const { rows } = await sql<OutcomeRow>`
    select outcome, transfer_id, shortfall_nanos, available_nanos
    from ledger_post_batch(
      ${users}::integer[], ${kinds}::text[], ${keys}::text[], ${debits}::integer[], ${credits}::integer[],
      ${amounts}::bigint[], ${codes}::text[], ${causes}::jsonb[], ${descriptions}::text[], ${firsts}::integer[],
      ${tx.now}::timestamptz
    )`.execute(tx.db);
  return rows.map(toOutcome);
}

/**
 * Posts transfers that can all be posted: the caller holds the locks of their accounts and has counted what is there. It
 * takes a few statements, however many they are; should one of them be impossible after all, or posted before, the whole
 * transaction fails. Returns their ids in order.
 */
export async function postAllTransfers(
  tx: Tx,
  accounts: LockedAccounts,
  requests: readonly TransferRequest[],
): Promise<readonly TransferId[]> {
  if (requests.length === 0) return [];
  const { rows } = await sql<{ id: bigint }>`
    select nextval('ledger_transfers_id_seq') as id from generate_series(1, ${requests.length}::integer)
  `.execute(tx.db);
  const ids = rows.map(({ id }) => asTransferId(id));
  const debits = requests.map(({ debit }) => accounts.idOf(debit));
  const credits = requests.map(({ credit }) => accounts.idOf(credit));
  await sql`
    insert into ledger_transfers
      (id, key, debit_account_id, credit_account_id, amount_nanos, code, cause, description, created_at)
    select
      unnest(${bigints(ids)}::bigint[]), unnest(${texts(requests.map(({ key }) => key))}::text[]),
      unnest(${integers(debits)}::integer[]), unnest(${integers(credits)}::integer[]),
      unnest(${bigints(requests.map(({ amount }) => amount))}::bigint[]),
      unnest(${texts(requests.map(({ code }) => code))}::text[]),
      unnest(${jsons(requests.map(({ cause }) => JSON.stringify(cause)))}::jsonb[]),
      unnest(${texts(requests.map(({ description }) => description))}::text[]), ${tx.now}::timestamptz
  `.execute(tx.db);
  const sums = new Map<LedgerAccountId, bigint>();
  for (const [index, { amount }] of requests.entries()) {
    const [debit, credit] = [debits[index], credits[index]];
    invariant(debit !== undefined && credit !== undefined, "a transfer has two sides");
    sums.set(debit, (sums.get(debit) ?? 0n) - amount);
    sums.set(credit, (sums.get(credit) ?? 0n) + amount);
  }
  await sql`
    update ledger_accounts a set balance_nanos = a.balance_nanos + moved.amount
    from unnest(${integers([...sums.keys()])}::integer[], ${bigints([...sums.values()])}::bigint[]) as moved (id, amount)
    where a.id = moved.id
  `.execute(tx.db);
  return ids;
}

/** What the cause of the transfer with this key says under a name; undefined where either is not there. */
export async function findInCause(db: Reader, key: string, name: string): Promise<string | undefined> {
  const { rows } = await sql<{ value: string | null }>`
    select t.cause ->> ${name}::text as value from ledger_transfers t where t.key = ${key}::text
  `.execute(db);
  return rows[0]?.value ?? undefined;
}

export type TransferPoster = {
  /** Resolves when the transfer is durable, or with the reason why it was not posted. Safe to repeat: see its key. */
  post(request: TransferRequest): Promise<TransferOutcome>;
  /** Resolves when nothing is under way, for a clean stop. */
  idle(): Promise<void>;
};

/** Posts transfers that are transactions of their own: those of many callers share one statement and one commit. */
export function createTransferPoster(database: Database, clock: Clock): TransferPoster {
  const batcher = new MicroBatcher<TransferRequest, TransferOutcome>({
    maxBatch: BATCH_MAX,
    run: (batch) => postAlone(database, clock, batch),
  });
  return { post: (request) => batcher.submit(request), idle: () => batcher.idle() };
}

async function postAlone(
  database: Database,
  clock: Clock,
  requests: readonly TransferRequest[],
): Promise<readonly TransferOutcome[]> {
  const values = [...toArrays(requests), clock.now()];
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { rows } = await database.pool.query<OutcomeRow>({
        name: "ledger_post_batch",
        text: "select * from ledger_post_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        values,
      });
      return rows.map(toOutcome);
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX || !isRetryableState(error)) throw error;
    }
  }
}

/** The arguments of `ledger_post_batch` but the time: distinct accounts, then one column per property of a transfer. */
function toArrays(requests: readonly TransferRequest[]) {
  const accounts = new Map<string, number>();
  const users: number[] = [];
  const kinds: string[] = [];
  const positionOf = (account: AccountRef): number => {
    const userId = "userId" in account ? account.userId : 0;
    const kind = storedKindOf(account);
    const name = `${kind} ${userId}`;
    const known = accounts.get(name);
    if (known !== undefined) return known;
    kinds.push(kind);
    accounts.set(name, users.push(userId));
    return users.length;
  };
  const firstOfKey = new Map<string, number>();
  const firsts = requests.map(({ key }, index) => {
    const first = firstOfKey.get(key) ?? index + 1;
    firstOfKey.set(key, first);
    return first;
  });
  const debits = requests.map(({ debit }) => positionOf(debit));
  const credits = requests.map(({ credit }) => positionOf(credit));
  invariant(
    requests.every(({ amount }, index) => amount > 0n && debits[index] !== credits[index]),
    "a transfer moves a positive amount between two accounts",
  );
  return [
    integers(users),
    texts(kinds),
    texts(requests.map(({ key }) => key)),
    integers(debits),
    integers(credits),
    bigints(requests.map(({ amount }) => amount)),
    texts(requests.map(({ code }) => code)),
    jsons(requests.map(({ cause }) => JSON.stringify(cause))),
    texts(requests.map(({ description }) => description)),
    integers(firsts),
  ] as const;
}

function toOutcome(row: OutcomeRow): TransferOutcome {
  switch (row.outcome) {
    case "posted":
    case "exists":
      invariant(row.transfer_id !== null, "a stored transfer has its id");
      return { kind: row.outcome, transferId: asTransferId(row.transfer_id) };
    case "insufficient":
      invariant(row.shortfall_nanos !== null && row.available_nanos !== null, "what is missing has an amount");
      return {
        kind: "insufficient",
        shortfallNanos: nanos(row.shortfall_nanos),
        availableNanos: nanos(row.available_nanos),
      };
    default:
      invariant(row.outcome === "key_conflict", `ledger_post_batch answered ${row.outcome}`);
      return { kind: "key_conflict" };
  }
}
