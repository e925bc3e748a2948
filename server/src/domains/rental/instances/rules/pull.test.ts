import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { rent, show } from "../../../../../../test/support/rentals.ts";

test("the pull of an image is shown in bytes with its speed and the time that is left, and not after it", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rent(world, user, host);
  await host.synced();
  const generation = host.order(id)?.generation ?? 0;
  const report = (state: "pulling" | "running", pull?: object) =>
    host.report([{ instance_id: id, generation, state, ...pull }]);
  assert.equal((await show(world, user, id)).pull, null);
  await report("pulling");
  assert.equal((await show(world, user, id)).pull, null, "the size is not known yet");
  await report("pulling", { pull: { done_bytes: 0, total_bytes: 6_400, bytes_per_second: 0 } });
  assert.deepEqual((await show(world, user, id)).pull, {
    done_bytes: 0,
    total_bytes: 6_400,
    bytes_per_second: 0,
    eta_seconds: null,
  });
  await report("pulling", { pull: { done_bytes: 3_100, total_bytes: 6_400, bytes_per_second: 210 } });
  assert.deepEqual((await show(world, user, id)).pull, {
    done_bytes: 3_100,
    total_bytes: 6_400,
    bytes_per_second: 210,
    eta_seconds: 16,
  });
  await report("pulling", { pull: { done_bytes: 9_000, total_bytes: 6_400, bytes_per_second: 210 } });
  const lie = (await show(world, user, id)).pull;
  assert.deepEqual([lie.done_bytes, lie.eta_seconds], [6_400, 0], "a host cannot have more than all");
  await report("running", { pull: { done_bytes: 1, total_bytes: 2, bytes_per_second: 1 } });
  assert.equal((await show(world, user, id)).pull, null);
});
