// From a running container to its invoice, through the whole server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import { DAY_MS, HOUR_MS, listedHost, pass, prepay } from "../../../../../test/support/money/contracts.ts";
import { ManualClock } from "../../../../../test/support/manual-clock.ts";
import { aCaller } from "../../../../../test/support/fixtures.ts";
import { destroy, rentAndRun } from "../../../../../test/support/rentals.ts";
import { systemClock } from "../../../base/clock.ts";
import { parseDollars, roundHalfUp } from "../../../base/money.ts";

const CENT = 10_000_000n;

type Line = {
  readonly type: string;
  readonly description: string;
  readonly amount: number;
  readonly start: number;
  readonly end: number;
  readonly machine_id: number | null;
  readonly hardware: string | null;
  readonly label: string | null;
};

type Listed = {
  readonly type: string;
  readonly amount_exact: string;
  readonly metadata: { readonly service: string; readonly paid_from?: string };
};

test("a run is charged, named by its label, and on the invoice of its month", async (t) => {
  // Credit is granted at the real time of the test, and everything else happens after it.
  const today = systemClock.now();
  const start = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 2, 5, 12);
  const world = await testApp(t, { clock: new ManualClock(start) });
  const [host, user, other] = [
    await listedHost(world, { days: 90 }),
    await world.caller({ dollars: 500 }),
    await world.caller({ dollars: 1 }),
  ];
  const id = await rentAndRun(world, user, host, { label: "train" });
  await pass(world, host, 2 * HOUR_MS);
  await destroy(world, user, id);
  await pass(world, host, HOUR_MS);
  await world.runLoop("settle-runs");

  const filters = JSON.stringify({ day: { gte: start / 1000, lte: start / 1000 } });
  const query = `?select_filters=${encodeURIComponent(filters)}`;
  const charges = (await world.call({ url: `/api/v0/charges/${query}`, secret: user.secret })).body;
  const rows = charges.results.filter((row: { source: string }) => row.source === `instance-${id}`);
  assert.ok(rows.length > 0);
  assert.equal(rows[0].metadata.label, "train");
  const body = { label: "train", contract_ids: [id] };
  const fetched = await world.call({ method: "POST", url: "/api/v0/contracts/fetch/", secret: user.secret, body });
  assert.deepEqual(fetched.body.contracts, [{ id, label: "train" }]);
  const foreign = await world.call({ method: "POST", url: "/api/v0/contracts/fetch/", secret: other.secret, body });
  assert.deepEqual(foreign.body.contracts, []);

  world.clock.jump(40 * DAY_MS);
  await world.runLoop("add-up-charges");
  await world.runLoop("issue-invoices");
  const list = (await world.call({ url: "/api/v0/invoice_documents/", secret: user.secret })).body;
  const [last] = list.results;
  const invoice = (await world.call({ url: `/api/v0/invoice_documents/${last.number}/`, secret: user.secret })).body;
  const exact = parseDollars(charges.total_amount) ?? 0n;
  assert.ok(exact > 0n);
  assert.equal(BigInt(Math.round(invoice.total * 100)), roundHalfUp(exact, CENT) / CENT);
  for (const { description, machine_id: machineId, hardware, label } of invoice.lines as readonly Line[]) {
    assert.match(description, new RegExp(`^Instance ${id} \\(train\\), 1× .+ on machine ${host.machineId}: `));
    assert.deepEqual([machineId, hardware?.startsWith("1× "), label], [host.machineId, true, "train"]);
  }
});

test("discounts, the discount that an early end returns, and its fee are lines inside the total of the invoice", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world, { days: 90 }), await world.caller({ dollars: 0 })];
  const admin = await aCaller(world.env.database, { isAdmin: true });
  const grant = { email: user.email, amount: 500 };
  await world.call({ method: "POST", url: "/api/v0/admin/credit/", secret: admin.secret, body: grant });
  const id = await rentAndRun(world, user, host);
  assert.equal((await prepay(world, user, id, 300)).status, 200);
  await pass(world, host, 48 * HOUR_MS);
  await world.runLoop("settle-runs");
  await destroy(world, user, id);
  await pass(world, host, HOUR_MS);
  await world.runLoop("settle-runs");
  assert.deepEqual(await world.runLoop("return-deposits"), { returned: 1 });
  world.clock.jump(40 * DAY_MS);
  await world.runLoop("add-up-charges");
  await world.runLoop("issue-invoices");
  const list = (await world.call({ url: "/api/v0/invoice_documents/", secret: user.secret })).body;
  const url = `/api/v0/invoice_documents/${list.results.at(-1).number}/`;
  const { balance, lines, total } = (await world.call({ url, secret: user.secret })).body;
  assert.equal(balance.opening, 0);
  assert.deepEqual(
    balance.entries.map(({ label }: { label: string }) => label),
    ["Credit granted"],
  );
  const typed = (wanted: string): Line => lines.find(({ type }: Line) => type === wanted);
  const cents = (wanted: string) => BigInt(Math.round(typed(wanted).amount * 100));
  const all: bigint = lines.reduce((sum: bigint, { amount }: Line) => sum + BigInt(Math.round(amount * 100)), 0n);
  assert.equal(all, BigInt(Math.round(total * 100)), "the lines are the total, fees and discounts included");
  const paid = await world.env.pool.query<{ amount: string }>(
    "select sum(amount_nanos)::text as amount from charge_lines where payer_id = $1 and component = 'gpu'",
    [user.id],
  );
  const differs = cents("gpu") + cents("discount") - BigInt(paid.rows[0]?.amount ?? 0) / CENT;
  assert.ok(cents("discount") < 0n && differs >= -1n && differs <= 1n, "the list price less the discount was paid");

  const filters = JSON.stringify({ when: { gte: 0, lte: world.clock.now().getTime() / 1000 } });
  const path = `/api/v1/invoices/?select_filters=${encodeURIComponent(filters)}&limit=500`;
  const rows: readonly Listed[] = (await world.call({ url: path, secret: user.secret })).body.results;
  const listed = (isWanted: (row: Listed) => boolean) =>
    rows.filter(isWanted).reduce((sum, { amount_exact: amount }) => sum + (parseDollars(amount) ?? 0n), 0n);
  const isTaken = ({ metadata }: Listed) => metadata.paid_from === "deposit";
  for (const [type, service] of [
    ["fee", "fee"],
    ["discount_returned", "refund"],
  ] as const) {
    const exact = listed((row) => isTaken(row) && row.metadata.service === service);
    assert.ok(exact < 0n);
    const off = exact / CENT + cents(type);
    assert.ok(off >= -1n && off <= 1n, `${type}: ${exact} is on the invoice as ${typed(type).amount}`);
    assert.match(typed(type).description, new RegExp(`^Instance ${id}, .+ on machine ${host.machineId}: `));
  }
  // Each held nano-dollar is in a list: charged, taken at the end, or returned.
  const sums = await world.env.pool.query<{ used: string }>(
    "select sum(amount_nanos)::text as used from charge_lines where payer_id = $1 and paid_from = 'deposit'",
    [user.id],
  );
  const isOwnRefund = ({ type }: Listed) => type === "refund";
  const set = listed((row) => row.type === "reserved" && !isTaken(row));
  assert.equal(-set, BigInt(sums.rows[0]?.used ?? 0) + listed(isOwnRefund) - listed(isTaken));
});
