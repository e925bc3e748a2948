import assert from "node:assert/strict";
import { test } from "node:test";
import { settleNow } from "../../../../../../test/support/money/charges.ts";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { listedHost } from "../../../../../../test/support/money/contracts.ts";
import { rentAndRun } from "../../../../../../test/support/rentals.ts";

async function ask(world: TestApp, user: TestCaller, path: string) {
  const answer = await world.call({ url: `/api/v0/charges/${path}`, secret: user.secret });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

type Shown = { readonly id: string; readonly name: string; readonly total: number };

test("spending is split by day, and the forecast follows from what runs now", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 0.5 }, { gpus: 2 });
  const [user, stranger] = [await world.caller({ dollars: 10 }), await world.caller()];
  const label = "<b>training</b>";
  const first = await rentAndRun(world, user, host, { label });
  const second = await rentAndRun(world, user, host);
  for (let minute = 0; minute < 30; minute += 1) {
    world.clock.jump(10_000);
    await host.count();
  }
  await settleNow(world);
  const byLabel = await ask(world, user, "split/?by=label&days=2");
  assert.deepEqual([byLabel.by, byLabel.days.length], ["label", 2]);
  assert.deepEqual(byLabel.series.map(({ id }: Shown) => id).toSorted(), [`label:${label}`, "none"]);
  assert.ok(byLabel.total > 0);
  const sum = byLabel.series.reduce((total: number, one: Shown) => total + one.total, 0);
  assert.ok(Math.abs(sum - byLabel.total) < 1e-8);
  const names = (await ask(world, user, "split/")).series.map(({ id, name }: Shown) => [id, name]);
  assert.deepEqual(Object.fromEntries(names), {
    [`instance:${first}`]: label,
    [`instance:${second}`]: `Instance ${second}`,
  });
  const ids = async (by: string) => (await ask(world, user, `split/?by=${by}`)).series.map(({ id }: Shown) => id);
  assert.deepEqual(await ids("kind"), ["instance"]);
  assert.deepEqual(await ids("endpoint"), ["none"]);
  assert.match((await ids("key")).join(), /^key:\d+$/);
  assert.deepEqual(await ids("person"), [`person:${user.id}`]);
  assert.deepEqual((await ask(world, stranger, "split/")).series, []);
  const forecast = await ask(world, user, "forecast/");
  assert.ok(forecast.cost_per_hour >= 1 && forecast.balance < 10);
  assert.ok(forecast.month >= byLabel.total && forecast.month_forecast > forecast.month);
  const now = world.clock.now().getTime() / 1000;
  const hours = (forecast.runs_dry_at - now) / 3600;
  assert.ok(Math.abs(hours - forecast.balance / forecast.cost_per_hour) < 0.01, JSON.stringify(forecast));
  const idle = await ask(world, stranger, "forecast/");
  assert.deepEqual([idle.balance, idle.cost_per_hour, idle.month_forecast, idle.runs_dry_at], [100, 0, 0, null]);
  for (const [query, field] of [
    ["by=owner", "by"],
    ["days=0", "days"],
    ["days=93", "days"],
  ] as const) {
    const refused = await world.call({ url: `/api/v0/charges/split/?${query}`, secret: user.secret });
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, new RegExp(field));
  }
});
