// Credits for faults, payouts, arrears and documents: the audit's findings after somebody wrote into them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { addUpDays } from "../../../../../../test/support/money/audit-rows.ts";
import { auditWorld, HOUR_MS, type AuditWorld } from "../../../../../../test/support/money/audit-world.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { nanos } from "../../../../base/money.ts";
import { issueInvoices } from "../../invoices/documents/document-service.ts";
import type { DocumentContent } from "../../invoices/documents/rules/document.ts";
import { UNNAMED_SELLER } from "../../invoices/index.ts";
import { creditOf, earningsOf, LOSSES, postTransfers, type TransferRequest } from "../../ledger/index.ts";
import { addUpEarnings } from "../../ledger/earnings/earnings-store.ts";
import { audit } from "../audit-service.ts";

/** Time after which the month's documents are due. */
const MONTH_MS = 33 * 24 * HOUR_MS;

async function differencesIn(world: AuditWorld): Promise<readonly string[]> {
  const { checks } = await audit({ database: world.env.database, clock: world.clock }, { isFull: true });
  return checks.flatMap(({ name, differences }) =>
    differences.map(
      ({ subject, problem, stored, expected }) => `${name}: ${subject}: ${problem}: ${stored}, ${expected}`,
    ),
  );
}

async function post({ env, clock }: AuditWorld, requests: readonly Omit<TransferRequest, "description">[]) {
  await withTransaction(env.database, clock, (tx) =>
    postTransfers(
      tx,
      requests.map((request) => ({ ...request, description: "for a test" })),
    ),
  );
}

/** A run that its host failed, and written-off arrears of another user. */
async function reliefs(world: AuditWorld): Promise<void> {
  const { sql, clock, instanceId, renterId, hostId } = world;
  await sql(
    "insert into host_faults (instance_id, generation, reason, at, settled_at, credited_nanos) values ($1, 1, 'host_lost', $2, $2, 5)",
    [instanceId, clock.now()],
  );
  const [arrears] = await sql(
    `insert into arrears (user_id, began_at, delete_at, daily_spend_nanos, storage_nanos_per_hour, floor_nanos, ended_at,
       outcome, written_off_nanos)
     values ($1, $2::timestamptz - interval '3 days', $2, 0, 1, -7, $2, 'deleted', 7) returning id`,
    [renterId, clock.now()],
  );
  const arrearsId = Number(arrears?.["id"]);
  const ofFault = {
    code: "host_credit",
    credit: creditOf(renterId),
    cause: { instance_id: instanceId, generation: 1 },
  } as const;
  const key = `host_credit:${instanceId}:1`;
  await post(world, [
    { ...ofFault, key, debit: earningsOf(hostId), amount: nanos(3n) },
    { ...ofFault, key: `${key}:losses`, debit: LOSSES, amount: nanos(2n) },
    {
      key: `arrears:${arrearsId}:write-off`,
      debit: LOSSES,
      credit: creditOf(renterId),
      amount: nanos(7n),
      code: "write_off",
      cause: { arrears_id: arrearsId },
    },
  ]);
}

/** Adds up all charges, and ends the month. */
async function endMonth({ env, clock }: AuditWorld): Promise<void> {
  clock.jump(MONTH_MS);
  await issueInvoices({ database: env.database, clock, seller: { ...UNNAMED_SELLER, taxPpm: 190_000 } });
}

async function addUpEarned({ env, clock }: AuditWorld): Promise<void> {
  for (let hour = 0; hour < 4; hour += 1) {
    clock.jump(HOUR_MS);
    await withTransaction(env.database, clock, addUpEarnings);
  }
}

async function wholeWorld(t: Parameters<typeof auditWorld>[0]): Promise<AuditWorld> {
  const world = await auditWorld(t);
  await reliefs(world);
  await addUpDays(world);
  await addUpEarned(world);
  await endMonth(world);
  return world;
}

test("credits, earnings and documents have no difference until somebody writes into them", async (t) => {
  const world = await wholeWorld(t);
  assert.deepEqual(await differencesIn(world), []);
  const { checks } = await audit({ database: world.env.database, clock: world.clock }, { isFull: true });
  const counts = checks.filter(({ name }) => ["faults", "arrears", "invoices"].includes(name));
  assert.deepEqual(
    counts.map(({ examinedCount }) => examinedCount > 0),
    [true, true, true],
  );
});

