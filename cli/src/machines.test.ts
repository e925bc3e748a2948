import assert from "node:assert/strict";
import { test } from "node:test";
import { answer } from "../test/answering-server.ts";

const window = {
  machine_id: 7,
  start_time: 86_400,
  end_time: 97_200,
  duration_hours: 3,
  maintenance_category: "power",
  maintenance_reason: "new supply",
};

const machine = {
  id: 7,
  machine_id: 7,
  hostname: "box",
  is_simulated: false,
  num_gpus: 4,
  gpu_name: "RTX 4090",
  gpu_ram: 24_576,
  cpu_cores: 32,
  cpu_name: "EPYC",
  cpu_ram: 131_072,
  disk_space: 1000,
  avail_disk_space: 900,
  driver_version: "580.1",
  public_ipaddr: "192.0.2.1",
  geolocation: ", DE",
  verification: "unverified",
  reliability2: 0.6,
  listed: true,
  rentable: true,
  listed_gpu_cost: 0.4,
  min_bid_price: 0.2,
  listed_storage_cost: 0.15,
  listed_inet_up_cost: 0.01,
  listed_inet_down_cost: 0,
  credit_discount_max: 0.4,
  min_chunk: 1,
  end_date: 172_800,
  duration: 86_400,
  volume_offer: { id: 2, size: 500, rented: 20, storage_cost: 0.1, end_date: 172_800 },
  is_online: true,
  online_since: 0,
  last_seen: 0,
  gpu_occupancy: "D I x x",
  rented_devices: 2,
  num_renters: 1,
  current_rentals_running: 1,
  current_rentals_resident: 2,
  client_end_date: 86_400,
  earn_hour: 0.6,
  earn_day: 1.5,
  earn_month: 20,
  num_reports: 2,
  gpu_problems: ["GPU 3 is sick"],
  error_description: null,
  rests_until: null,
  default_job: { image: "busybox", args: ["sleep", "9"], price_gpu: 0, price_inetu: 0, price_inetd: 0 },
  maintenance: [window],
};

test("machines are listed with what they cost, earn and lack, and shown whole", async (t) => {
  const { berth } = await answer(t, {
    "GET /api/v0/machines/": { body: { machines: [machine] } },
    "GET /api/v0/machines/7/": { body: [machine] },
    "GET /api/v0/machines/8/": { body: [] },
  });
  const [titles = "", row = ""] = (await berth("machine", "list")).stdout.split("\n");
  assert.match(titles, /^ID +HOSTNAME +GPUS +STATE +RENTED +\$\/GPU HOUR +MIN BID/);
  assert.match(
    row,
    /^ 7 +box +4x RTX 4090 +on offer +2\/4 +\$0\.40 +\$0\.20 +\$1\.50 +\$20\.00 +60\.0 % +no +1970-01-03/,
  );
  assert.match(row, /GPU 3 is sick; 2 reports; maintenance announced$/);
  const shown = (await berth("machine", "show", "7")).stdout;
  for (const line of [
    /^price +\$0\.40 per GPU and hour, bids from \$0\.20$/m,
    /^volumes +offer 2: 20 of 500 GB rented, \$0\.10 per GB and month$/m,
    /^rented +2\/4 GPUs, by 1 renter$/m,
    /^earned +\$0\.60 an hour now, \$1\.50 today, \$20\.00 this month$/m,
    /^default job +busybox sleep 9$/m,
    /^maintenance +1970-01-02 00:00 UTC, 3 h, power: new supply$/m,
    /^where +DE, 192\.0\.2\.1$/m,
  ]) {
    assert.match(shown, line);
  }
  assert.deepEqual(JSON.parse((await berth("machine", "show", "7", "--json")).stdout), machine);
  const { code, stderr } = await berth("machine", "show", "8");
  assert.deepEqual([code, stderr], [1, "error: You have no machine 8.\nSee yours with: berth machine list\n"]);
});

