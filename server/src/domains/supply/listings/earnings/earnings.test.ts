import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { settleNow } from "../../../../../../test/support/money/charges.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { rentAndRun } from "../../../../../../test/support/rentals.ts";
import { parseDollars } from "../../../../base/money.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const read = async (world: TestApp, by: TestCaller, path: string, query: Readonly<Record<string, unknown>> = {}) => {
  const texts = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const text = new URLSearchParams(texts).toString();
  return world.call({ url: `${path}${text === "" ? "" : `?${text}`}`, secret: by.secret });
};
const PAGE = "/api/v1/user/earnings/";
const exact = (dollars: number): bigint => parseDollars(dollars) ?? 0n;

/** A host with two machines on which rentals paid for odd parts of hours on three days. */
async function aPast(world: TestApp) {
  const [owner, renter] = [await world.caller({ dollars: 0 }), await world.caller({ dollars: 1000 })];
  const [host, other] = [await world.host({ owner, gpus: 1 }), await world.host({ owner, gpus: 1 })];
  const day = Math.floor(world.clock.now().getTime() / DAY_MS);
  await rentAndRun(world, renter, host);
  for (const ms of [7_777_777, DAY_MS + 1, DAY_MS - 12_345]) {
    world.clock.jump(ms);
    await host.obey();
    await settleNow(world);
  }
  await rentAndRun(world, renter, other);
  world.clock.jump(1_234_567);
  await host.obey();
  await other.obey();
  await settleNow(world);
  const booked = async (byDay?: number) => {
    const { rows } = await world.env.pool.query<{ sum: bigint }>(
      `select coalesce(sum(t.amount_nanos), 0)::bigint as sum from ledger_transfers t
       join ledger_accounts a on a.id = t.credit_account_id
       where a.user_id = $1 and a.kind = 'earnings' and t.code like 'usage_%'
         and ($2::integer is null or floor(extract(epoch from t.created_at) / 86400) = $2)`,
      [owner.id, byDay ?? null],
    );
    return rows[0]!.sum;
  };
  return { owner, renter, host, other, day, booked };
}

type Row = { readonly day?: number; readonly machine_id?: number; readonly total_earn: number } & Record<
  string,
  number
>;

test("earnings by day, by machine, in all and in a chart agree with the ledger to the nano-dollar", async (t) => {
  const world = await testApp(t);
  const { owner, host, other, day, booked } = await aPast(world);
  const sumOf = (rows: readonly Row[]) => rows.reduce((total, row): bigint => total + exact(row.total_earn), 0n);
  const all = await booked();
  assert.ok(all > 0n && all % 1000n !== 0n, "amounts with digits that rounding would lose");
  const check = async () => {
    const { body: byDay } = await read(world, owner, PAGE);
    assert.deepEqual(
      byDay.rows.map((row: Row) => row.day),
      [day, day + 1, day + 2],
    );
    for (const row of byDay.rows as readonly Row[]) {
      assert.equal(exact(row.total_earn), await booked(row.day));
      const parts = ["gpu_earn", "sto_earn", "bwu_earn", "bwd_earn"].map((name) => exact(row[name] ?? 0));
      assert.equal(
        parts.reduce((total, part) => total + part, 0n),
        exact(row.total_earn),
      );
    }
    const { body: byMachine } = await read(world, owner, PAGE, { group_by: "machine" });
    assert.deepEqual(
      byMachine.rows.map((row: Row) => row.machine_id),
      [host.machineId, other.machineId],
    );
    const { body: chart } = await read(world, owner, `${PAGE}chart/`);
    assert.equal(chart.chart.length, 30);
    const { body: summary } = await read(world, owner, `${PAGE}summary/`);
    const { body: shown } = await read(world, owner, "/api/v0/user/earnings");
    assert.deepEqual(
      [sumOf(byDay.rows), sumOf(byMachine.rows), sumOf(chart.chart), exact(byDay.total.total_earn)],
      [all, all, all, all],
    );
    assert.deepEqual(
      [exact(chart.total.total_earn), exact(summary.summary.total_earn), exact(shown.machine_earnings)],
      [all, all, all],
    );
    assert.ok(summary.summary.reliability > 0 && summary.summary.reliability <= 1);
    const { body: data } = await read(world, owner, "/api/v0/user/earnings/data", { last_days: 30 });
    const { body: report } = await read(world, owner, "/api/v0/users/me/machine-earnings/");
    const { summary: totals, per_machine, per_day } = report;
    assert.deepEqual(data, {
      success: true,
      machine_earnings: { summary: totals, per_machine, per_day },
      referral_earnings: [],
      referral_count: [],
    });
  };
  await check();
  // Read from the transfers, or from the sums of days that are added up in the background.
  world.clock.jump(HOUR_MS);
  for (let round = 0; round < 12; round += 1) await world.runLoop("add-up-earnings");
  await check();
});