const MISTAKES: readonly {
  readonly what: string;
  readonly table: string;
  readonly statement: string;
  readonly problem: RegExp;
}[] = [
  {
    what: "a fault with a larger credit",
    table: "host_faults",
    statement: "update host_faults set credited_nanos = 6",
    problem: /^faults: run 1 of instance \d+: its transfers credited another amount: 5, 6/,
  },
  {
    what: "a credit above the price of its run",
    table: "charge_lines",
    statement: "update charge_lines set instance_id = instance_id + 1 where component = 'gpu' and paid_from = 'credit'",
    problem: /^faults: run 1 of instance \d+: more was credited than was paid for it: 5, at most 0/,
  },
  {
    what: "credit without a fault",
    table: "host_faults",
    statement: "delete from host_faults",
    problem: /^faults: transfer \d+: no fault of a host is the reason for it/,
  },
  {
    what: "arrears with a larger write-off",
    table: "arrears",
    statement: "update arrears set written_off_nanos = 8",
    problem: /^arrears: arrears \d+: another amount was written off for them: 7, 8/,
  },
  {
    what: "a write-off without arrears",
    table: "arrears",
    statement: "delete from arrears",
    problem: /^arrears: transfer \d+: no arrears are the reason for it/,
  },
  {
    what: "a negative minimum balance without arrears",
    table: "ledger_accounts",
    statement: "update ledger_accounts set floor_nanos = -1 where kind = 'credit'",
    problem: /^arrears: credit of user \d+: it may go below zero by another amount: -1, 0/,
  },
  {
    what: "arrears with another minimum balance than their account",
    table: "arrears",
    statement: "update arrears set ended_at = null, outcome = null, written_off_nanos = 0",
    problem: /^arrears: credit of user \d+: it may go below zero by another amount: 0, -7/,
  },
  {
    what: "a contract that is charged to another account",
    table: "instances",
    statement: "update instances set user_id = (select host_id from machines limit 1)",
    problem: /^transfers: line \d+: its contract is somebody else's: user \d+, user \d+/,
  },
  {
    what: "a volume that is charged to another account",
    table: "volumes",
    statement: "update volumes set user_id = (select host_id from machines limit 1)",
    problem: /^transfers: line \d+: its contract is somebody else's/,
  },
  {
    what: "a deposit with another count of prepayments",
    table: "deposits",
    statement: "update deposits set prepay_count = 2",
    problem: /^deposits: deposit of instance \d+: another number of payments went into it: 2, 1/,
  },
  {
    what: "a discount with a larger saving",
    table: "deposits",
    statement: "update deposits set saved_nanos = saved_nanos + 1",
    problem: /^deposits: deposit of instance \d+: its discount saved another amount: \$0.000000001, \$0/,
  },
  {
    what: "another settled part of earnings",
    table: "payout_bases",
    statement: "insert into payout_bases select host_id, 1 from machines limit 1",
    problem: /^payments: earnings of user \d+: its settled part is not the one that its payouts leave: 1, 0/,
  },
  {
    what: "a sum of earnings with another amount",
    table: "ledger_earned_days",
    statement: "update ledger_earned_days set amount_nanos = amount_nanos + 1 where code = 'usage_gpu'",
    problem:
      /^days: 2026-03-01 of host \d+: usage_gpu of machine \d+: its sum is not what its transfers come to: \d+, \d+/,
  },
  {
    what: "a sum of earnings that is gone",
    table: "ledger_earned_days",
    statement: "delete from ledger_earned_days where code = 'usage_storage'",
    problem: /^days: 2026-03-01 of host \d+: usage_storage of machine \d+: .*: 0, \d+/,
  },
  {
    what: "an invoice with another total",
    table: "invoice_documents",
    statement: "update invoice_documents set content = jsonb_set(content, '{total_cents}', '1')",
    problem: /^invoices: invoice 2026-000001: its total is not that of its month: 1, \d+/,
  },
  {
    what: "an invoice with another line",
    table: "invoice_documents",
    statement: "update invoice_documents set content = jsonb_set(content, '{lines,0,amount_cents}', '1')",
    problem: /^invoices: invoice 2026-000001: its gpu of instance-\d+ is not that of its month/,
  },
  {
    what: "an invoice with another movement",
    table: "invoice_documents",
    statement: "update invoice_documents set content = jsonb_set(content, '{balance,entries,0,amount_cents}', '1')",
    problem: /^invoices: invoice 2026-000001: its movement 1 is not that of its month: 1, \d+/,
  },
  {
    what: "an invoice with another balance at its end",
    table: "invoice_documents",
    statement: `update invoice_documents set content = jsonb_set(content, '{balance,closing_nanos}', '"1"')`,
    problem: /^invoices: invoice 2026-000001: its closing is not that of its month/,
  },
  {
    what: "an invoice that is gone",
    table: "invoice_documents",
    statement: "delete from invoice_documents where sequence = 1",
    problem: /^invoices: invoices 2026: a number of them is missing, or there is one too many/,
  },
];

test("an invoice may change its words, but not its amounts", async (t) => {
  const world = await wholeWorld(t);
  const [first] = await world.sql(
    "select number, content from invoice_documents where content->'balance'->'entries' <> '[]'",
  );
  assert.ok(first);
  const { lines, balance, ...content } = first["content"] as DocumentContent;
  const said = {
    ...content,
    lines: lines.map((line) => ({ ...line, description: "Something", unit: "of it" })),
    balance: { ...balance, entries: balance.entries.map((entry) => ({ ...entry, label: "Money" })) },
  };
  await world.plant("invoice_documents", "update invoice_documents set content = $1 where number = $2", [
    JSON.stringify(said),
    first["number"],
  ]);
  const found = await differencesIn(world);
  assert.deepEqual(
    found.filter((text) => !text.startsWith("facts: ")),
    [],
  );
  assert.equal(found.length, 1, "the chain of facts names an issued invoice that was written into");
});

test("finds each mistake in credits, earnings and documents", async (t) => {
  for (const { what, table, statement, problem } of MISTAKES) {
    await t.test(what, async (part) => {
      const world = await wholeWorld(part);
      await world.plant(table, statement);
      const found = await differencesIn(world);
      assert.ok(
        found.some((text) => problem.test(text)),
        `it says: ${found.join("\n")}`,
      );
    });
  }
});