test("prices, minimum bids and default jobs are sent as given, and nothing else", async (t) => {
  const listed = { success: true, extended: 1, price_increases: 2, machine_id: 7, end_date: 86_400, msg: "" };
  const { received, berth } = await answer(t, {
    "PUT /api/v0/machines/create_asks/": { body: listed },
    "PUT /api/v0/machines/7/minbid/": { body: { success: true, you_sent: { price: 0.1 } } },
    "PUT /api/v0/machines/create_bids/": { body: { success: true, machine_id: 7, user_id: 1, you_sent: {} } },
    "DELETE /api/v0/machines/7/defjob/": { body: { success: true, machine_id: 7, user_id: 1 } },
    "DELETE /api/v0/machines/7/asks/": { body: { success: true, machine_id: 7, user_id: 1 } },
  });
  const said = await berth("machine", "price", "7", "--gpu", "0.4", "--volume-size", "0", "--for", "2 weeks");
  assert.match(said.stdout, /^Machine 7 is listed until 1970-01-02 00:00 UTC\. .*: 1 contract\. .*: 2 contracts\. See/);
  assert.equal((await berth("machine", "price", "7", "--until", "2026-12-31")).code, 0);
  assert.match((await berth("machine", "min-bid", "7", "0.1")).stdout, /\$0\.10 per GPU and hour/);
  assert.match((await berth("machine", "default-job", "set", "7", "busybox", "sh", "-c", "x")).stdout, /idle GPUs/);
  assert.equal((await berth("machine", "default-job", "remove", "7")).code, 0);
  assert.match((await berth("machine", "unlist", "7")).stdout, /off the market.*berth machine price 7/);
  assert.deepEqual(
    received.slice(0, 4).map(([, body]) => body),
    [
      { machine: 7, price_gpu: 0.4, duration: "2 weeks", vol_size: 0 },
      { machine: 7, end_date: Date.UTC(2026, 11, 31) / 1000 },
      { price: 0.1 },
      { machine: 7, image: "busybox", args: ["sh", "-c", "x"] },
    ],
  );
});

test("a maintenance is announced at a time of UTC, listed and cancelled", async (t) => {
  const { received, berth } = await answer(t, {
    "PUT /api/v0/machines/7/dnotify/": { body: { success: true, you_sent: "1 notification sent" } },
    "GET /api/v0/machines/maintenances/": { body: [window] },
    "PUT /api/v0/machines/7/cancel_maint/": { body: { success: true, ctime: 0, machine_id: 7, msg: "deleted 1" } },
  });
  const words = ["--at", "2026-12-01T12:30", "--hours", "1.5", "--category", "power", "--reason", "new supply"];
  const said = await berth("machine", "maintenance", "schedule", "7", ...words);
  assert.equal(said.stdout, "Machine 7: 1 notification sent. Cancel it: berth machine maintenance cancel 7\n");
  assert.match(
    (await berth("machine", "maintenance", "list")).stdout,
    / 7 +1970-01-02 00:00 +1970-01-02 03:00 +3 +power /,
  );
  assert.deepEqual(JSON.parse((await berth("machine", "maintenance", "list", "--json")).stdout), [window]);
  assert.equal((await berth("machine", "maintenance", "cancel", "7")).stdout, "deleted 1\n");
  const why = { maintenance_reason: "new supply", maintenance_category: "power" };
  assert.deepEqual(received[0]?.[1], { sdate: Date.UTC(2026, 11, 1, 12, 30) / 1000, duration: 1.5, ...why });
});

