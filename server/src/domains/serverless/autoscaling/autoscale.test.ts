import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import { setState, stored } from "../../../../../test/support/rentals.ts";
import {
  aFleet,
  anAutoscaler,
  bringUp,
  decideNow,
  orders,
  rentUpTo,
  sayStatus,
  sentencesOf,
  workersOf,
} from "../../../../../test/support/serverless/workers.ts";
import type { Action, Situation } from "./rules/types.ts";

const secret = randomBytes(32);

test("a worker is rented in its owner's name, with its row, its limits and its identity", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const host = await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner);
  const autoscaler = anAutoscaler(world, { secret, decide: rentUpTo(1) });
  await decideNow(autoscaler, fleet);
  const [worker] = await workersOf(world, fleet);
  assert.ok(worker);
  const { rows } = await world.env.pool.query("select user_id, cap_scopes from instances where id = $1", [
    worker.instance_id,
  ]);
  assert.equal(rows[0].user_id, owner.id);
  assert.ok(rows[0].cap_scopes.includes(`endpoint:${fleet.endpointId}`), String(rows[0].cap_scopes));
  await host.synced();
  const order = host.order(worker.instance_id);
  const env = new Map(order?.env.map(([name, value]) => [name, value]));
  assert.equal(env.get("SERVERLESS"), "true");
  assert.equal(env.get("ENDPOINT_ID"), String(fleet.endpointId));
  assert.equal(env.get("WORKERGROUP_ID"), String(fleet.groupId));
  assert.equal(env.get("WORKER_PORT"), "3000");
  assert.match(env.get("MASTER_TOKEN") ?? "", /^berth_worker_/);
  const port = order?.ports.find(({ container_port: inside }) => inside === 3000);
  assert.deepEqual(port, { container_port: 3000, protocol: "tcp" });
  const { rows: names } = await world.env.pool.query(
    "select worker_group_id from endpoint_worker_names where instance_id = $1",
    [worker.instance_id],
  );
  assert.deepEqual(names, [{ worker_group_id: fleet.groupId }]);
  const said = await sentencesOf(world, fleet);
  assert.ok(
    said.some((sentence) => sentence.includes(`Worker ${worker.instance_id} is rented on machine ${host.machineId}`)),
    said.join("\n"),
  );
  await world.assertBooks();
});

test("an endpoint never has more workers than its limit, however many a decision rents", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  for (let count = 0; count < 4; count += 1) await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner, { endpoint: { max_workers: 2 } });
  const both = [
    anAutoscaler(world, { secret, decide: rentUpTo(4) }),
    anAutoscaler(world, { secret, decide: rentUpTo(4) }),
  ];
  await Promise.all(both.map((autoscaler) => decideNow(autoscaler, fleet)));
  assert.equal((await workersOf(world, fleet)).length, 2);
});

test("an empty balance is logged once, pauses spending for a while, and does not affect other endpoints", async (t) => {
  const world = await testApp(t, { secret });
  const [poor, rich] = [await world.caller({ dollars: 0 }), await world.caller()];
  await world.host({ gpus: 2 });
  const [broke, paid] = [await aFleet(world, poor), await aFleet(world, rich)];
  const stops: (string | undefined)[] = [];
  let isPaidAsleep = true;
  const autoscaler = anAutoscaler(world, {
    secret,
    decide: (situation) => {
      if (situation.endpointId === broke.endpointId) stops.push(situation.spendingStop?.reason);
      else if (isPaidAsleep) return orders();
      return situation.spendingStop === undefined ? rentUpTo(1)(situation) : orders();
    },
  });
  await decideNow(autoscaler, broke);
  await decideNow(autoscaler, broke);
  isPaidAsleep = false;
  await decideNow(autoscaler, paid);
  assert.equal((await workersOf(world, broke)).length, 0);
  assert.equal((await workersOf(world, paid)).length, 1);
  assert.match(stops.at(-1) ?? "", /Not enough credit/);
  const refusals = (await sentencesOf(world, broke)).filter((sentence) => sentence.includes("Not enough credit"));
  assert.equal(refusals.length, 1);
  world.clock.jump(31_000);
  await decideNow(autoscaler, broke);
  assert.ok(stops.includes(undefined) && stops.at(-1) === undefined, "it is tried again");
});

