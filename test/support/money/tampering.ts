// Changes that somebody can make with all of the database, but without the server's secret.
import { createHash } from "node:crypto";
import { nanos } from "../../../server/src/base/money.ts";
import type { Origin } from "../../../server/src/base/facts.ts";
import { asId, type ApiKeyId } from "../../../server/src/base/ids.ts";
import { withTransaction, type Tx } from "../../../server/src/db/transaction.ts";
import { recordAudit } from "../../../server/src/domains/people/accounts/index.ts";
import { issueCreditNotes } from "../../../server/src/domains/money/invoices/account-documents/credit-note-service.ts";
import { issueReceipts } from "../../../server/src/domains/money/invoices/account-documents/receipt-service.ts";
import { issueStatements } from "../../../server/src/domains/money/invoices/account-documents/statement-service.ts";
import { issueInvoices } from "../../../server/src/domains/money/invoices/documents/document-service.ts";
import { grantCredit } from "../../../server/src/domains/money/invoices/grants.ts";
import { UNNAMED_SELLER } from "../../../server/src/domains/money/invoices/index.ts";
import { creditOf, earningsOf, postTransfers } from "../../../server/src/domains/money/ledger/index.ts";
import { PAYOUTS } from "../../../server/src/domains/money/ledger/for-payments.ts";
import { putCap } from "../../../server/src/domains/money/ledger/for-limits.ts";
import { bookCorrection } from "../../../server/src/domains/money/payments/corrections/correction-service.ts";
import { endPayout, insertPayout } from "../../../server/src/domains/money/payments/payouts/payout-store.ts";
import { HOUR_MS, type AuditWorld } from "./audit-world.ts";

const DOLLAR = 1_000_000_000n;

/** The origin of all actions of persons here: the host, by a key and a request. */
function originIn({ hostId }: AuditWorld): Origin {
  return { userId: hostId, apiKeyId: 3, ipAddress: "198.51.100.7", requestId: "f00d-1" };
}

/** Runs something as the request of a person. */
export function asPerson<T>(world: AuditWorld, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withTransaction(world.env.database, world.clock, work, originIn(world));
}

/** A grant of $20 to the renter, as an administrator gives it. Returns the id of its transfer. */
export function aGrant(world: AuditWorld): Promise<bigint> {
  const { hostId, renterId } = world;
  return asPerson(world, async (tx) => {
    const actor = { userId: hostId, apiKeyId: asId<ApiKeyId>(3) };
    const id = await grantCredit(tx, { userId: renterId, amount: nanos(20n * DOLLAR), reason: "thanks", actor });
    await recordAudit(tx, actor, { ipAddress: "198.51.100.7", action: "api.admin.credit", args: { amount: 20 } });
    return id;
  });
}

/** $5 from the renter to the host. */
export function aTransfer(world: AuditWorld): Promise<void> {
  const { hostId, renterId } = world;
  return asPerson(world, async (tx) => {
    await postTransfers(tx, [
      {
        key: "credit_transfer:1",
        debit: creditOf(renterId),
        credit: creditOf(hostId),
        amount: nanos(5n * DOLLAR),
        code: "credit_transfer",
        cause: { api_key_id: 3, ip_address: "198.51.100.7" },
        description: "Credit from the renter to the host",
      },
    ]);
  });
}

/** A payout of $0.90 to the host that is due in a week. */
export function aPayout(world: AuditWorld): Promise<void> {
  const { hostId, clock } = world;
  return asPerson(world, async (tx) => {
    const now = clock.now();
    const payout = { userId: hostId, invoicedAt: now, dueAt: new Date(now.getTime() + 168 * HOUR_MS) };
    const amount = nanos(900_000_000n);
    const id = await insertPayout(tx, { ...payout, earned: 900_000_000n, feePpm: 0, fee: nanos(0n), amount });
    await postTransfers(tx, [
      {
        key: `payout:${String(id)}`,
        debit: earningsOf(hostId),
        credit: PAYOUTS,
        amount,
        code: "payout",
        cause: { payout_id: Number(id) },
        description: "Payout",
      },
    ]);
  });
}

/** An administrator says that the payout was sent. */
export async function settlePayout(world: AuditWorld): Promise<void> {
  const [payout] = await world.sql("select id from payouts");
  await asPerson(world, (tx) =>
    endPayout(tx, asId(Number(payout?.["id"])), { state: "paid", method: undefined, reference: "wire 1" }),
  );
}

/** The renter limits a key that pays for nothing yet to $10 a month. */
export function aCap(world: AuditWorld, limit = 10n * DOLLAR): Promise<unknown> {
  const { renterId: userId } = world;
  return asPerson(world, (tx) =>
    putCap(tx, {
      userId,
      scope: "key:3",
      period: "month",
      limit: nanos(limit),
      spent: nanos(0n),
      isCovered: true,
      stoppedBy: world.clock.now(),
    }),
  );
}

/** $5 that the renter paid in by wire. */
export function aPayment(world: AuditWorld): Promise<bigint> {
  const { renterId: userId, hostId } = world;
  const paid = { amount: nanos(5n * DOLLAR), reason: "wire", paidBy: "Wire 17", actor: { userId: hostId } };
  return asPerson(world, (tx) => grantCredit(tx, { userId, ...paid }));
}

/** $2 for the renter, which correct the first invoice. */
export function aCorrection(world: AuditWorld, reference = "2026-000001/1"): Promise<unknown> {
  const { renterId: userId, hostId: actorId } = world;
  const correction = { userId, actorId, amount: nanos(2n * DOLLAR), reason: "slow disk", reference };
  return asPerson(world, (tx) => bookCorrection(tx, { ...correction, side: "credit", direction: "up" }));
}

