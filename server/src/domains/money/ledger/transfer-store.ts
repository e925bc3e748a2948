import { sql } from "kysely";
import type { Clock } from "../../../base/clock.ts";
import type { LedgerAccountId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import { MicroBatcher } from "../../../base/micro-batcher.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import { bigints, integers, jsons, texts } from "../../../db/arrays.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Reader, type Tx } from "../../../db/transaction.ts";
import type { LockedAccounts } from "./account-store.ts";
import { grantedPart } from "./earnings/granted.ts";
import {
  asTransferId,
  isUsage,
  nameAccount,
  storedKindOf,
  type AccountRef,
  type Cause,
  type TransferId,
  type TransferOutcome,
  type TransferRequest,
} from "./types.ts";

/** Transfers per statement. Measured: larger batches gain little and delay their first transfer. */
const BATCH_MAX = 500;

type OutcomeRow = {
  readonly outcome: string;
  readonly transfer_id: bigint | null;
  readonly shortfall_nanos: bigint | null;
  readonly available_nanos: bigint | null;
};

/**
 * Posts one transfer in the caller's transaction: both balances and the transfer change, or nothing does and the
 * outcome says why.
 */
export async function postTransfer(tx: Tx, request: TransferRequest): Promise<TransferOutcome> {
  const [outcome] = await postTransfers(tx, [request]);
  invariant(outcome !== undefined, "each transfer has its outcome");
  return outcome;
}

/**
 * Posts transfers in the caller's transaction, in order, each with the effect of those before it; a transfer that
 * cannot be posted leaves the others alone. Locks all their accounts in the order of their ids until the transaction
 * ends.
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
  const outcomes = rows.map(toOutcome);
  for (const [index, outcome] of outcomes.entries()) {
    const request = requests[index];
    if (outcome.kind === "posted" && request !== undefined) noteTransfer(tx, outcome.transferId, request);
  }
  return outcomes;
}

/** Notes the fact of a transfer. Usage has none: the audit recomputes it from counters. */
function noteTransfer(tx: Tx, id: TransferId, request: TransferRequest): void {
  if (isUsage(request)) return;
  const { key, debit, credit, amount, code, cause, description, origin } = request;
  tx.noteFact({
    kind: "transfer",
    subject: String(id),
    content: { key, code, from: nameOf(debit), to: nameOf(credit), amount: String(amount), cause, why: description },
    origin,
  });
}

function nameOf(account: AccountRef): string {
  return nameAccount({ kind: storedKindOf(account), userId: "userId" in account ? account.userId : undefined });
}