test("earnings are shown by machine and by day, reports and checks in tables", async (t) => {
  const earned = { gpu_earn: 1, sto_earn: 0.5, bwu_earn: 0.25, bwd_earn: 0 };
  const check = { name: "reliability", value: 0.6, needed: 0.9, passed: false, msg: "0.9 is needed." };
  const measured = { measured_inet_up: 812.4, measured_inet_down: 790, measured_at: 0, measured_count: 3 };
  const line = { inet_up: 1_000, inet_down: 900, ...measured };
  const terms = { prior_ms: 86_400_000, online_ms: 0, offline_ms: 0, offline_rented_extra_ms: 0, failed_starts_ms: 0 };
  const score = {
    machine_id: 7,
    is_simulated: true,
    reliability: 0.6,
    shown_reliability: 0.6,
    formula: "f",
    window_days: 30,
    terms,
    days: [],
  };
  const { received, berth } = await answer(t, {
    "GET /api/v0/users/me/machine-earnings/": {
      body: {
        ...{ per_machine: [{ machine_id: 7, ...earned }], per_day: [{ day: 1, ...earned }] },
        current: { balance: 1.75, service_fee: 0.25, total: 1.5, credit: 0 },
      },
    },
    "GET /api/v0/machines/7/verification/": {
      body: { msg: "Not verified.", checks: [check], line, rests_until: 0, rest_reason: "no disk" },
    },
    "GET /api/v0/machines/7/reliability/": { body: score },
    "GET /api/v0/machines/7/reports/": { body: [{ problem: "slow disk", message: "", created_at: 0 }] },
    "PUT /api/v0/machines/7/report/": { body: { success: true, msg: "Thank you." } },
  });
  assert.match(
    (await berth("machine", "earnings")).stdout,
    /\n +7 +\$1\.00 +\$0\.50 +\$0\.25 +\$0\.00 +\$1\.75\n\nIn no payout yet: \$1\.75, less a fee of \$0\.25: \$1\.50\./,
  );
  const days = await berth("machine", "earnings", "7", "--by-day", "--from", "1970-01-02", "--days", "3");
  assert.match(days.stdout, /\n1970-01-02 +\$1\.00 /);
  assert.equal(received[1]?.[0], "GET /api/v0/users/me/machine-earnings/?sday=1&last_days=3&machid=7");
  const verification = await berth("machine", "verification", "7");
  assert.match(
    verification.stdout,
    /^Not verified\.\n.*\nreliability +no .*\ndeclared uplink +1000 Mbit\/s up, 900 down\nmeasured uplink +812 Mbit\/s up, 790 down, the best of 3 within a week\nrests until +1970-01-01 00:00 UTC\nreason +no disk\n$/,
  );
  assert.match(
    (await berth("machine", "reliability", "7")).stdout,
    /^note +a simulated machine.*\nreliability +60\.00 %.*\nprior +24\.00 h\n/s,
  );
  assert.match((await berth("machine", "reports", "7")).stdout, /\n1970-01-01 00:00 +slow disk +-\n$/);
  assert.equal((await berth("machine", "report", "7", "slow disk", "--message", "hm")).stdout, "Thank you.\n");
  assert.deepEqual(received.at(-1), ["PUT /api/v0/machines/7/report/", { problem: "slow disk", message: "hm" }]);
});

test("an administrator has all that is on a machine backed up", async (t) => {
  const path = "POST /api/v0/admin/machines/7/backups/";
  const { received, berth } = await answer(t, { [path]: { body: { success: true, queued: 2, msg: "wanted" } } });
  const { code, stdout } = await berth("admin", "back-up-machine", "7");
  assert.deepEqual([code, stdout], [0, '{"success":true,"queued":2,"msg":"wanted"}\n']);
  assert.deepEqual(
    received.map(([line]) => line),
    [path],
  );
});

test("an administrator decides on a machine, and what is left out stays", async (t) => {
  const path = "PUT /api/v0/admin/machines/7/verification/";
  const { received, berth } = await answer(t, { [path]: { body: { success: true, machine_id: 7 } } });
  assert.equal((await berth("admin", "verify-machine", "7", "verified")).stdout, '{"success":true,"machine_id":7}\n');
  assert.equal((await berth("admin", "verify-machine", "7", "--no-data-center")).code, 0);
  assert.deepEqual(received, [
    [path, { verification: "verified" }],
    [path, { hosting_type: 0 }],
  ]);
});

