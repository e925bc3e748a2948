import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { machineRecord } from "../../../../../test/support/hosts/hosting.ts";

test("a host sees its machines that are out of rotation with the reason, their number, and no other host's", async (t) => {
  const world = await testApp(t);
  const [owner, other] = [await world.caller(), await world.caller()];
  const host = await world.host({ owner, gpus: 4 });
  await world.host({ owner });
  await world.host({ owner: other });
  const errors = async (by: TestCaller) => {
    const list = await world.call({ url: "/api/v0/machines/errors", secret: by.secret });
    const { body } = await world.call({ url: "/api/v0/machines/errors/count", secret: by.secret });
    assert.deepEqual([list.status, body], [200, { count: list.body.length }]);
    return list.body;
  };
  assert.deepEqual(await errors(owner), []);
  const gpus = host.gpus.map(({ uuid, index }) => ({
    uuid,
    is_healthy: index !== 3,
    reason: index === 3 ? "it is hot" : "",
    utilization_percent: null,
    temperature_c: null,
  }));
  await host.report(host.obedience(), { gpus });
  const { last_seen: date, error_description: description } = await machineRecord(world, owner, host);
  assert.equal(description, "GPU 3: it is hot");
  assert.deepEqual(await errors(owner), [{ machine_id: host.machineId, error_description: description, date }]);
  assert.deepEqual(await errors(other), []);
});
