import assert from "node:assert/strict";
import { after, test } from "node:test";
import { postCharges } from "../../../../../../test/support/money/charge-lines.ts";
import { aCaller, aKey, inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { grantOf } from "../../../../../../test/support/money/ledger.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { serveRoutes } from "../../../../../../test/support/network/serve.ts";
import { systemClock, type Clock } from "../../../../base/clock.ts";
import { NANOS_PER_DOLLAR, parseDollars } from "../../../../base/money.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { createTransferPoster, postTransfers } from "../../ledger/index.ts";
import { chargeDayLoop } from "../../charging/for-assembly.ts";
import type { ChargeRow } from "./charge-schema.ts";
import { invoiceRoutes } from "../index.ts";

const { database, pool } = await testDatabase();
const clock: Clock = { ...systemClock, now: () => new Date("2026-03-10T12:00:00Z") };
const poster = createTransferPoster(database, clock);
const { call, close } = await serveRoutes(database, (scope) => invoiceRoutes(scope, { poster }), clock);
after(close);

const DOLLAR = NANOS_PER_DOLLAR;
const seconds = (text: string) => Date.parse(text) / 1000;
const MARCH = { gte: seconds("2026-03-01T00:00:00Z"), lte: seconds("2026-03-31T00:00:00Z") };

/** A renter with charges on two days, for a volume and two instances, one of which works for endpoint 9. */
async function aPast(workerGroup?: number) {
  const [renter, host] = [await aCaller(database), await aCaller(database)];
  const then: Clock = { ...systemClock, now: () => new Date("2026-02-01T00:00:00Z") };
  await withTransaction(database, then, (tx) => postTransfers(tx, [grantOf(renter.id, 1000n * DOLLAR)]));
  const [plain, worker] = [renter.id * 10, renter.id * 10 + 1];
  // Rows of the past are posted after another test may have added up that time, so the sums start again.
  await pool.query("truncate charge_days");
  await pool.query("update charge_days_clock set counted_until_at = null");
  await pool.query(
    "alter table endpoint_worker_names drop constraint if exists endpoint_worker_names_instance_id_fkey",
  );
  await pool.query("insert into endpoint_worker_names values ($1, 9, $2)", [worker, workerGroup ?? null]);
  const between = { payer: renter.id, host: host.id };
  await postCharges(database, "2026-03-01T10:00:00Z", between, [
    { amount: 333_333_333n, instance: plain },
    { component: "disk", amount: 333_333_333n, instance: plain },
    { component: "bwu", amount: 333_333_334n, instance: plain },
    { component: "bwd", amount: 400_000n, instance: plain, unpaid: 5n },
    { amount: DOLLAR, instance: worker },
    { component: "disk", amount: 1_500_500n, volume: 4 },
  ]);
  await postCharges(database, "2026-03-02T10:00:00Z", between, [
    { amount: 2n * DOLLAR, instance: plain, paidFrom: "credit" },
    { amount: DOLLAR / 2n, instance: worker },
  ]);
  return { renter, host, plain, worker };
}

type Page = {
  readonly success: boolean;
  readonly count: number;
  readonly total: number;
  readonly total_amount: string;
  readonly next_token: string | null;
  readonly results: readonly ChargeRow[];
};

async function chargesOf(as: TestCaller, query: Readonly<Record<string, unknown>> = {}): Promise<Page> {
  const { filters = { day: MARCH }, ...others } = query;
  const parameters = new URLSearchParams({ select_filters: JSON.stringify(filters) });
  for (const [name, value] of Object.entries(others)) parameters.set(name, String(value));
  const answer = await call("GET", `/api/v0/charges/?${parameters.toString()}`, { as });
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Page;
}

const KEYS = ["amount", "amount_exact", "description", "end", "items", "metadata", "source", "start", "type"];

/**
 * Asserts that every level has every key, that amounts have three decimals, and that the items of a row add up to it.
 */
function assertRow(row: ChargeRow): void {
  assert.deepEqual(Object.keys(row).toSorted(), KEYS);
  assert.ok(row.start <= row.end);
  assert.equal(parseDollars(row.amount), ((parseDollars(row.amount) ?? 0n) / 1_000_000n) * 1_000_000n);
  if (row.source !== null) assert.equal(row.source.split("-").length, 2);
  if (row.items.length === 0) return;
  const sum = row.items.reduce((total, item) => total + (parseDollars(item.amount) ?? 0n), 0n);
  assert.equal(sum, parseDollars(row.amount), row.description);
  for (const item of row.items) assertRow(item);
}

const brief = (rows: readonly ChargeRow[]) => rows.map((row) => `${row.type} ${row.source} ${row.amount}`);

for (const isAddedUp of [false, true]) {
  test(`charges are one row per day and contract, ${isAddedUp ? "added up" : "not yet added up"}`, async () => {
    const { renter, plain, worker } = await aPast();
    if (isAddedUp) await chargeDayLoop({ database, clock }).run();
    const page = await chargesOf(renter);
    assert.deepEqual(
      brief(page.results).toSorted(),
      [
        `instance instance-${plain} 1`,
        `instance instance-${plain} 2`,
        `serverless instance-${worker} 0.5`,
        `serverless instance-${worker} 1`,
        "volume volume-4 0.002",
      ].toSorted(),
    );
    assert.deepEqual([page.count, page.total, page.next_token], [5, 5, null]);
    assert.equal(page.total_amount, "4.5019005");
    for (const row of page.results) assertRow(row);
    const [first] = page.results.filter(({ source, amount }) => source === `instance-${plain}` && amount === 1);
    assert.deepEqual(
      first?.items.map(({ type, source, amount }) => [type, source, amount]),
      [
        ["gpu", null, 0.333],
        ["disk", null, 0.333],
        ["bwd", null, 0.001],
        ["bwu", null, 0.333],
      ],
    );
    assert.equal(first?.items[2]?.metadata.unpaid, "0.000000005");
    assert.deepEqual(
      page.results.map(({ source, metadata }) => [source, Object.values<unknown>(metadata).includes(null)]),
      page.results.map(({ source }) => [source, false]),
      "facts without a value are left out",
    );
    const [served] = page.results.filter(({ source }) => source === `instance-${worker}`);
    assert.equal(first?.metadata.endpoint_id, undefined);
    assert.equal(served?.metadata.endpoint_id, 9);
  });
}

test("a tree has endpoints, their worker groups, and the instances of these", async () => {
  const { renter, worker } = await aPast();
  const { results } = await chargesOf(renter, { format: "tree" });
  for (const row of results) assertRow(row);
  const [endpoint] = results.filter(({ source }) => source === "endpoint-9");
  assert.equal(endpoint?.type, "serverless");
  const [group] = endpoint?.items ?? [];
  assert.equal(group?.source, "workergroup-9");
  assert.deepEqual(brief(group?.items ?? []), [`serverless instance-${worker} 0.5`]);
  assert.equal(group?.metadata.endpoint_id, 9);
});

test("a tree names the worker groups that an endpoint's instances really worked for", async () => {
  const { renter, host, worker } = await aPast(21);
  const other = worker + 1;
  await pool.query("insert into endpoint_worker_names values ($1, 9, 22)", [other]);
  await postCharges(database, "2026-03-01T10:00:00Z", { payer: renter.id, host: host.id }, [
    { amount: 3n * DOLLAR, instance: other },
  ]);
  const { results } = await chargesOf(renter, { format: "tree", latest_first: false });
  for (const row of results) assertRow(row);
  const [first, second] = results.filter(({ source }) => source === "endpoint-9");
  assert.deepEqual(brief(first?.items ?? []), ["serverless workergroup-21 1", "serverless workergroup-22 3"]);
  assert.deepEqual(brief(second?.items ?? []), ["serverless workergroup-21 0.5"]);
  assert.deepEqual(
    [first?.metadata.workergroup_id, second?.metadata.workergroup_id, first?.items[1]?.metadata.workergroup_id],
    [undefined, 21, 22],
  );
  const table = await chargesOf(renter);
  const [row] = table.results.filter(({ source }) => source === `instance-${other}`);
  assert.deepEqual([row?.metadata.endpoint_id, row?.metadata.workergroup_id], [9, 22]);
});

test("types narrow charges in both formats", async () => {
  const { renter } = await aPast();
  const counts = async (types: unknown, format: string) =>
    (await chargesOf(renter, { filters: { day: MARCH, type: { in: types } }, format })).total;
  for (const format of ["table", "tree"]) {
    assert.equal(await counts(["instance"], format), 2);
    assert.equal(await counts(["volume"], format), 1);
    assert.equal(await counts(["serverless"], format), 2);
    assert.equal(await counts(["instance", "volume", "serverless"], format), 5);
  }
});

test("pages of any size, in either direction, have each row once", async () => {
  const { renter } = await aPast();
  for (const format of ["table", "tree", "lines"]) {
    const whole = await chargesOf(renter, { format });
    for (const latestFirst of [true, false]) {
      for (const limit of [1, 2, 3]) {
        const rows: ChargeRow[] = [];
        let token: string | null = "";
        while (token !== null) {
          const page: Page = await chargesOf(renter, { format, limit, latest_first: latestFirst, after_token: token });
          assert.equal(page.total, whole.total);
          rows.push(...page.results);
          token = page.next_token;
        }
        const newestFirst = latestFirst ? rows : rows.toReversed();
        assert.deepEqual(
          newestFirst.map(({ description, amount }) => `${description} ${amount}`),
          whole.results.map(({ description, amount }) => `${description} ${amount}`),
        );
      }
    }
  }
});

test("each charge line has the fields that it follows from, and lines add up to the charges", async () => {
  const { renter, plain } = await aPast();
  const { results, total_amount: total } = await chargesOf(renter, { format: "lines", latest_first: false });
  const lines = results as unknown as Readonly<Record<string, unknown>>[];
  assert.equal(lines.length, 8);
  const [line = {}] = lines;
  assert.deepEqual(
    [line["source"], line["type"], line["state"], line["cause"], line["quantity"], line["unit_price"], line["unpaid"]],
    [`instance-${plain}`, "gpu", "running", "container_running", 3_600_000, "0.333333333", "0"],
  );
  const sum = lines.reduce((amount, row) => amount + (parseDollars(String(row["amount_exact"])) ?? 0n), 0n);
  assert.equal(sum, parseDollars(total));
});

test("the lines of one instance can be asked for, with their own total", async () => {
  const { renter, plain, worker } = await aPast();
  const linesOf = (id: number) =>
    chargesOf(renter, { format: "lines", filters: { day: MARCH, instance_id: { eq: id } } });
  const own = await linesOf(plain);
  assert.deepEqual([own.total, own.total_amount, own.results.length], [5, "3.0004", 5]);
  assert.equal((await linesOf(worker)).total_amount, "1.5");
  const stranger = await aPast();
  assert.deepEqual((await linesOf(stranger.plain)).results, [], "an instance of somebody else has no lines");
});

test("requested days are complete, and other days are left out", async () => {
  const { renter } = await aPast();
  const totalOn = async (gte: unknown, lte: unknown) =>
    (await chargesOf(renter, { filters: { day: { gte, lte } } })).total;
  assert.equal(await totalOn(seconds("2026-03-01T09:00:00Z"), seconds("2026-03-01T09:30:00Z")), 3);
  assert.equal(await totalOn("2026-03-02", "2026-03-02"), 2);
  assert.equal(await totalOn("03/03/2026", "2026-03-31"), 0);
});

test("a missing or malformed value is refused by the name of its field", async () => {
  const user = await aCaller(database);
  const day = encodeURIComponent(JSON.stringify({ day: MARCH }));
  const filters = (value: unknown) => `select_filters=${encodeURIComponent(JSON.stringify(value))}`;
  const refusals: readonly (readonly [string, string, string?])[] = [
    ["", "select_filters.day"],
    [filters({}), "select_filters.day"],
    [filters({ day: { gte: 1 } }), "select_filters.day"],
    [filters({ day: { gte: 1, lte: 2, eq: 3 } }), "select_filters.day"],
    [filters({ day: { gte: "soon", lte: 2 } }), "select_filters.day.gte"],
    [filters({ day: { gte: 1e9, lte: 1e8 } }), "select_filters.day.gte"],
    [filters({ day: { gte: 0, lte: 1e9 } }), "select_filters.day.gte"],
    [filters({ day: MARCH, type: { in: ["moon"] } }), "select_filters.type"],
    [filters({ day: MARCH, type: { in: "serverless" } }), "select_filters.type.in"],
    [filters({ day: MARCH, colour: { eq: "red" } }), "select_filters.colour"],
    [filters({ day: MARCH, instance_id: { eq: 1 } }), "select_filters.instance_id"],
    [`${filters({ day: MARCH, instance_id: 1 })}&format=lines`, "select_filters.instance_id"],
    [`${filters({ day: MARCH, instance_id: { eq: 0 } })}&format=lines`, "select_filters.instance_id"],
    [`${filters({ day: MARCH, instance_id: { eq: 1, lt: 2 } })}&format=lines`, "select_filters.instance_id"],
    ["select_filters=%7B", "select_filters"],
    [`select_filters=${day}&format=forest`, "format"],
    [`select_filters=${day}&limit=0`, "limit"],
    [`select_filters=${day}&limit=501`, "limit"],
    [`select_filters=${day}&latest_first=perhaps`, "latest_first"],
    [`select_filters=${day}&after_token=nonsense`, "after_token", "invalid_token"],
    [
      `select_filters=${day}&after_token=${Buffer.from('["charges:tree:true",1,"x",1]').toString("base64url")}`,
      "after_token",
      "invalid_token",
    ],
  ];
  for (const [query, field, code = "invalid_args"] of refusals) {
    const { status, body, text } = await call("GET", `/api/v0/charges/?${query}`, { as: user });
    assert.equal(status, 400, `${query} ${text}`);
    assert.deepEqual([body["success"], body["error"], body["field"]], [false, code, field], query);
  }
  const { body } = await call("GET", "/api/v0/charges/", { as: user });
  assert.match(String(body["msg"]), /Must provide both 'day' gte and lte/);
});

test("users with the permission for billing read their own charges only", async () => {
  const { renter, host } = await aPast();
  assert.equal((await chargesOf(host)).total, 0);
  const path = `/api/v0/charges/?select_filters=${encodeURIComponent(JSON.stringify({ day: MARCH }))}`;
  assert.equal((await call("GET", path)).status, 401);
  const narrow = await inTransaction(database, (tx) => aKey(tx, renter, { permissions: { api: { user_read: {} } } }));
  assert.equal((await call("GET", path, { as: { secret: narrow.secret } })).status, 403);
});

type ChartSums = Readonly<Record<"instance" | "serverless" | "volume", number>> &
  Readonly<Record<"gpu" | "disk" | "bwd" | "bwu" | "amount" | "start" | "end" | "day", number>> & {
    readonly amount_exact: string;
  };
type Chart = { readonly success: boolean; readonly chart: readonly ChartSums[]; readonly total: ChartSums };

for (const isAddedUp of [false, true]) {
  test(`a chart of charges agrees with the ledger to the nano-dollar, ${isAddedUp ? "added up" : "not yet added up"}`, async () => {
    const { renter } = await aPast();
    if (isAddedUp) for (let run = 0; run < 10; run += 1) await chargeDayLoop({ database, clock }).run();
    const read = async (filters: unknown) => {
      const url = `/api/v0/charges/chart/?select_filters=${encodeURIComponent(JSON.stringify(filters))}`;
      const { status, body } = await call("GET", url, { as: renter });
      assert.equal(status, 200);
      return body as unknown as Chart;
    };
    const { chart, total, success } = await read({ day: MARCH });
    assert.deepEqual([success, chart.length], [true, 31]);
    const { rows } = await pool.query<{ day: number; sum: bigint }>(
      `select floor(extract(epoch from t.created_at) / 86400)::integer as day, sum(t.amount_nanos)::bigint as sum
       from charge_lines l join ledger_transfers t on t.id = l.transfer_id
       where l.payer_id = $1 group by 1 order by 1`,
      [renter.id],
    );
    const shown = chart.filter((one) => one.amount > 0);
    assert.deepEqual(
      shown.map((one) => [one.day, parseDollars(one.amount_exact)]),
      rows.map(({ day, sum }) => [day, sum]),
    );
    assert.equal(
      parseDollars(total.amount_exact),
      rows.reduce((all, { sum }) => all + sum, 0n),
    );
    const first = shown[0]!;
    assert.deepEqual(
      [first.instance, first.serverless, first.volume, first.gpu, first.disk, first.bwd, first.bwu],
      [1.0004, 1, 0.0015005, 1.333333333, 0.334833833, 0.0004, 0.333333334],
    );
    assert.deepEqual([first.end - first.start, first.start % 86_400], [86_400, 0]);
    const volumes = await read({ day: MARCH, type: { in: ["volume"] } });
    assert.equal(volumes.total.amount, 0.0015005);
    assert.equal((await read({})).chart.length, 30, "the last 30 days by default");
  });
}

test("a chart of charges refuses a window or type that cannot be read, by its field", async () => {
  const renter = await aCaller(database);
  for (const [field, filters] of [
    ["select_filters", []],
    ["select_filters.day", { day: { gte: 1 } }],
    ["select_filters.day.gte", { day: { gte: "soon", lte: 1 } }],
    ["select_filters.day.gte", { day: { gte: 1, lte: seconds("2026-03-01T00:00:00Z") } }],
    ["select_filters.type", { type: { in: ["magic"] } }],
  ] as const) {
    const url = `/api/v0/charges/chart/?select_filters=${encodeURIComponent(JSON.stringify(filters))}`;
    const { status, body } = await call("GET", url, { as: renter });
    assert.deepEqual([status, body.field], [400, field]);
  }
});