test("volumes are found, rented, cloned, listed, offered and deleted", async (t) => {
  const offer = {
    id: 2,
    disk_space: 480,
    storage_cost: 0.1,
    disk_name: "nvme",
    disk_bw: 2000,
    machine_id: 7,
    reliability2: 0.9,
    verification: "verified",
    duration: 86_400,
    geolocation: "DE",
    is_simulated: true,
  };
  const volume = {
    id: 5,
    label: "models",
    status: "created",
    disk_space: 20,
    used_space: -1,
    storage_cost: 0.1,
    machine_id: null,
    instances: [3, 4],
    end_date: 0,
    status_msg: "",
    is_simulated: false,
  };
  const path = "/api/v0/volumes/";
  const { received, berth } = await answer(t, {
    [`POST ${path}search/`]: { body: { offers: [offer] } },
    "PUT /api/v0/network_volumes/": { body: { success: true, id: 5, volume_name: "V.5" } },
    [`GET ${path}`]: { body: { volumes: [volume] } },
    [`POST ${path}copy/`]: { body: { success: true, id: 6, volume_name: "V.6", msg: "" } },
    [`POST ${path}`]: { body: { success: true, msg: "Listed." } },
    [`POST ${path}unlist/`]: { body: { success: true, msg: "Unlisted." } },
    [`DELETE ${path}`]: { body: { success: true, msg: "Deleted." } },
  });
  assert.match(
    (await berth("volume", "search", "disk_bw>1000")).stdout,
    / 2 +480 +\$0\.10 +nvme +2000 +7 +90\.0 % +yes /,
  );
  assert.match((await berth("volume", "rent", "2", "--network", "--size", "20")).stdout, /^Volume 5 .*-v V\.5:\/data/);
  assert.match((await berth("volume", "list")).stdout, / 5 +models +created +20 +- +\$0\.10 +several +3, 4 /);
  assert.match((await berth("volume", "clone", "5", "2", "--size", "30")).stdout, /new volume 6\./);
  assert.equal((await berth("volume", "offer", "7", "8", "--size", "100", "--price", "0.1")).stdout, "Listed.\n");
  assert.equal((await berth("volume", "unlist", "2")).stdout, "Unlisted.\n");
  assert.equal((await berth("volume", "delete", "5")).stdout, "Deleted.\n");
  assert.deepEqual(
    received.slice(1).flatMap(([, body]) => (body === undefined ? [] : [body])),
    [
      { id: 2, size: 20 },
      { src_id: 5, dst_id: 2, size: 30 },
      { machine: [7, 8], size: 100, price_disk: 0.1 },
      { id: 2 },
      { id: 5 },
    ],
  );
});

test("a wrong command about a machine ends with code 2 before any request", async (t) => {
  const { received, berth } = await answer(t, {});
  const mistakes: readonly (readonly [string, RegExp])[] = [
    ["machine price 7 --until 2026-02-31", /2026-01-31T12:30/],
    ["machine price 7 --until 2026-12-31 --for month", /cannot be combined/],
    ["machine price 7 --gpu -1", /must be a number/],
    ["machine maintenance schedule 7 --at tomorrow --hours 1", /2026-01-31T12:30/],
    ["machine maintenance schedule 7 --hours 1", /--at/],
    ["machine maintenance schedule 7 --at 2026-01-31 --hours 1 --category war", /Allowed choices/],
    ["machine default-job set 7", /missing required argument 'image'/],
    ["admin verify-machine 7", /verified, unverified or automatic/],
    ["volume offer x", /whole number/],
  ];
  await Promise.all(
    mistakes.map(async ([line, reason]) => {
      const { code, stdout, stderr } = await berth(...line.split(" "));
      assert.deepEqual([code, stdout], [2, ""], line);
      assert.match(stderr, reason);
    }),
  );
  assert.deepEqual(received, []);
});
