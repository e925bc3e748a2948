import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { settleNow } from "../../../../../test/support/money/charges.ts";
import { listedHost, pass, prepay } from "../../../../../test/support/money/contracts.ts";
import { inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";
import { listMachine, machineRecord, ofMachine } from "../../../../../test/support/hosts/hosting.ts";
import { destroy, rentAndRun } from "../../../../../test/support/rentals.ts";
import { parseDollars } from "../../../base/money.ts";
import { setEarningsRules, setFeeRate } from "../../money/payments/for-assembly.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const DOLLAR = 1_000_000_000n;
/** 1970 began on a Thursday. */
const FRIDAY_MS = DAY_MS;

function exact(dollars: number): bigint {
  const nanos = parseDollars(dollars);
  assert.ok(nanos !== undefined);
  return nanos;
}

const earnings = (world: TestApp, by: TestCaller, query = "") =>
  world.call({ url: `/api/v0/users/me/machine-earnings${query}`, secret: by.secret });

test("a host sees its machines with their rentals and reports, and no other host's", async (t) => {
  const world = await testApp(t);
  const [owner, renter] = [await world.caller(), await world.caller()];
  const connectedAt = world.clock.now().getTime() / 1000;
  const host = await world.host({ owner, gpus: 4 });
  const second = await world.host({ owner, gpus: 0 });
  await world.host();
  await rentAndRun(world, renter, host, { size: 2 });
  const bid = await rentAndRun(world, await world.caller(), host, { price: 0.2 });
  const listed = await world.call({ url: "/api/v0/machines?owner=me", secret: owner.secret });
  assert.deepEqual(
    listed.body.machines.map((machine: { id: number }) => machine.id),
    [host.machineId, second.machineId],
  );
  const record = await machineRecord(world, owner, host);
  assert.deepEqual(record, listed.body.machines[0]);
  const expected = {
    id: host.machineId,
    hostname: "host",
    num_gpus: 4,
    gpu_name: "RTX 4090",
    disk_space: 1000,
    avail_disk_space: 984,
    verification: "verified",
    reliability2: 0.6,
    rented_devices: 3,
    num_reports: 0,
    listed: true,
    rentable: true,
    is_online: true,
    online_since: connectedAt,
    duration: record.duration,
    num_renters: 2,
    current_rentals_running: 2,
    current_rentals_on_demand: 1,
    current_rentals_resident: 2,
    client_end_date: record.end_date,
    error_description: null,
    rests_until: null,
    default_job: null,
    maintenance: [],
  };
  assert.deepEqual({ ...record, ...expected }, record);
  const cores = listed.body.machines[1];
  assert.deepEqual([cores.num_gpus, cores.gpu_name, cores.gpu_occupancy, cores.rented_devices], [0, "CPU", "", 0]);
  const sick = host.gpus.map(({ uuid, index }) => ({
    uuid,
    is_healthy: index !== 3,
    reason: index === 3 ? "it is hot" : "",
    utilization_percent: null,
    temperature_c: null,
  }));
  await host.report(host.obedience(), { gpus: sick });
  const ill = await machineRecord(world, owner, host);
  assert.deepEqual([ill.gpu_problems, ill.error_description], [["GPU 3: it is hot"], "GPU 3: it is hot"]);
  await host.disconnect();
  const gone = await machineRecord(world, owner, host);
  assert.deepEqual([gone.is_online, gone.online_since, gone.rentable], [false, null, false]);
  assert.ok(bid > 0);
  for (const id of [host.machineId, 1_000_000, -1]) {
    const answer = await world.call({ url: `/api/v0/machines/${id}`, secret: renter.secret });
    assert.deepEqual([answer.status, answer.body], [200, []]);
  }
  const foreign = await world.call({ url: `/api/v0/machines?user_id=${owner.id}`, secret: renter.secret });
  assert.equal(foreign.status, 403);
});

test("each GPU of a machine shows by one letter how it is rented, and its rentals are counted by kind", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const host = await world.host({ owner, gpus: 5 });
  const [renter, saver] = [await world.caller(), await world.caller()];
  await rentAndRun(world, renter, host, { size: 2 });
  const reserved = await rentAndRun(world, saver, host);
  assert.equal((await prepay(world, saver, reserved, 50)).status, 200);
  await rentAndRun(world, await world.caller(), host, { price: 0.2 });
  const seen = async () => {
    const record = await machineRecord(world, owner, host);
    const letters = record.gpu_occupancy.split(" ").toSorted().join("");
    const { current_rentals_on_demand: onDemand, current_rentals_reserved: reserves } = record;
    const { current_rentals_interruptible: bids, current_rentals_running_on_demand: running } = record;
    return [letters, record.rented_devices, onDemand, reserves, bids, record.current_rentals_resident, running];
  };
  assert.deepEqual(await seen(), ["DDIRx", 4, 1, 1, 1, 3, 1]);
  const stopped = await world.call({
    method: "PUT",
    url: `/api/v0/instances/${reserved}/`,
    secret: saver.secret,
    body: { state: "stopped" },
  });
  assert.equal(stopped.status, 200, stopped.text);
  await host.obey();
  assert.deepEqual(await seen(), ["DDIxx", 3, 1, 1, 1, 3, 1]);
});

