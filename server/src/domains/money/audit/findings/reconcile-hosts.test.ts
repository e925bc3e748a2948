import assert from "node:assert/strict";
import { test } from "node:test";
import { soon } from "../../../../../../test/support/app.ts";
import {
  ONE_ALARM,
  ONE_ORDER,
  SILENCE,
  aScene,
  findingsOf,
} from "../../../../../../test/support/money/reconciliation.ts";

test("a host with an unknown instance is sent its desired set again", async (t) => {
  const scene = await aScene(t);
  const { world, host, next } = scene;
  const told = () => host.received.filter(({ kind }) => kind === "desired").length;
  await host.report([...host.obedience(), { instance_id: 4711, generation: 3, state: "running" }]);
  const before = told();
  assert.deepEqual(await next(), ONE_ORDER);
  await soon("the host to be told again", () => told() > before);
  await host.obey();
  assert.deepEqual(await next(), SILENCE, "it has removed it");
  assert.deepEqual(await findingsOf(scene), [
    { kind: "stray_instance", subject: "instance 4711", outcome: "told", foundCount: 1 },
  ]);
  assert.equal(
    world.complaints.some((line) => line.includes("stray_instance")),
    true,
  );
});

test("a host with an instance of another machine, or with a deleted volume, is sent its desired set again", async (t) => {
  const { world, id, next } = await aScene(t);
  const other = await world.host();
  await other.report([{ instance_id: id, generation: 1, state: "running" }], {
    volumes: [{ volume_id: 99, state: "present", used_bytes: 0, message: "" }],
  });
  assert.deepEqual(await next(), { found: 2, repaired: 0, told: 2, alarmed: 0 });
  await other.report([{ instance_id: id, generation: 1, state: "absent" }]);
  assert.deepEqual(await next(), SILENCE);
});

test("a host without an instance that it should run is sent its desired set again, after a delay", async (t) => {
  const scene = await aScene(t);
  const { host, next, id } = scene;
  await host.report([]);
  assert.deepEqual(await next(), ONE_ORDER);
  await host.obey();
  assert.deepEqual(await next(), SILENCE);
  assert.deepEqual(await findingsOf(scene), [
    { kind: "missing_instance", subject: `instance ${id}`, outcome: "told", foundCount: 1 },
  ]);
});

test("a host that counts more than is possible is an alarm, and its count is not stored", async (t) => {
  const scene = await aScene(t);
  const { host, next, id, sql } = scene;
  const [seen] = host.obedience();
  assert.ok(seen);
  const counters = { running_ms: 90_000_000, received_bytes: 0, sent_bytes: 0 };
  await host.report([{ ...seen, counters }]);
  assert.deepEqual(await next(), ONE_ALARM);
  const [run] = await sql("select running_ms < 600000 as is_small from instance_runs where instance_id = $1", [id]);
  assert.deepEqual(run, { is_small: true });
  assert.equal((await findingsOf(scene))[0]?.kind, "uncounted_time");
});

test("running time that a host counts and the server has not stored for minutes is an alarm", async (t) => {
  const scene = await aScene(t);
  const { host, next, id, sql } = scene;
  const [seen] = host.obedience();
  assert.ok(seen?.counters);
  // The host counted the same a moment ago: not every report's counters are stored.
  await host.report([{ ...seen, counters: { ...seen.counters, running_ms: seen.counters.running_ms + 90_000 } }]);
  assert.deepEqual(await next(), SILENCE);
  await sql("update instance_runs set last_counted_at = last_counted_at - interval '6 minutes'");
  assert.deepEqual(await next(), ONE_ALARM);
  assert.deepEqual(await findingsOf(scene), [
    { kind: "unbilled_time", subject: `instance ${id}`, outcome: "alarmed", foundCount: 1 },
  ]);
});

test("a machine that counts as away while its agent is connected counts as connected again, with a finding", async (t) => {
  const scene = await aScene(t);
  const { world, host, next, sql } = scene;
  const idle = await world.host();
  await sql("update machines set is_connected = false");
  assert.deepEqual(await next(), { found: 2, repaired: 2, told: 0, alarmed: 0 });
  assert.deepEqual(await sql("select distinct is_connected from machines"), [{ is_connected: true }]);
  const subjects = (await findingsOf(scene)).map(({ kind, subject }) => `${kind} ${subject}`).toSorted();
  assert.deepEqual(subjects, [host, idle].map(({ machineId }) => `false_absence machine ${machineId}`).toSorted());
  assert.deepEqual(await next(), SILENCE);
  await idle.disconnect();
  assert.deepEqual(await next(), SILENCE, "one that left is away");
});
