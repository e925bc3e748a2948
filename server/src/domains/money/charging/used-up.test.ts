import assert from "node:assert/strict";
import { test } from "node:test";
import { creditOfUser, testApp, type TestApp } from "../../../../../test/support/app.ts";
import { linesOf } from "../../../../../test/support/money/charges.ts";
import { listedHost } from "../../../../../test/support/money/contracts.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { rentAndRun, show } from "../../../../../test/support/rentals.ts";

const STEP_MS = 5_000;
/** A settlement interval of 15 seconds, and the 45 seconds within which a stop is certain. */
const LAST_SECONDS = 60;

async function setCap(world: TestApp, user: TestCaller, body: Readonly<Record<string, unknown>>) {
  const answer = await world.call({ method: "PUT", url: "/api/v0/caps/", secret: user.secret, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.cap;
}

async function readCap(world: TestApp, user: TestCaller) {
  return (await world.call({ url: "/api/v0/caps/", secret: user.secret })).body.caps[0];
}

/**
 * Lets time pass in small steps, with counts once a minute as the server stores them, until all of these have stopped.
 */
async function runUntilStopped(world: TestApp, host: FakeHost, user: TestCaller, ids: readonly number[]) {
  for (let step = 1; step <= 1_000; step += 1) {
    world.clock.jump(STEP_MS);
    if (step % 12 === 0) await host.count();
    const { stopped } = (await world.runLoop("settle-runs")) as { readonly stopped: number };
    if (stopped === 0) continue;
    await host.obey();
    await world.runLoop("settle-runs");
    const states = await Promise.all(ids.map((id) => show(world, user, id)));
    if (states.every((one) => one.intended_status === "stopped")) return;
  }
  throw new Error("it still runs");
}

async function unpaidOf(world: TestApp, id: number): Promise<bigint> {
  return (await linesOf(world, id)).reduce((sum, line) => sum + line.unpaid_nanos, 0n);
}

test("a cap stops its instance within the price of a minute of the limit, and never above it", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 3 });
  const user = await world.caller();
  await setCap(world, user, { scope: "account", period: "total", limit: 1.2 });
  const id = await rentAndRun(world, user, host);
  await runUntilStopped(world, host, user, [id]);
  const { spent, held, limit } = await readCap(world, user);
  assert.equal(held, 0);
  assert.ok(spent <= limit && spent >= limit - (3 * LAST_SECONDS) / 3_600, `${spent} of ${limit}`);
  assert.equal(await unpaidOf(world, id), 0n);
  await world.assertBooks();
});

test("a balance is used up to the price of its last minute, and never falls below zero", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 6 });
  const user = await world.caller({ dollars: 1.7 });
  const id = await rentAndRun(world, user, host);
  await runUntilStopped(world, host, user, [id]);
  const { balance, held } = await creditOfUser(world, user);
  assert.equal(held, 0n);
  assert.ok(balance >= 0n && balance <= BigInt(6 * LAST_SECONDS * 1_000_000_000) / 3_600n, `${balance}`);
  assert.equal(await unpaidOf(world, id), 0n);
  await world.assertBooks();
});

test("several instances use one cap up together: none is stopped long before another", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 3 }, { gpus: 4 });
  const user = await world.caller();
  await setCap(world, user, { scope: "account", period: "total", limit: 4 });
  const ids = [await rentAndRun(world, user, host), await rentAndRun(world, user, host)];
  await runUntilStopped(world, host, user, ids);
  const { spent, limit } = await readCap(world, user);
  assert.ok(spent <= limit && spent >= limit - (3 * LAST_SECONDS) / 3_600, `${spent} of ${limit}`);
  const times = await Promise.all(
    ids.map(async (id) => (await linesOf(world, id)).reduce((sum, line) => sum + line.quantity, 0n)),
  );
  const apart =
    (times[0] ?? 0n) > (times[1] ?? 0n) ? (times[0] ?? 0n) - (times[1] ?? 0n) : (times[1] ?? 0n) - (times[0] ?? 0n);
  assert.ok(apart <= 180_000n, `they ran for ${times.join(" and ")} ms`);
  for (const id of ids) assert.equal(await unpaidOf(world, id), 0n);
  await world.assertBooks();
});

test("a cap and a balance estimate when they stop their instances, at the current rate", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 3 }, { gpus: 4 });
  const user = await world.caller({ dollars: 10 });
  const cap = await setCap(world, user, { scope: "account", period: "total", limit: 6 });
  assert.equal(cap.stops_at, null, "nothing runs");
  const id = await rentAndRun(world, user, host);
  await setCap(world, user, { scope: "instance", scope_id: id, period: "total", limit: 3 });
  world.clock.jump(600_000);
  await host.count();
  const now = world.clock.now().getTime() / 1_000;
  const { caps } = (await world.call({ url: "/api/v0/caps/", secret: user.secret })).body;
  const stops = caps.map((one: { readonly stops_at: number }) => one.stops_at - now);
  // Half a dollar is used, and the price of a minute stays.
  assert.deepEqual(stops, [6_600 - 60, 3_000 - 60]);
  const { balance_stops_at: balanceStopsAt } = (await world.call({ url: "/api/v0/arrears/", secret: user.secret }))
    .body;
  assert.equal(balanceStopsAt - now, 11_400 - 60);
});