test("a machine that is away says for how many seconds, and earns for disks alone", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const host = await world.host({ owner, gpus: 2 });
  await rentAndRun(world, await world.caller(), host, { size: 2 });
  const seen = async () => {
    const { timeout, earn_hour: earned, is_online: isOnline } = await machineRecord(world, owner, host);
    return [isOnline, timeout, earned];
  };
  // Two GPUs at $0.30, and 8 GB at $0.15 a month of 720 hours.
  assert.deepEqual(await seen(), [true, 0, 0.601666666]);
  await host.disconnect();
  assert.deepEqual(await seen(), [false, 1, 0.001666666]);
  world.clock.jump(90_000);
  assert.deepEqual(await seen(), [false, 90, 0.001666666]);
});

test("a machine's record says what its hardware can do and what its volumes cost", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const host = await world.host({ owner, gpus: 3 });
  await listMachine(world, owner, host.machineId, { vol_size: 0 });
  const bare = await machineRecord(world, owner, host);
  const { machine, gpus } = host.hello();
  const tflops = gpus.reduce((total, gpu) => total + gpu.tflops, 0);
  assert.deepEqual(
    [bare.inet_up, bare.inet_down, bare.listed_volume_cost],
    [machine.inet_up_mbps, machine.inet_down_mbps, null],
  );
  assert.ok(Math.abs(bare.total_flops - tflops) < 1e-6);
  await listMachine(world, owner, host.machineId, { vol_size: 100, vol_price: 0.05 });
  assert.equal((await machineRecord(world, owner, host)).listed_volume_cost, 0.05);
});

