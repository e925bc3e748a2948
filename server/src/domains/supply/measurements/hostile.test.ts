import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { aMeasurement, tell } from "../../../../../test/support/hosts/measuring.ts";
import { rentAndRun } from "../../../../../test/support/rentals.ts";

async function read(world: TestApp, path: string, { secret }: TestCaller) {
  const answer = await world.call({ url: path, secret });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null);

test("a host can say something only of instances on its own machine, and only what a machine can use", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const [host, liar] = [await world.host({ gpus: 2 }), await world.host({ gpus: 1 })];
  const id = await rentAndRun(world, renter, host);
  const lies = { cpu_percent: 1e300, memory_bytes: 1e300, disk_bytes: 0, received_bytes_per_s: 1e308 };
  await tell(liar, aMeasurement(liar, { instances: { [id]: { memory_bytes: 5 }, 999_999: { memory_bytes: 5 } } }));
  const gpus = host.gpus.map(() => ({ utilization_percent: 900, temperature_c: 1e9, power_w: 1e9 }));
  for (let index = 0; index < 50; index += 1) {
    await tell(host, aMeasurement(host, { machine: lies, gpus, instances: { [id]: lies } }));
  }
  assert.deepEqual(await world.runLoop("store-measurements"), { stored: 2, dropped: 0 });
  world.clock.jump(10_000);
  const { body } = await read(world, `/api/v0/instances/${id}/measurements/`, renter);
  assert.deepEqual(known(body.series.gpu_util), [100], "fifty messages at once are one measurement");
  assert.deepEqual(known(body.series.gpu_temperature), [200]);
  assert.deepEqual(known(body.series.cpu_util), [1]);
  assert.deepEqual(known(body.series.memory_bytes), [2 ** 53]);
  const { rows } = await world.env.pool.query("select octet_length(content) as bytes from measurement_samples");
  assert.ok(rows.every(({ bytes }) => bytes < 200));

  for (const text of [
    JSON.stringify(aMeasurement(host, { machine: { memory_bytes: -1 } })),
    JSON.stringify({ ...aMeasurement(host), machine: { cpu_percent: "NaN" } }),
    JSON.stringify(aMeasurement(host)).replace('"cpu_percent":null', '"cpu_percent":1e999'),
    JSON.stringify({ ...aMeasurement(host), gpus: Array.from({ length: 65 }, () => ({})) }),
  ]) {
    await host.disconnect();
    await host.connect();
    host.sendText(text);
    assert.equal(await host.closed(), 4400, text.slice(0, 80));
  }
  assert.deepEqual(world.complaints, [], "a host's mistake is no alarm of ours");
});

test("a later renter of the same machine sees nothing of an earlier one, and an earlier one only what was theirs", async (t) => {
  const world = await testApp(t);
  const [first, second] = [await world.caller(), await world.caller()];
  const host = await world.host({ gpus: 1 });
  const earlier = await rentAndRun(world, first, host);
  await tell(host, aMeasurement(host, { gpus: [{ utilization_percent: 91 }], instances: { [earlier]: {} } }));
  await world.runLoop("store-measurements");
  world.clock.jump(10_000);
  await world.call({ method: "DELETE", url: `/api/v0/instances/${earlier}/`, secret: first.secret });
  await host.obey();
  await world.settled();
  const later = await rentAndRun(world, second, host);
  await tell(host, aMeasurement(host, { gpus: [{ utilization_percent: 17 }], instances: { [later]: {} } }));
  await world.runLoop("store-measurements");
  world.clock.jump(10_000);
  const loads = async (id: number, who: TestCaller) =>
    known((await read(world, `/api/v0/instances/${id}/measurements/`, who)).body.series.gpu_util);
  assert.deepEqual(await loads(earlier, first), [91]);
  assert.deepEqual(await loads(later, second), [17]);
  const refused = await world.call({ url: `/api/v0/instances/${earlier}/measurements/`, secret: second.secret });
  assert.equal(refused.status, 404);

  const { body } = await read(world, `/api/v0/instances/measurements/latest/?ids=${earlier},${later}`, second);
  assert.deepEqual([body.resolution_seconds, body.instances.length], [60, 1]);
  assert.equal(body.instances[0].id, later);
  assert.deepEqual(known(body.instances[0].gpu_util), [17]);
  assert.equal(body.times.length, body.instances[0].gpu_util.length);
});