test("a failure at one endpoint does not delay the others, and is reported to the operator", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  await world.host({ gpus: 1 });
  const [bad, good] = [await aFleet(world, owner), await aFleet(world, owner)];
  const autoscaler = anAutoscaler(world, {
    secret,
    decide: (situation) => {
      if (situation.endpointId === bad.endpointId) throw new TypeError("a rule is broken");
      return rentUpTo(1)(situation);
    },
  });
  await assert.rejects(autoscaler.run(), /a rule is broken/);
  assert.equal((await workersOf(world, good)).length, 1);
});

/** Gives these orders for every worker, as soon as there is one. */
const always =
  (...kinds: readonly ("stop" | "destroy" | "start" | "update")[]) =>
  ({ workers }: Situation) =>
    orders(...workers.flatMap(({ id }) => kinds.map((kind): Action => ({ kind, workerId: id, why: "a test" }))));

const drains =
  (to: "stop" | "destroy" | "update") =>
  ({ workers }: Situation) =>
    orders(
      ...workers.flatMap(({ id, draining }): Action[] =>
        draining === undefined ? [{ kind: "drain", workerId: id, to, why: "a test" }] : [],
      ),
    );

test("a worker that takes requests is stopped only after it drained and then reported that it has none", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const host = await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner);
  let decide: (situation: Situation) => ReturnType<typeof orders> = rentUpTo(1);
  const autoscaler = anAutoscaler(world, { secret, decide: (situation) => decide(situation) });
  await decideNow(autoscaler, fleet);
  const id = (await workersOf(world, fleet))[0]?.instance_id ?? 0;
  await bringUp(world, host, [id]);
  assert.equal((await sayStatus(world, host, id, { num_requests_working: 1, cur_load: 50 })).status, 200);

  const phaseNow = async () => (await stored(world, id)).phase;
  decide = always("stop", "destroy", "update");
  await decideNow(autoscaler, fleet);
  assert.equal(await phaseNow(), "running", "it was not drained");
  decide = drains("stop");
  await decideNow(autoscaler, fleet);
  assert.equal((await workersOf(world, fleet))[0]?.draining_to, "stop");
  decide = always("stop", "destroy");
  world.clock.jump(3_000);
  await decideNow(autoscaler, fleet);
  assert.equal(await phaseNow(), "running", "what it said last is that it is busy");
  world.clock.jump(3_000);
  await sayStatus(world, host, id, { num_requests_working: 1, cur_load: 50, max_perf: 101 });
  await decideNow(autoscaler, fleet);
  assert.equal(await phaseNow(), "running", "it is busy");
  world.clock.jump(6_000);
  await sayStatus(world, host, id);
  decide = always("stop");
  await decideNow(autoscaler, fleet);
  assert.equal(await phaseNow(), "stopping");
  await host.obey();
  const [worker] = await workersOf(world, fleet);
  assert.deepEqual([worker?.phase, worker?.is_ready, worker?.draining_to], ["stopped", false, null]);

  decide = always("start");
  await decideNow(autoscaler, fleet);
  await bringUp(world, host, [id]);
  assert.equal((await workersOf(world, fleet))[0]?.is_ready, true);
  const { rows } = await world.env.pool.query(
    "select first_start_ms is not null as first, warm_start_ms is not null as warm from endpoint_workers",
  );
  assert.deepEqual(rows, [{ first: true, warm: true }]);
});

test("workers that their owner stopped, started or destroyed are recognised as such", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const host = await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner);
  let seen: Situation | undefined;
  let count = 1;
  const autoscaler = anAutoscaler(world, {
    secret,
    decide: (situation) => {
      seen = situation;
      return rentUpTo(count)(situation);
    },
  });
  await decideNow(autoscaler, fleet);
  const id = (await workersOf(world, fleet))[0]?.instance_id ?? 0;
  count = 0;
  await bringUp(world, host, [id]);
  const phaseSeen = async () => {
    await decideNow(autoscaler, fleet);
    return seen?.workers[0]?.phase;
  };
  assert.equal(await phaseSeen(), "ready");
  await setState(world, owner, id, "stopped");
  assert.equal(await phaseSeen(), "stopping");
  await host.obey();
  assert.equal(await phaseSeen(), "stopped");
  assert.equal((await workersOf(world, fleet))[0]?.is_ready, false);
  world.clock.jump(10_000);
  await setState(world, owner, id, "running");
  assert.equal(await phaseSeen(), "starting");
  await bringUp(world, host, [id]);
  assert.equal(await phaseSeen(), "ready");
  const answer = await world.call({
    method: "DELETE",
    url: `/api/v0/instances/${id}/`,
    secret: owner.secret,
    body: {},
  });
  assert.equal(answer.status, 200);
  assert.equal(await phaseSeen(), undefined);
  assert.deepEqual(await workersOf(world, fleet), []);
});