test("rows of earnings come in any order and page by page, and filters narrow them with their total", async (t) => {
  const world = await testApp(t);
  const { owner, renter, host, other, day, booked } = await aPast(world);
  const rowsOf = async (query: Readonly<Record<string, unknown>>) => {
    const { status, body, text } = await read(world, owner, PAGE, query);
    assert.equal(status, 200, text);
    assert.deepEqual([body.success, body.rows_found], [true, body.rows.length]);
    return body;
  };
  const order = [{ col: "total_earn", dir: "desc" }];
  const first = await rowsOf({ limit: 2, order_by: order });
  assert.deepEqual([first.total_rows, first.rows_found], [3, 2]);
  const second = await rowsOf({ limit: 2, order_by: order, after_token: first.next_token });
  assert.deepEqual([second.rows_found, second.next_token], [1, null]);
  const amounts = [...first.rows, ...second.rows].map((row: Row) => row.total_earn);
  assert.deepEqual(
    amounts,
    amounts.toSorted((a, b) => b - a),
  );
  assert.equal(new Set([...first.rows, ...second.rows].map((row: Row) => row.day)).size, 3);
  const second_day = [day + 1, (day + 1) * 86_400, new Date((day + 1) * DAY_MS).toISOString().slice(0, 10)];
  for (const at of second_day) {
    const only = await rowsOf({ select_filters: { day: { gte: at, lte: at } } });
    assert.deepEqual([only.rows.length, exact(only.total.total_earn)], [1, await booked(day + 1)]);
  }
  const ofOther = await rowsOf({ select_filters: { machine_id: { in: [other.machineId] } }, group_by: "machine" });
  assert.deepEqual(
    ofOther.rows.map((row: Row) => row.machine_id),
    [other.machineId],
  );
  const ofHost = await rowsOf({ select_filters: { machine_id: { eq: host.machineId } } });
  assert.equal(exact(ofOther.total.total_earn) + exact(ofHost.total.total_earn), await booked());
  assert.deepEqual((await read(world, renter, PAGE)).body.rows, [], "a renter earned nothing");
  assert.deepEqual((await read(world, renter, "/api/v0/user/earnings")).body, {
    referral_count: 0,
    referral_credits: 0,
  });
  assert.equal((await read(world, renter, `${PAGE}summary/`)).body.summary.reliability, null);
});

test("an earnings query that cannot be read is refused by its field", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  for (const [field, query] of [
    ["group_by", { group_by: "week" }],
    ["limit", { limit: 0 }],
    ["limit", { limit: 501 }],
    ["limit", { limit: 1.5 }],
    ["order_by[0]", { order_by: ["magic"] }],
    ["order_by[0]", { order_by: ["machine_id"], group_by: "day" }],
    ["after_token", { after_token: "x" }],
    ["select_filters", { select_filters: [] }],
    ["select_filters.magic", { select_filters: { magic: { eq: 1 } } }],
    ["select_filters.day", { select_filters: { day: 1 } }],
    ["select_filters.day", { select_filters: { day: { near: 1 } } }],
    ["select_filters.day", { select_filters: { day: { gte: 20_000, lt: 20_000 } } }],
    ["select_filters.day", { select_filters: { day: { gte: 1, lte: 20_000 } } }],
    ["select_filters.day.gte", { select_filters: { day: { gte: "soon" } } }],
    ["select_filters.day.gte", { select_filters: { day: { gte: -1 } } }],
    ["select_filters.machine_id", { select_filters: { machine_id: { gt: 1 } } }],
    ["select_filters.machine_id.eq", { select_filters: { machine_id: { eq: "all" } } }],
  ] as const) {
    const answer = await read(world, owner, PAGE, query);
    assert.deepEqual([answer.status, answer.body.field], [400, field], `${JSON.stringify(query)}: ${answer.text}`);
  }
  const answer = await read(world, owner, `${PAGE}chart/`, { select_filters: { day: { gte: 1, lte: 20_000 } } });
  assert.deepEqual([answer.status, answer.body.field], [400, "select_filters.day"]);
  const scoped = await world.caller({ permissions: { api: { machine_read: {} } } });
  assert.equal((await read(world, scoped, PAGE)).status, 403);
});
