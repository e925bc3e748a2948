import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { inTransaction, makeFundedUser, makeUsers, transferOf } from "../../../../../test/support/money/ledger.ts";
import { testDatabase } from "../../../../../test/support/database/postgres.ts";
import { loadAmount } from "../../../../../test/support/money/transfer-load.ts";
import { systemClock } from "../../../base/clock.ts";
import { nanos } from "../../../base/money.ts";
import { auditLedger, balanceOf, createTransferPoster, creditOf, placeHold, postTransfers } from "./index.ts";
import { releaseHold } from "./index.ts";

const LOAD = path.join(import.meta.dirname, "../../../../../test/support/money/transfer-load.ts");
/** The application name by which PostgreSQL knows the connections of the process that is killed. */
const LOAD_NAME = "transfer-load";

test("many clients of several processes on one hot account lose nothing, invent nothing and never overdraw", async (t) => {
  const { database } = await testDatabase(t);
  const funds = 400n;
  const hot = await makeFundedUser(database, funds);
  const others = await makeUsers(database.pool, 8);
  // Two posters stand for two server processes; rents and charges run their own transactions between them.
  const posters = [createTransferPoster(database, systemClock), createTransferPoster(database, systemClock)];
  let spent = 0n;
  let earned = 0n;
  const callers = Array.from({ length: 24 }, async (_, index) => {
    const other = others[index % others.length];
    const poster = posters[index % posters.length];
    assert.ok(other !== undefined && poster !== undefined);
    for (let round = 0; round < 12; round += 1) {
      const pay = transferOf({ debit: creditOf(hot), credit: creditOf(other), amount: 5n });
      const giveBack = transferOf({ debit: creditOf(other), credit: creditOf(hot), amount: 3n });
      if ((await poster.post(pay)).kind === "posted") spent += 5n;
      if ((await poster.post(giveBack)).kind === "posted") earned += 3n;
      const hold = await inTransaction(database, (tx) =>
        placeHold(tx, { userId: hot, amount: nanos(7n), cause: {}, scopes: [] }),
      );
      await inTransaction(database, async (tx) => {
        if (hold.kind === "placed") await releaseHold(tx, hold.holdId);
        const together = [pay, giveBack].map((request) => ({ ...request, key: `${request.key} again` }));
        const outcomes = await postTransfers(tx, together);
        if (outcomes[0]?.kind === "posted") spent += 5n;
        if (outcomes[1]?.kind === "posted") earned += 3n;
      });
    }
  });
  await Promise.all(callers);
  assert.ok(spent > funds, "the account reached its minimum balance at some time");
  assert.deepEqual(await balanceOf(database.kysely, hot), {
    balance: funds - spent + earned,
    held: 0n,
    available: funds - spent + earned,
  });
  assert.deepEqual((await auditLedger(database.kysely)).differences, []);
});

test("one transfer that many clients send at once is posted once", async (t) => {
  const { database } = await testDatabase(t);
  const payer = await makeFundedUser(database, 1000n);
  const [payee] = await makeUsers(database.pool, 1);
  assert.ok(payee !== undefined);
  const posters = Array.from({ length: 6 }, () => createTransferPoster(database, systemClock));
  for (let round = 0; round < 20; round += 1) {
    const request = transferOf({ debit: creditOf(payer), credit: creditOf(payee), amount: 10n });
    const outcomes = await Promise.all(posters.flatMap((poster) => [poster.post(request), poster.post(request)]));
    assert.equal(outcomes.filter(({ kind }) => kind === "posted").length, 1);
    assert.equal(outcomes.filter(({ kind }) => kind === "exists").length, outcomes.length - 1);
  }
  assert.equal((await balanceOf(database.kysely, payee)).balance, 200n);
});

test("a key that transfers between different accounts race for is posted once, and the others get a conflict", async (t) => {
  const { database } = await testDatabase(t);
  // Pairs with no account in common: they wait for each other only because of the key.
  const pairs = await Promise.all(
    Array.from(
      { length: 6 },
      async () => [await makeFundedUser(database, 1000n), await makeFundedUser(database, 1n)] as const,
    ),
  );
  const racers = pairs.map(([payer, payee]) => ({ payer, payee, poster: createTransferPoster(database, systemClock) }));
  for (let round = 0; round < 20; round += 1) {
    const key = crypto.randomUUID();
    const outcomes = await Promise.all(
      racers.map(({ payer, payee, poster }) =>
        poster.post(transferOf({ debit: creditOf(payer), credit: creditOf(payee), amount: 1n, key })),
      ),
    );
    assert.equal(outcomes.filter(({ kind }) => kind === "posted").length, 1);
    assert.equal(outcomes.filter(({ kind }) => kind === "key_conflict").length, racers.length - 1);
  }
  assert.deepEqual((await auditLedger(database.kysely)).differences, []);
});

test("kill -9 of a client in the middle of a load loses no acknowledged transfer and invents none", async (t) => {
  const { database, url } = await testDatabase(t);
  const payer = await makeFundedUser(database, 10n ** 12n);
  const [payee] = await makeUsers(database.pool, 1);
  assert.ok(payee !== undefined);
  const acknowledged: number[] = [];
  const named = new URL(url);
  named.searchParams.set("application_name", LOAD_NAME);
  for (const target of [150, 400]) {
    const child = spawn(process.execPath, [LOAD, named.href, String(payer), String(payee), "32"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: child.stdout });
    let said = 0;
    lines.on("line", (line) => {
      acknowledged.push(Number(line));
      if ((said += 1) === target) child.kill("SIGKILL");
    });
    await once(lines, "close");
    assert.ok(said >= target, "the load ran until it was killed");
  }
  // The second process repeats the keys of the first: keys that were posted are not posted again.
  assert.equal(new Set(acknowledged).size, acknowledged.length);
  await waitForStrayTransactions(database);
  const { rows } = await database.pool.query<{ key: string; amount_nanos: bigint }>(
    "select key, amount_nanos from ledger_transfers where key like 'load-%'",
  );
  const stored = new Map(rows.map(({ key, amount_nanos }) => [Number(key.slice("load-".length)), amount_nanos]));
  for (const n of acknowledged) assert.ok(stored.has(n), `transfer ${n} was acknowledged and is not there`);
  for (const [n, amount] of stored) assert.equal(amount, loadAmount(n));
  const sum = [...stored.values()].reduce((total, amount) => total + amount, 0n);
  assert.equal((await balanceOf(database.kysely, payee)).balance, sum);
  assert.deepEqual((await auditLedger(database.kysely)).differences, []);
});

/**
 * Waits until the server has closed every connection of the dead client. A statement of it may still finish until then,
 * and a commit may still be read; locking the same rows waits for both.
 */
async function waitForStrayTransactions({ pool }: Awaited<ReturnType<typeof testDatabase>>["database"]): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(
      "select from pg_stat_activity where datname = current_database() and application_name = $1",
      [LOAD_NAME],
    );
    if (rowCount === 0) return;
    await pool.query("select from ledger_accounts order by id for update");
  }
}