test("a host's shown earnings, fee and rest agree with its payouts", async (t) => {
  const world = await testApp(t);
  const [owner, renter] = [await world.caller({ dollars: 0 }), await world.caller({ dollars: 1000 })];
  const host = await listedHost(world, { dollarsPerHour: 1 }, { owner });
  await inTransaction(world.env.database, async (tx) => {
    await setFeeRate(tx, { feePpm: 150_000 });
    // The renter pays with granted credit.
    await setEarningsRules(tx, { grantedAfterDays: 0, cardHoldDays: 14 });
  });
  await world.runLoop("invoice-earnings");
  const id = await rentAndRun(world, renter, host);
  const seen = async () => {
    const [{ body }, { body: listed }] = [
      await earnings(world, owner),
      await world.call({ url: "/api/v0/billing/payouts/", secret: owner.secret }),
    ];
    const { current, summary } = body;
    const sum = (key: "earned" | "fee" | "amount") =>
      listed.payouts.reduce((total: bigint, payout: Record<typeof key, number>) => total + exact(payout[key]), 0n);
    const parts = [summary.total_gpu, summary.total_stor, summary.total_bwu, summary.total_bwd];
    const gross = parts.reduce((total: bigint, part: number) => total + exact(part), 0n);
    // Gross is the invoiced amount of now or later; less the fees it is the amount sent or still there.
    assert.equal(exact(current.balance) - exact(current.service_fee), exact(current.total));
    assert.equal(gross, sum("fee") + sum("amount") + exact(current.balance));
    const [last] = listed.payouts;
    return { gross, current, invoiced: sum("earned"), count: listed.payouts.length, last };
  };
  await pass(world, host, 25 * HOUR_MS);
  await settleNow(world);
  const before = await seen();
  assert.ok(before.gross >= 25n * DOLLAR && before.count === 0);
  assert.equal(exact(before.current.service_fee), (before.gross * 15n) / 100n);
  world.clock.jump(DAY_MS - ((world.clock.now().getTime() - FRIDAY_MS) % (7 * DAY_MS)) + 6 * DAY_MS);
  await host.count();
  await destroy(world, renter, id);
  await settleNow(world);
  const due = await seen();
  await world.runLoop("invoice-earnings");
  const after = await seen();
  assert.equal(after.count, 1);
  assert.equal(after.invoiced, due.gross);
  assert.deepEqual([after.gross, exact(after.last.fee)], [due.gross, exact(due.current.service_fee)]);
  assert.equal(exact(after.last.amount) + exact(after.current.total), exact(due.current.total));
  assert.equal(after.current.service_fee, 0);
  await world.assertBooks();
});

test("earnings are the payments of renters for each machine on each day", async (t) => {
  const world = await testApp(t);
  const [owner, renter] = [await world.caller({ dollars: 0 }), await world.caller()];
  const [host, other] = [await world.host({ owner, gpus: 1 }), await world.host({ owner, gpus: 1 })];
  // Storage is free here, so that the sums are those of running alone.
  await world.env.pool.query("update machines set price_disk_nanos_per_gb_month = 0");
  const day = Math.floor(world.clock.now().getTime() / DAY_MS);
  await rentAndRun(world, renter, host);
  world.clock.jump(2 * HOUR_MS);
  await host.obey();
  await settleNow(world);
  world.clock.jump(DAY_MS);
  await host.obey();
  await rentAndRun(world, renter, other);
  world.clock.jump(HOUR_MS);
  await other.obey();
  await settleNow(world);
  const gpu = (dollars: number) => ({ gpu_earn: dollars, sto_earn: 0, bwu_earn: 0, bwd_earn: 0, sla_earn: 0 });
  const { status, body } = await earnings(world, owner, "?owner=me&machid=null");
  assert.equal(status, 200);
  const reliability = await Promise.all(
    [host, other].map(async (one) => (await machineRecord(world, owner, one)).reliability2),
  );
  const mean = Math.round(((reliability[0] + reliability[1]) / 2) * 10_000) / 10_000;
  const nothing = { total_stor: 0, total_bwu: 0, total_bwd: 0, total_sla: 0 };
  assert.deepEqual(body.summary, { total_gpu: 8.1, ...nothing, avg_reliability: mean });
  assert.deepEqual(body.per_machine, [
    { machine_id: host.machineId, ...gpu(7.8), reliability: reliability[0] },
    { machine_id: other.machineId, ...gpu(0.3), reliability: reliability[1] },
  ]);
  assert.deepEqual(body.per_day, [
    { day, ...gpu(0.6), reliability: null },
    { day: day + 1, ...gpu(7.5), reliability: null },
  ]);
  assert.deepEqual([body.sday, body.eday], [day - 28, day + 1]);
  assert.deepEqual([body.username, body.email], [owner.username, owner.email]);
  assert.deepEqual(body.current, { balance: 8.1, service_fee: 0, total: 8.1, credit: 0 });
  // Added up in the background or read from the transfers, the sums are the same, in any number of steps.
  for (let round = 0; round < 8; round += 1) {
    await world.runLoop("add-up-earnings");
    const { summary, per_machine: byMachine, per_day: byDay } = (await earnings(world, owner)).body;
    assert.deepEqual([summary, byMachine, byDay], [body.summary, body.per_machine, body.per_day]);
  }
  const { rows } = await world.env.pool.query(
    "select count(*)::int as count, sum(amount_nanos)::text as sum from ledger_earned_days",
  );
  assert.deepEqual(rows, [{ count: 1, sum: "600000000" }], "but for what is too fresh to be sure of");
  world.clock.jump(HOUR_MS);
  await world.runLoop("add-up-earnings");
  assert.deepEqual((await earnings(world, owner)).body.summary, body.summary);
  const one = await earnings(world, owner, `?machid=${other.machineId}&sday=${day}.5&eday=${day + 1}.9`);
  assert.deepEqual(one.body.per_day, [{ day: day + 1, ...gpu(0.3), reliability: null }]);
  assert.deepEqual([one.body.sday, one.body.eday], [day, day + 1]);
  assert.equal(one.body.summary.avg_reliability, reliability[1]);
  assert.deepEqual((await earnings(world, owner, "?last_days=1")).body.summary.total_gpu, 7.5);
  assert.deepEqual((await earnings(world, owner, `?eday=${day - 1}`)).body.per_day, []);
  const { per_machine: none, summary: empty } = (await earnings(world, renter)).body;
  assert.deepEqual([none, empty.avg_reliability], [[], null]);
  const record = await machineRecord(world, owner, host);
  assert.deepEqual([record.earn_day, record.earn_month], [7.2, 7.8]);
  await world.assertBooks();
});