test("Prometheus text has the running instances of the caller, each GPU once, with escaped labels", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const host = await world.host({ gpus: 2, facts: { cpu_cores: 8 } });
  const id = await rentAndRun(world, renter, host, { size: 2 });
  const label = 'a "quoted" \\ label\nof two lines';
  const url = `/api/v0/instances/${id}/`;
  await world.call({ method: "PUT", url, secret: renter.secret, body: { label } });
  const gpus = [{ utilization_percent: 50 }, { utilization_percent: 100, temperature_c: 70 }];
  await tell(host, aMeasurement(host, { gpus, instances: { [id]: { cpu_percent: 200, memory_bytes: 1_000 } } }));
  await world.runLoop("store-measurements");
  const answer = await read(world, "/api/v0/instances/metrics/", renter);
  assert.equal(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
  const labels = String.raw`id="${id}",label="a \"quoted\" \\ label\nof two lines"`;
  assert.deepEqual(
    answer.text.split("\n").filter((line) => !line.startsWith("#") && line !== ""),
    [
      `berth_instance_gpu_utilization_ratio{${labels},gpu="0"} 0.5`,
      `berth_instance_gpu_utilization_ratio{${labels},gpu="1"} 1`,
      `berth_instance_gpu_temperature_celsius{${labels},gpu="1"} 70`,
      `berth_instance_cpu_utilization_ratio{${labels}} 0.25`,
      `berth_instance_memory_bytes{${labels}} 1000`,
    ],
  );
  assert.match(answer.text, /^(# (HELP|TYPE) \w+ .+\n|\w+\{(\w+="([^"\\\n]|\\["\\n])*",?)+\} [\d.e+-]+\n)*$/);
  assert.equal((await read(world, "/api/v0/instances/metrics/", await world.caller())).text, "");
  world.clock.jump(120_000);
  assert.equal((await read(world, "/api/v0/instances/metrics/", renter)).text, "", "old readings say nothing of now");
});

test("two servers store the measurements of one machine once, and roll each of them up once", async (t) => {
  const world = await testApp(t);
  const second = await testApp(t, { env: world.env, clock: world.clock });
  const [owner, renter] = [await world.caller(), await world.caller()];
  const host = await world.host({ owner, gpus: 1 });
  const id = await rentAndRun(world, renter, host);
  world.clock.jump(900_000 - (world.clock.now().getTime() % 900_000));
  const fromS = world.clock.now().getTime() / 1000;
  const say = async (server: TestApp, load: number) => {
    await tell(host, aMeasurement(host, { gpus: [{ utilization_percent: load }], instances: { [id]: {} } }));
    await server.runLoop("store-measurements");
  };
  await say(world, 10);
  // Within the same ten seconds it connects to the other server.
  await host.connectTo(second.origin);
  await say(second, 90);
  world.clock.jump(10_000);
  await say(second, 30);
  world.clock.jump(1_200_000);
  const rolled = await Promise.all([world.runLoop("roll-up-measurements"), second.runLoop("roll-up-measurements")]);
  const blocks = rolled.map((one) => Number(Reflect.get(Object(one), "blocks")));
  assert.equal(blocks[0]! + blocks[1]!, 6, "three resolutions of a machine and an instance");
  const path = `/api/v0/instances/${id}/measurements/?from=${fromS}&to=${fromS + 20}`;
  for (const server of [world, second]) {
    const { body } = await read(server, path, renter);
    assert.deepEqual(body.series.gpu_util, [10, 30]);
  }
  await second.close();
});

test("old blocks are deleted in each resolution, and quarter hours are joined to days that read the same", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const host = await world.host({ gpus: 1 });
  const id = await rentAndRun(world, renter, host);
  const dayMs = 86_400_000;
  world.clock.jump(dayMs - (world.clock.now().getTime() % dayMs));
  const fromS = world.clock.now().getTime() / 1000;
  for (let quarter = 0; quarter < 4; quarter += 1) {
    const gpus = [{ utilization_percent: 10 * quarter }];
    await tell(host, aMeasurement(host, { gpus, instances: { [id]: {} } }));
    await world.runLoop("store-measurements");
    world.clock.jump(900_000);
    await host.report(host.obedience());
  }
  world.clock.jump(900_000);
  await world.runLoop("roll-up-measurements");
  const stepsOf = async () => {
    const { rows } = await world.env.pool.query(
      "select step_s, count(*)::integer as count from measurement_blocks where subject_kind = 1 group by 1 order by 1",
    );
    return rows.map((row) => [row.step_s, row.count]);
  };
  assert.deepEqual(await stepsOf(), [
    [10, 4],
    [60, 4],
    [900, 4],
  ]);
  const path = `/api/v0/instances/${id}/measurements/?from=${fromS}&to=${fromS + 3_600}&resolution=900`;
  const before = (await read(world, path, renter)).body;
  assert.deepEqual(before.series.gpu_util, [0, 10, 20, 30]);
  world.clock.jump(dayMs + 3 * 3_600_000);
  assert.deepEqual(await world.runLoop("keep-measurements"), { joined: 2, forgotten: 8 });
  assert.deepEqual(await stepsOf(), [
    [60, 4],
    [900, 1],
  ]);
  assert.deepEqual((await read(world, path, renter)).body.series, before.series);
  world.clock.jump(3 * dayMs);
  await world.runLoop("keep-measurements");
  assert.deepEqual(await stepsOf(), [[900, 1]]);
  world.clock.jump(190 * dayMs);
  await world.runLoop("keep-measurements");
  assert.deepEqual(await stepsOf(), []);
});