/** A month later: receipt, statement and invoice of the month are issued, and a credit note on the invoice. */
export async function someDocuments(world: AuditWorld): Promise<void> {
  const { env, clock } = world;
  const means = { database: env.database, clock, seller: UNNAMED_SELLER };
  await aPayment(world);
  clock.jump(32 * 24 * HOUR_MS);
  await issueReceipts(means);
  await issueStatements(means);
  await issueInvoices(means);
  await aCorrection(world);
  await issueCreditNotes(means);
}

type Forged = {
  readonly from: readonly [kind: string, userId: number | null];
  readonly to: readonly [kind: string, userId: number | null];
  readonly dollars: number;
  readonly code: string;
  readonly key: string;
  readonly cause?: object;
};

/** Inserts a transfer as the ledger would, balances and all. Returns its id. */
export async function forgeTransfer(world: AuditWorld, forged: Forged): Promise<bigint> {
  const { from, to, dollars, code, key, cause = {} } = forged;
  const account = async ([kind, userId]: Forged["from"]) => {
    await world.sql(
      `insert into ledger_accounts (user_id, kind, floor_nanos)
       values ($1, $2, case when $2 in ('stripe', 'issuance') then -9000000000000000000 else 0 end)
       on conflict do nothing`,
      [userId, kind],
    );
    const [row] = await world.sql(
      "select id from ledger_accounts where kind = $1 and user_id is not distinct from $2::integer",
      [kind, userId],
    );
    return Number(row?.["id"]);
  };
  const [debit, credit] = [await account(from), await account(to)];
  const nano = BigInt(dollars) * DOLLAR;
  await world.sql("alter table ledger_transfers disable trigger user");
  const [row] = await world.sql(
    `insert into ledger_transfers
       (key, debit_account_id, credit_account_id, amount_nanos, code, cause, description, created_at)
     values ($1, $2, $3, $4, $5, $6, 'forged', $7) returning id`,
    [key, debit, credit, nano, code, JSON.stringify(cause), world.clock.now()],
  );
  await world.sql("alter table ledger_transfers enable trigger user");
  await world.sql("update ledger_accounts set balance_nanos = balance_nanos - $2 where id = $1", [debit, nano]);
  await world.sql("update ledger_accounts set balance_nanos = balance_nanos + $2 where id = $1", [credit, nano]);
  return BigInt(String(row?.["id"]));
}

/** A forged grant of $500 to the renter. */
export function forgeGrant(world: AuditWorld): Promise<bigint> {
  const { renterId, hostId } = world;
  return forgeTransfer(world, {
    from: ["issuance", null],
    to: ["credit", renterId],
    dollars: 500,
    code: "credit_granted",
    key: "credit_granted:forged",
    cause: { actor_id: hostId, api_key_id: 3 },
  });
}

/** A forged credit of a card payment that came back. */
export function forgeRefund(world: AuditWorld): Promise<bigint> {
  return forgeTransfer(world, {
    from: ["stripe", null],
    to: ["credit", world.renterId],
    dollars: 40,
    code: "refund",
    key: "refund:forged",
    cause: { reason: "goodwill" },
  });
}

/** Deletes a transfer and takes its effect on balances back. */
export async function removeTransfer(world: AuditWorld, key: string): Promise<void> {
  await world.sql(
    `update ledger_accounts a set
       balance_nanos = a.balance_nanos + case when a.id = t.debit_account_id then 1 else -1 end * t.amount_nanos,
       granted_nanos = a.granted_nanos + case when a.id = t.debit_account_id then 1 else -1 end * t.granted_nanos
     from ledger_transfers t where t.key = $1 and a.id in (t.debit_account_id, t.credit_account_id)`,
    [key],
  );
  await world.plant("ledger_transfers", "delete from ledger_transfers where key = $1", [key]);
}

/** Writes a fact for a transfer, and a link for it, with right hashes and a signature by another secret. */
export async function forgeLink(world: AuditWorld, text: string, signature: string): Promise<void> {
  const [head] = await world.sql("select number, sha256 from fact_head");
  const number = BigInt(String(head?.["number"])) + 1n;
  const at = world.clock.now();
  const sha256 = createHash("sha256")
    .update(`${String(head?.["sha256"])}\n${number} ${at.toISOString()}\n${text}\n`)
    .digest("hex");
  const { kind, subject } = JSON.parse(text) as { kind: string; subject: string };
  await world.sql(
    "insert into fact_links (number, made_at, fact_count, sha256, signature) values ($1, $2, 1, $3, $4)",
    [number, at, sha256, signature],
  );
  await world.sql("insert into facts (link_number, position, kind, subject, text) values ($1, 1, $2, $3, $4)", [
    number,
    kind,
    subject,
    text,
  ]);
  await world.sql("update fact_head set number = $1, sha256 = $2", [number, sha256]);
}

/** Deletes the last links, and sets the head to the last link that is left. */
export async function dropLastLinks(world: AuditWorld, count: number): Promise<void> {
  const [head] = await world.sql("select max(number) - $1 as number from fact_links", [count]);
  const number = head?.["number"];
  await world.plant("facts", "delete from facts where link_number > $1", [number]);
  await world.plant("fact_links", "delete from fact_links where number > $1", [number]);
  await world.sql("update fact_head set number = l.number, sha256 = l.sha256 from fact_links l where l.number = $1", [
    number,
  ]);
}
