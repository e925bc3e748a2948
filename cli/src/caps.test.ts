import assert from "node:assert/strict";
import { test } from "node:test";
import { answer } from "../test/answering-server.ts";

const cap = {
  id: 3,
  scope: "key",
  scope_id: 7,
  period: "month",
  limit: 20,
  spent: 12.5,
  held: 0.75,
  left: 6.75,
  resets_at: Date.UTC(2026, 1, 1) / 1000,
};

const CAPS = "/api/v0/caps/";

test("a cap is set for the named scope, and printed", async (t) => {
  const { received, berth } = await answer(t, { [`PUT ${CAPS}`]: { body: { success: true, cap } } });
  const { stdout } = await berth("cap", "set", "key:7", "20", "--per", "month");
  assert.equal(stdout, "Cap 3: $6.75 left of $20.00. See: berth cap list\n");
  await berth("cap", "set", "account", "0", "--per", "total");
  assert.deepEqual(received, [
    [`PUT ${CAPS}`, { scope: "key", scope_id: 7, period: "month", limit: 20 }],
    [`PUT ${CAPS}`, { scope: "account", period: "total", limit: 0 }],
  ]);
});

test("a wrong cap is refused before any request", async (t) => {
  const { received, berth } = await answer(t, {});
  const wrong = [
    ["planet:1", "1", "--per", "day"],
    ["key", "1", "--per", "day"],
    ["key:0", "1", "--per", "day"],
    ["key:7", "-1", "--per", "day"],
    ["key:7", "much", "--per", "day"],
    ["key:7", "1", "--per", "week"],
    ["key:7", "1"],
  ];
  for (const words of wrong) assert.equal((await berth("cap", "set", ...words)).code, 2, words.join(" "));
  assert.deepEqual(received, []);
});

test("caps are listed with their room and next period, and removed", async (t) => {
  const kept = {
    ...{ cap_id: 4, scope: "account", scope_id: 1, period: "total", began_at: 1_900_000_000, delete_at: 1_900_172_800 },
    ...{ storage_per_hour: 1, instance_ids: [8, 9], volume_ids: [2] },
  };
  const total = { ...cap, id: 4, scope: "account", scope_id: 1, period: "total", resets_at: null };
  const { berth } = await answer(t, {
    [`GET ${CAPS}`]: { body: { success: true, caps: [cap, total] } },
    [`DELETE ${CAPS}3/`]: { body: { success: true, msg: "Cap 3 is removed." } },
    "GET /api/v0/arrears/": { body: { success: true, arrears: null, caps: [kept] } },
  });
  const [, first, second, ...said] = (await berth("cap", "list")).stdout.trimEnd().split("\n");
  const rows = [first ?? "", second ?? ""];
  assert.deepEqual(
    rows.map((row) => row.trim().split(/ {2,}/)),
    [
      ["3", "key:7", "month", "$20.00", "$12.50", "$0.75", "$6.75", "2026-02-01 00:00"],
      ["4", "account", "total", "$20.00", "$12.50", "$0.75", "$6.75", "never"],
    ],
  );
  assert.match(
    said.join(""),
    /^Cap 4 does not pay for instance 8, instance 9, volume 2: kept until 2030-03-19 17:46 UTC \(.*\), and deleted then unless/,
  );
  assert.deepEqual(JSON.parse((await berth("cap", "list", "--json")).stdout).caps, [cap, total]);
  assert.equal((await berth("cap", "remove", "3")).stdout, "Cap 3 is removed.\n");
});

test("a dry run shows price, hold and how long the balance lasts", async (t) => {
  const forecast = {
    success: true,
    dry_run: true,
    ask_id: 9,
    price: {
      gpu_per_hour: 1,
      disk_per_hour: 0.02,
      volume_per_hour: 0,
      total_per_hour: 1.02,
      inet_up_per_gb: 0.01,
      inet_down_per_gb: 0,
    },
    hold: 0.17,
    balance: 51,
    balance_lasts_hours: { now: null, after: 50 },
    caps: [{ id: 3, scope: "key", scope_id: 7, period: "month", limit: 20, left: 0.1 }],
    would_start: false,
    reason: { error: "cap_reached", msg: "A cap is reached." },
  };
  const { received, berth } = await answer(t, { "PUT /api/v0/asks/9/": { body: forecast } });
  const { stdout } = await berth("rent", "9", "--image", "busybox", "--dry-run");
  assert.match(stdout, /together per hour +\$1\.02\n/);
  assert.match(stdout, /set aside +\$0\.17\n/);
  assert.match(stdout, /balance lasts +for good now, 2 days with this\n/);
  assert.match(stdout, /cap of key 7, month +\$0\.10 left of \$20\.00\n/);
  assert.match(stdout, /It would not start now\. A cap is reached\. Nothing was created\.\n$/);
  assert.deepEqual(received, [["PUT /api/v0/asks/9/", { image: "busybox", dry_run: true }]]);
});

test("a balance says until when data is kept that credit or a cap does not pay for", async (t) => {
  const user = (balance: number) => ({ id: 1, email: "me@example.com", balance, credit: balance });
  const times = { began_at: 1_900_000_000, delete_at: 1_900_172_800, storage_per_hour: 1 };
  const kept = {
    ...{ ...times, cap_id: 4, scope: "key", scope_id: 7, period: "total", instance_ids: [8], volume_ids: [2] },
  };
  const refused = { status: 403, body: { success: false, error: "missing_permissions", msg: "No." } };
  let [balance, arrears]: [number, unknown] = [-3, { body: { arrears: { ...times, floor: -49 }, caps: [] } }];
  const { berth } = await answer(t, {
    "GET /api/v0/users/current/": () => ({ body: user(balance) }),
    "GET /api/v0/arrears/": () => arrears as { readonly body: unknown },
  });
  const { stdout } = await berth("balance");
  assert.match(stdout, /balance +-\$3\.00\n/);
  assert.match(
    stdout,
    /Your data is kept until 2030-03-19 17:46 UTC \(.*\), and deleted then unless you add credit before\./,
  );
  [balance, arrears] = [3, { body: { arrears: null, caps: [kept] } }];
  assert.match(
    (await berth("balance")).stdout,
    /\nCap 4 does not pay for instance 8, volume 2: kept until 2030-03-19 17:46 UTC \(.*\), and deleted then unless the cap/,
  );
  assert.deepEqual(JSON.parse((await berth("balance", "--json")).stdout).caps, [kept]);
  // A key that may not read billing still shows what is there.
  arrears = refused;
  assert.equal((await berth("balance")).stdout, "email    me@example.com\nbalance  $3.00\ncredit   $3.00\n");
  balance = -3;
  assert.notEqual((await berth("balance")).code, 0);
});