test("a worker that reports a failure is failed, its machine is avoided, and the next worker waits for the back-off", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const [one, other] = [await world.host({ gpus: 1 }), await world.host({ gpus: 1 })];
  const fleet = await aFleet(world, owner);
  const groups: Situation["groups"][] = [];
  const offered: number[][] = [];
  const autoscaler = anAutoscaler(world, {
    secret,
    decide: (situation) => {
      groups.push([...situation.groups]);
      offered.push(situation.offers.map(({ machineId }) => machineId));
      const failed = situation.workers.filter(({ phase }) => phase === "failed");
      if (failed.length > 0) {
        return orders(...failed.map(({ id }): Action => ({ kind: "destroy", workerId: id, why: "it failed" })));
      }
      const [group] = situation.groups;
      return (group?.resumesAtMs ?? 0) > situation.nowMs ? orders() : rentUpTo(1)(situation);
    },
  });
  await decideNow(autoscaler, fleet);
  const first = (await workersOf(world, fleet))[0]?.instance_id ?? 0;
  await Promise.all([one.synced(), other.synced()]);
  const [its, others] = one.order(first) === undefined ? [other, one] : [one, other];
  await its.obey();
  const early = { id: first, mtoken: new Map(its.order(first)?.env).get("MASTER_TOKEN"), version: "1", url: "" };
  const answer = await world.call({
    method: "POST",
    url: "/worker_status/",
    body: { ...early, error_msg: "no such model" },
  });
  assert.equal(answer.status, 200, answer.text);
  await decideNow(autoscaler, fleet);
  assert.deepEqual(await workersOf(world, fleet), []);
  assert.equal(groups.at(-1)?.[0]?.failureCount, 1);
  world.clock.jump(9_000);
  await decideNow(autoscaler, fleet);
  assert.equal((await workersOf(world, fleet)).length, 0);
  world.clock.jump(2_000);
  await decideNow(autoscaler, fleet);
  assert.deepEqual(offered.at(-1), [others.machineId]);
  assert.equal((await workersOf(world, fleet)).length, 1);
  const said = await sentencesOf(world, fleet);
  assert.ok(
    said.some((sentence) => sentence.includes("it says: no such model.")),
    said.join("\n"),
  );
});

test("a ready worker that falls silent is failed after a minute, unless the server could not have heard it", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const host = await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner);
  let count = 1;
  const autoscaler = anAutoscaler(world, { secret, decide: (situation) => rentUpTo(count)(situation) });
  await decideNow(autoscaler, fleet);
  const id = (await workersOf(world, fleet))[0]?.instance_id ?? 0;
  count = 0;
  await bringUp(world, host, [id]);
  // This server did nothing for two minutes: the silence in that time says nothing about the worker.
  world.clock.jump(120_000);
  await decideNow(autoscaler, fleet);
  assert.equal((await workersOf(world, fleet))[0]?.failure, "");
  for (let second = 0; second < 65; second += 5) {
    world.clock.jump(5_000);
    await decideNow(autoscaler, fleet);
  }
  assert.match((await workersOf(world, fleet))[0]?.failure ?? "", /has not reported for/);
});

