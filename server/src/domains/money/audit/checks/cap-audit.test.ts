import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { audit } from "../audit-service.ts";

test("an audit names a cap whose limit, time or former limit was changed by hand, a cap without a change, and a cap that is missing", async (t) => {
  const world = await testApp(t);
  const user = await world.caller();
  const put = (limit: number) =>
    world.call({
      method: "PUT",
      url: "/api/v0/caps/",
      secret: user.secret,
      body: { scope: "account", period: "total", limit },
    });
  const problems = async () => {
    const { checks } = await audit({ database: world.env.database, clock: world.clock }, { isFull: false });
    return checks.find(({ name }) => name === "caps")!.differences.map(({ problem }) => problem);
  };
  const made = await put(5);
  assert.equal(made.status, 200, made.text);
  world.clock.jump(3 * 86_400_000);
  assert.equal((await put(7)).status, 200);
  assert.deepEqual(await problems(), []);
  const tampered = [
    ["limit_nanos = limit_nanos + 1", "its limit is not the one that its owner set"],
    ["holds_from_at = holds_from_at + interval '1 hour'", "it holds from another moment on"],
    ["limit_before_nanos = null", "another limit held before"],
  ];
  const { rows } = await world.env.pool.query("select limit_before_nanos from ledger_caps");
  assert.deepEqual(rows, [{ limit_before_nanos: 5_000_000_000n }]);
  for (const [change, problem] of tampered) {
    await world.env.pool.query("create table kept as select * from ledger_caps");
    await world.env.pool.query(`update ledger_caps set ${change}`);
    assert.deepEqual(await problems(), [problem]);
    await world.env.pool.query(
      `update ledger_caps set limit_nanos = kept.limit_nanos, holds_from_at = kept.holds_from_at,
         limit_before_nanos = kept.limit_before_nanos from kept`,
    );
    await world.env.pool.query("drop table kept");
  }
  await world.env.pool.query("update ledger_caps set period = 'day'");
  assert.deepEqual(await problems(), [
    "nobody set it, or it was removed",
    "its owner set a cap, and did not remove it",
  ]);
  await assert.rejects(
    world.env.pool.query("update ledger_cap_changes set limit_nanos = 1"),
    /append-only/,
    "what its owner did is never rewritten",
  );
});
