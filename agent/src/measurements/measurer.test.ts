import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { order } from "../../test/fixtures.ts";
import { ManualClock } from "../../test/manual-clock.ts";
import { useSessionWorld } from "../../test/session-world.ts";
import { parseBusyMs, parseTraffic, parseUplinks, parseUsedMemory, readMachineUse } from "./machine-use.ts";
import { Measurer, type MeasuredInstance } from "./measurer.ts";

describe("measurements of a host", () => {
  const world = useSessionWorld();

  it("are sent in equal steps to a server that asks for them, with each running instance", async () => {
    world.server.measureMs = 10_000;
    world.start();
    world.server.desire([order(7)]);
    const sent = () => world.server.peers[0]?.measurements ?? [];
    await world.clock.until("an instance with rates", () =>
      sent().some(({ instances: [first] }) => first?.receivedBytesPerS !== null && first !== undefined),
    );
    const beganMs = world.clock.monotonicMs();
    const count = sent().length;
    await world.clock.until("more", () => sent().length >= count + 6);
    const stepMs = (world.clock.monotonicMs() - beganMs) / 6;
    assert.ok(Math.abs(stepMs - 10_000) < 400, `one in ${stepMs} ms`);
    const last = sent().at(-1);
    assert.deepEqual(
      last?.instances.map((one) => one.instanceId),
      [7],
    );
    const [instance] = last?.instances ?? [];
    assert.ok((instance?.cpuPercent ?? 0) > 0 && (instance?.memoryBytes ?? 0) > 0);
    assert.ok((last?.machine.memoryBytes ?? 0) > (instance?.memoryBytes ?? 0));
    for (const gpu of last?.gpus ?? []) {
      assert.ok((gpu.temperatureC ?? 0) >= 20 && (gpu.temperatureC ?? 200) < 95);
      assert.ok((gpu.powerW ?? 0) > 0);
    }
  });

  it("are not sent to a server that does not ask", async () => {
    world.start();
    world.server.desire([order(7)]);
    await world.clock.until("it runs", world.isState(7, "running"));
    const reports = () => world.server.peers[0]?.reports.length ?? 0;
    const count = reports();
    await world.clock.until("heartbeats", () => reports() > count + 20);
    assert.deepEqual(world.server.peers[0]?.measurements, []);
  });
});

test("rates are differences of counters; the first measurement, a gone engine and a counter that began again have none", async () => {
  const clock = new ManualClock(async () => undefined);
  const one: MeasuredInstance = {
    ...{ instanceId: 7, generation: 1, gpuUuids: [], startedAtMs: 0, cpuPercent: 50, memoryBytes: 1, diskBytes: 2 },
    ...{ receivedBytes: 1_000, sentBytes: 0 },
  };
  let instances: readonly MeasuredInstance[] | undefined = [one];
  let busyMs = 5_000;
  const measurer = new Measurer({
    clock,
    gpus: () => [],
    readInstances: async () => instances,
    readMachine: async () => ({ busyMs, memoryBytes: null, diskBytes: null, receivedBytes: null, sentBytes: null }),
    readGpus: () => [],
  });
  const first = await measurer.take();
  assert.deepEqual([first?.machine.cpuPercent, first?.instances[0]?.receivedBytesPerS], [null, null]);
  await clock.advance(10_000);
  busyMs += 20_000;
  instances = [{ ...one, receivedBytes: 6_000 }];
  const second = await measurer.take();
  assert.equal(second?.machine.cpuPercent, 200, "two processors were busy");
  assert.deepEqual([second?.instances[0]?.receivedBytesPerS, second?.instances[0]?.sentBytesPerS], [500, 0]);
  instances = undefined;
  assert.equal(await measurer.take(), undefined);
  await clock.advance(10_000);
  instances = [{ ...one, generation: 2, receivedBytes: 9_000 }];
  assert.equal((await measurer.take())?.instances[0]?.receivedBytesPerS, null);
});

test("the kernel's files are read, and nonsense in them is unknown", async () => {
  assert.equal(parseBusyMs("cpu  10 2 5 1000 50 1 2 0 0 0\ncpu0 1 1 1 1\n"), 200);
  assert.equal(parseBusyMs("cpu what\n"), null);
  assert.equal(parseUsedMemory("MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:   400 kB\n"), 600 * 1024);
  assert.equal(parseUsedMemory(""), null);
  const routes = "Iface\tDestination\tGateway\neth0\t00000000\t0100000A\ndocker0\t000011AC\t00000000\n";
  const devices = "Inter-| Receive\n eth0: 100 1 0 0 0 0 0 0 50 1 0\ndocker0: 900 1 0 0 0 0 0 0 900 1\n";
  assert.deepEqual(parseTraffic(devices, parseUplinks(routes)), { receivedBytes: 100, sentBytes: 50 });
  assert.deepEqual(parseTraffic(devices, new Set()), { receivedBytes: null, sentBytes: null });
  const here = await readMachineUse("/");
  assert.ok((here.busyMs ?? 0) > 0 && (here.memoryBytes ?? 0) > 0 && (here.diskBytes ?? 0) > 0);
});