test("an impossible earnings query is refused by its field", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  for (const [field, query] of [
    ["sday", "sday=-1"],
    ["sday", "sday=NaN"],
    ["sday", "sday=20000&eday=19999"],
    ["sday", "sday=1767225600"],
    ["sday", "sday=1&eday=20000"],
    ["eday", "eday=9007199254740992"],
    ["eday", "eday=today"],
    ["last_days", "last_days=0"],
    ["last_days", "last_days=3&sday=20000"],
    ["machid", "machid=-1"],
    ["machid", "machid=all"],
  ] as const) {
    const answer = await earnings(world, owner, `?${query}`);
    assert.deepEqual([answer.status, answer.body.field], [400, field], `${query}: ${answer.text}`);
  }
  const stranger = await world.caller();
  const foreign = await world.call({ url: `/api/v0/users/${owner.id}/machine-earnings/`, secret: stranger.secret });
  assert.equal(foreign.status, 403);
  const scoped = await world.caller({ permissions: { api: { machine_read: {} } } });
  assert.equal((await earnings(world, scoped)).status, 403);
});

test("volumes that are rented of a machine keep it from being deleted, and go on with a later end of the listing", async (t) => {
  const world = await testApp(t);
  const [owner, renter] = [await world.caller(), await world.caller()];
  const host = await world.host({ owner, gpus: 1 });
  await listMachine(world, owner, host.machineId, { vol_size: 100, vol_price: 0.05 });
  const { volume_offer: space, end_date: end } = await machineRecord(world, owner, host);
  const body = { id: space.id, size: 20 };
  const rented = await world.call({ method: "PUT", url: "/api/v0/volumes/", secret: renter.secret, body });
  assert.equal(rented.status, 200, rented.text);
  const tooSmall = await listMachine(world, owner, host.machineId, { vol_size: 10 });
  assert.deepEqual([tooSmall.status, tooSmall.body.field], [400, "vol_size"]);
  const later = await listMachine(world, owner, host.machineId, { end_date: end + 1000 });
  assert.equal(later.body.extended, 1);
  const { rows } = await world.env.pool.query("select extract(epoch from end_at)::float8 as end from volumes");
  assert.deepEqual(rows, [{ end: end + 1000 }]);
  const refused = await ofMachine(world, owner, host, ["POST", "force_delete/"]);
  assert.deepEqual([refused.status, refused.body.error], [409, "machine_in_use"]);
  const instance = await rentAndRun(world, renter, host);
  await destroy(world, renter, instance);
});
