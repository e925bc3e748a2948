import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { aCaller } from "../../../../../../test/support/fixtures.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { listHostDoubts } from "../flags/doubt-store.ts";
import { storeUplinkProbe } from "./probe-service.ts";

const DAY_MS = 86_400_000;

test("a declared uplink that a week of measurements contradicts by far is flagged, and holds no payout", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const admin = await aCaller(world.env.database, { isAdmin: true });
  const lying = await world.host({ owner, facts: { inet_up_mbps: 2_000, inet_down_mbps: 2_000 } });
  const store = (machineId: typeof lying.machineId, upMbps: number, measuredFrom = "here") =>
    withTransaction(world.env.database, world.clock, (tx) =>
      storeUplinkProbe(tx, { machineId, measuredFrom, speed: { upMbps, downMbps: 1_500 } }),
    );
  const measureLiar = async () => {
    world.clock.jump(DAY_MS);
    return (await store(lying.machineId, 40)).isSlow;
  };
  assert.deepEqual([await measureLiar(), await measureLiar(), await measureLiar()], [false, false, false]);
  for (const upMbps of [900, 800]) await store((await world.host({ owner: await world.caller() })).machineId, upMbps);
  const third = await world.host({ owner: await world.caller() });
  await store(third.machineId, 700, "another server");
  assert.equal(await measureLiar(), false, "two hosts may stand beside the server");
  await store(third.machineId, 300);
  assert.equal(await measureLiar(), false, "a server that carries 300 Mbit/s cannot tell 40 from 2000");
  await store(third.machineId, 700);
  assert.equal(await measureLiar(), true);
  const flags = await world.call({ url: "/api/v0/hosts/flags/", secret: owner.secret });
  const [flag] = flags.body.flags;
  assert.deepEqual(
    [flag.kind, flag.facts.direction, flag.facts.declared_mbps, flag.facts.measured_mbps, flag.facts.carried_mbps],
    ["slow_line", "up", 2_000, 40, 700],
  );
  const doubts = await listHostDoubts(world.env.database.kysely);
  assert.equal(doubts.find(({ hostId }) => hostId === owner.id)?.flaggedAt, undefined);
  const line = async () => {
    const path = `/api/v0/machines/${lying.machineId}/verification/`;
    const { body } = await world.call({ url: path, secret: owner.secret });
    return body.checks.find(({ name }: { readonly name: string }) => name === "line_credible").passed;
  };
  assert.equal(await line(), false);
  const url = `/api/v0/admin/flags/${flag.id}/clear/`;
  await world.call({ method: "PUT", url, secret: admin.secret, body: { reason: "it declares its line now" } });
  assert.equal(await line(), true);
});