test("a worker that is not ready in time, or whose container ends, is failed", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const hosts = [await world.host({ gpus: 1 }), await world.host({ gpus: 1 })];
  const fleet = await aFleet(world, owner);
  const autoscaler = anAutoscaler(world, { secret, decide: rentUpTo(2) });
  await decideNow(autoscaler, fleet);
  for (const host of hosts) await host.obey();
  const [slow, ended] = await workersOf(world, fleet);
  const broken = hosts.find((host) => host.order(ended?.instance_id ?? 0) !== undefined);
  await broken?.report(
    broken.obedience().map((seen) => ({ ...seen, state: "exited", status_msg: "exited with code 1" })),
  );
  world.clock.jump(590_000);
  await decideNow(autoscaler, fleet);
  const failures = async () =>
    new Map((await workersOf(world, fleet)).map((one) => [Number(one.instance_id), one.failure]));
  assert.equal((await failures()).get(Number(slow?.instance_id)), "");
  assert.match(
    (await failures()).get(Number(ended?.instance_id)) ?? "",
    /its container ended by itself: exited with code 1/,
  );
  world.clock.jump(20_000);
  await decideNow(autoscaler, fleet);
  assert.match((await failures()).get(Number(slow?.instance_id)) ?? "", /was not ready 10 minutes after/);
});

test("an outdated worker is notified, recreated from the present recipe, and has to report again that it is ready", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const host = await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner);
  const told: string[] = [];
  let decide: (situation: Situation) => ReturnType<typeof orders> = rentUpTo(1);
  const autoscaler = anAutoscaler(world, {
    secret,
    decide: (situation) => decide(situation),
    tellUpdate: async ({ url, token }) => {
      told.push(`${url} ${token}`);
    },
  });
  await decideNow(autoscaler, fleet);
  const id = (await workersOf(world, fleet))[0]?.instance_id ?? 0;
  await bringUp(world, host, [id]);
  const answer = await world.call({
    method: "PUT",
    url: `/api/v0/workergroups/${fleet.groupId}/`,
    secret: owner.secret,
    body: { launch_args: "--image alpine --disk 10" },
  });
  assert.equal(answer.status, 200, answer.text);
  decide = drains("update");
  await decideNow(autoscaler, fleet);
  world.clock.jump(6_000);
  await sayStatus(world, host, id);
  decide = always("update");
  await decideNow(autoscaler, fleet);
  assert.equal(told.length, 1);
  assert.match(told[0] ?? "", /^http:\/\/192\.0\.2\.1:40000 berth_worker_/);
  const [worker] = await workersOf(world, fleet);
  assert.deepEqual([worker?.generation, worker?.is_ready, worker?.draining_to], [2, false, null]);
  await bringUp(world, host, [id]);
  assert.match(host.order(id)?.image ?? "", /alpine/);
  assert.equal(new Map(host.order(id)?.env).get("WORKERGROUP_ID"), String(fleet.groupId));
  decide = () => orders();
  await decideNow(autoscaler, fleet);
  const { rows } = await world.env.pool.query("select is_updating from worker_groups");
  assert.deepEqual(rows, [{ is_updating: false }]);
});

test("a stopped worker is updated where it is, and stays stopped", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const host = await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner);
  let decide: (situation: Situation) => ReturnType<typeof orders> = rentUpTo(1);
  const autoscaler = anAutoscaler(world, { secret, decide: (situation) => decide(situation) });
  await decideNow(autoscaler, fleet);
  await host.obey();
  decide = always("stop");
  await decideNow(autoscaler, fleet);
  await host.obey();
  await world.call({
    method: "PUT",
    url: `/api/v0/workergroups/${fleet.groupId}/`,
    secret: owner.secret,
    body: { launch_args: "--image alpine --disk 10" },
  });
  decide = always("update");
  await decideNow(autoscaler, fleet);
  const [worker] = await workersOf(world, fleet);
  assert.deepEqual([worker?.generation, worker?.phase, worker?.desired], [2, "stopped", "stopped"]);
});

test("a decision is stored when it gives orders, or when the kind of situation has changed", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const fleet = await aFleet(world, owner);
  let reason = "steady";
  const autoscaler = anAutoscaler(world, { secret, decide: () => ({ ...orders(), reason, sentence: reason }) });
  for (const next of ["steady", "steady", "asleep", "asleep", "steady"]) {
    reason = next;
    await decideNow(autoscaler, fleet);
  }
  assert.deepEqual(await sentencesOf(world, fleet), ["steady", "asleep", "steady"]);
  // A server that starts later reads the reason of the last decision.
  await decideNow(anAutoscaler(world, { secret, decide: () => ({ ...orders(), reason }) }), fleet);
  assert.equal((await sentencesOf(world, fleet)).length, 3);
});
