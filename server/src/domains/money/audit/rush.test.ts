// Concurrent settlements, bids, stops, prepayments, caps and reports: no circle of transactions that wait for each
// other.
import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { assertLines } from "../../../../../test/support/money/charges.ts";
import { listedHost, prepay } from "../../../../../test/support/money/contracts.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { changeBid, destroy, rentAndRun, setState } from "../../../../../test/support/rentals.ts";
import { settleDue } from "../charging/index.ts";
import { audit } from "./audit-service.ts";

const ROUNDS = 8;
const HOSTS = 3;
const MINUTE_MS = 60_000;
const LOOPS = ["settle-runs", "settle-volumes", "tell-of-caps", "return-deposits", "review-schedules"];

async function aRush(world: TestApp, hosts: readonly FakeHost[], renter: TestCaller, ids: readonly number[]) {
  const { database, pool } = world.env;
  const cap = (scope: object, limit: number) =>
    world.call({
      method: "PUT",
      url: "/api/v0/caps/",
      secret: renter.secret,
      body: { ...scope, limit, period: "day" },
    });
  let capped = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    world.clock.jump(MINUTE_MS);
    await pool.query("update instance_tabs set settle_at = $1 where settle_at > $1", [world.clock.now()]);
    const answers = await Promise.all([
      ...ids.map((id, index) => {
        switch ((index + round) % 5) {
          case 0:
            return changeBid(world, renter, id, 0.5 + ((index * round) % 7) / 10);
          case 1:
            return setState(world, renter, id, "stopped");
          case 2:
            return setState(world, renter, id, "running");
          case 3:
            return prepay(world, renter, id, 1);
          default:
            return cap({ scope: "instance", scope_id: id }, 50 + round);
        }
      }),
      cap({ scope: "account" }, 500 + round),
      settleDue(database, world.clock).then(() => undefined),
      settleDue(database, world.clock).then(() => undefined),
      ...hosts.map((host) => host.report(host.obedience()).then(() => undefined)),
      ...LOOPS.map(async (name) => void (await world.runLoop(name))),
    ]);
    for (const answer of answers) assert.ok((answer?.status ?? 200) < 500, answer?.text);
    capped += answers.filter((answer) => answer?.body.cap !== undefined).length;
  }
  assert.ok(capped >= ROUNDS, "caps were set");
}

test("settlements, bids, stops, prepayments, caps and reports that run concurrently never deadlock", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller({ dollars: 10_000 });
  const hosts: FakeHost[] = [];
  const ids: number[] = [];
  for (let count = 0; count < HOSTS; count += 1) {
    const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 4 });
    hosts.push(host);
    ids.push(await rentAndRun(world, renter, host), await rentAndRun(world, renter, host));
    ids.push(await rentAndRun(world, renter, host, { price: 0.9 }));
  }
  await aRush(world, hosts, renter, ids);
  assert.deepEqual(world.complaints, []);
  for (const id of ids) await destroy(world, renter, id);
  for (const host of hosts) await host.count();
  for (const name of LOOPS) await world.runLoop(name);
  await assertLines(world);
  await world.assertBooks();
  const { checks } = await audit({ database: world.env.database, clock: world.clock }, { isFull: true });
  assert.deepEqual(
    checks.flatMap(({ differences }) => differences),
    [],
  );
  const { rows } = await world.env.pool.query<{ deadlocks: bigint }>(
    "select deadlocks from pg_stat_database where datname = current_database()",
  );
  assert.equal(Number(rows[0]?.deadlocks), 0);
});