/**
 * Posts transfers that are known to be possible: the caller holds the locks of their accounts and has checked the
 * balances. It takes a few statements for any number of transfers. The whole transaction fails when one of them is
 * impossible after all, or was posted before. Returns their ids in order.
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
  const { sums, grantedParts } = await countMoved(tx, requests, { debits, credits });
  await sql`
    insert into ledger_transfers
      (id, key, debit_account_id, credit_account_id, amount_nanos, granted_nanos, code, cause, description, created_at)
    select
      unnest(${bigints(ids)}::bigint[]), unnest(${texts(requests.map(({ key }) => key))}::text[]),
      unnest(${integers(debits)}::integer[]), unnest(${integers(credits)}::integer[]),
      unnest(${bigints(requests.map(({ amount }) => amount))}::bigint[]), unnest(${bigints(grantedParts)}::bigint[]),
      unnest(${texts(requests.map(({ code }) => code))}::text[]),
      unnest(${jsons(requests.map(({ cause }) => JSON.stringify(cause)))}::jsonb[]),
      unnest(${texts(requests.map(({ description }) => description))}::text[]), ${tx.now}::timestamptz
  `.execute(tx.db);
  await sql`
    update ledger_accounts a set
      balance_nanos = a.balance_nanos + moved.amount, granted_nanos = a.granted_nanos + moved.granted
    from unnest(
      ${integers([...sums.keys()])}::integer[], ${bigints([...sums.values()].map(({ amount }) => amount))}::bigint[],
      ${bigints([...sums.values()].map(({ granted }) => granted))}::bigint[]
    ) as moved (id, amount, granted)
    where a.id = moved.id
  `.execute(tx.db);
  for (const [index, id] of ids.entries()) {
    const request = requests[index];
    if (request !== undefined) noteTransfer(tx, id, request);
  }
  return ids;
}

type Moved = { amount: bigint; granted: bigint };

/** The change of each account by these transfers, in their order, and the granted part of each transfer. */
async function countMoved(
  tx: Tx,
  requests: readonly TransferRequest[],
  { debits, credits }: { readonly debits: readonly LedgerAccountId[]; readonly credits: readonly LedgerAccountId[] },
): Promise<{ readonly sums: ReadonlyMap<LedgerAccountId, Moved>; readonly grantedParts: readonly bigint[] }> {
  const { rows } = await sql<{ id: LedgerAccountId; balance: bigint; granted: bigint }>`
    select id, balance_nanos as balance, granted_nanos as granted
    from ledger_accounts where id = any(${integers([...new Set(debits)])}::integer[])
  `.execute(tx.db);
  const before = new Map(rows.map((row) => [row.id, row]));
  const sums = new Map<LedgerAccountId, Moved>();
  const movedOf = (id: LedgerAccountId): Moved => {
    const known = sums.get(id) ?? { amount: 0n, granted: 0n };
    sums.set(id, known);
    return known;
  };
  const grantedParts = requests.map(({ amount, code, debit: account }, index) => {
    const [debitId, creditId] = [debits[index], credits[index]];
    invariant(debitId !== undefined && creditId !== undefined, "a transfer has two sides");
    const [debit, credit] = [movedOf(debitId), movedOf(creditId)];
    const { balance = 0n, granted = 0n } = before.get(debitId) ?? {};
    const part = grantedPart(
      { kind: storedKindOf(account), code, amount },
      { balanceNanos: balance + debit.amount, grantedNanos: granted + debit.granted },
    );
    debit.amount -= amount;
    debit.granted -= part;
    credit.amount += amount;
    credit.granted += part;
    return part;
  });
  return { sums, grantedParts };
}

/** The value of a name in the cause of the transfer with this key; undefined when there is no such transfer or name. */
export async function findInCause(db: Reader, key: string, name: string): Promise<string | undefined> {
  const { rows } = await sql<{ value: string | null }>`
    select t.cause ->> ${name}::text as value from ledger_transfers t where t.key = ${key}::text
  `.execute(db);
  return rows[0]?.value ?? undefined;
}

/** The transfer that was posted under a key; undefined when there is none. */
export async function findTransferOf(
  db: Reader,
  key: string,
): Promise<{ readonly id: TransferId; readonly amount: bigint; readonly cause: Cause } | undefined> {
  const { rows } = await sql<{ id: bigint; amount: bigint; cause: Cause }>`
    select t.id, t.amount_nanos as amount, t.cause from ledger_transfers t where t.key = ${key}::text
  `.execute(db);
  const [row] = rows;
  return row && { ...row, id: asTransferId(row.id) };
}

/** The granted part of the transfers with these keys, in nano-dollars. */
export async function sumGranted(db: Reader, keys: readonly string[]): Promise<Nanos> {
  const { rows } = await sql<{ readonly granted: string }>`
    select coalesce(sum(granted_nanos), 0)::text as granted from ledger_transfers where key = any(${[...keys]}::text[])
  `.execute(db);
  return nanos(BigInt(rows[0]?.granted ?? "0"));
}

export type TransferPoster = {
  /**
   * Resolves when the transfer is durable, or with the reason why it was not posted. Safe to repeat with the same key.
   */
  post(request: TransferRequest): Promise<TransferOutcome>;
  /** Resolves when no transfer is under way; used for a clean stop. */
  idle(): Promise<void>;
};

/**
 * Posts transfers that need no transaction of their caller: those of many callers share one statement and one commit.
 */
export function createTransferPoster(database: Database, clock: Clock): TransferPoster {
  const batcher = new MicroBatcher<TransferRequest, TransferOutcome>({
    maxBatch: BATCH_MAX,
    run: (batch) => withTransaction(database, clock, (tx) => postTransfers(tx, batch)),
  });
  return { post: (request) => batcher.submit(request), idle: () => batcher.idle() };
}

/**
 * The arguments of `ledger_post_batch` except for the time: distinct accounts, then one column per property of a
 * transfer.
 */
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
