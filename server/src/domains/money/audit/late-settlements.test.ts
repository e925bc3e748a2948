import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { NO_CEILINGS, testApp } from "../../../../../test/support/app.ts";
import { destroy, rentAndRun } from "../../../../../test/support/rentals.ts";
import { listFindings } from "./findings/finding-store.ts";

const MINUTE_MS = 60_000;

/** A market in which nothing can be settled until `mend`. */
async function aWorld(t: TestContext) {
  const world = await testApp(t, { ceilings: NO_CEILINGS });
  const [owner, user] = [await world.caller({ dollars: 0 }), await world.caller({ dollars: 100 })];
  const host = await world.host({ owner });
  const sql = (text: string) => world.env.pool.query(text);
  const breakSettlements = async () => {
    await sql(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no lines'; end $$`,
    );
    await sql("create trigger refuse before insert on charge_lines for each row execute function refuse()");
  };
  /** Each minute another failed attempt, and a check for late settlements. */
  const passMinutes = async (count: number, loop: string) => {
    for (let minute = 0; minute < count; minute += 1) {
      world.clock.jump(MINUTE_MS);
      await host.count();
      await world.runLoop(loop).catch(() => {});
      await world.runLoop("reconcile");
    }
  };
  const mend = async (loop: string) => {
    await sql("drop trigger refuse on charge_lines");
    world.clock.jump(6 * MINUTE_MS);
    await host.count();
    await world.runLoop(loop);
  };
  const late = async () => {
    const findings = await listFindings(world.env.database.kysely, 100);
    return findings.filter(({ kind }) => kind === "late_settlement").map(({ subject, outcome }) => [subject, outcome]);
  };
  return { world, owner, user, host, breakSettlements, passMinutes, mend, late };
}

test("a volume that cannot be settled is an alarm after ten minutes, although each attempt postpones it", async (t) => {
  const { world, owner, user, host, breakSettlements, passMinutes, mend, late } = await aWorld(t);
  const call = (method: "POST" | "PUT", secret: string, body: object) =>
    world.call({ method, url: "/api/v0/volumes/", secret, body });
  const listed = await call("POST", owner.secret, { machine: host.machineId, size: 40, price_disk: 3 });
  const offer = Number(/\d+/.exec(String(listed.body.msg))?.[0]);
  const rented = await call("PUT", user.secret, { id: offer, size: 10 });
  assert.equal(rented.status, 200, rented.text);
  await world.runLoop("settle-volumes");
  world.clock.jump(5 * MINUTE_MS);
  await host.count();
  await world.env.pool.query("update volumes set settle_at = $1", [world.clock.now()]);
  await breakSettlements();
  await passMinutes(9, "settle-volumes");
  assert.deepEqual(await late(), []);
  await passMinutes(2, "settle-volumes");
  assert.deepEqual(await late(), [[`volume ${rented.body.id}`, "alarmed"]]);
  await mend("settle-volumes");
  const { found } = (await world.runLoop("reconcile")) as { found: number };
  assert.equal(found, 0, "it is settled");
});

test("an ended instance that cannot be settled is an alarm after ten minutes", async (t) => {
  const { world, user, host, breakSettlements, passMinutes, mend, late } = await aWorld(t);
  const id = await rentAndRun(world, user, host);
  world.clock.jump(MINUTE_MS);
  await host.count();
  await breakSettlements();
  await destroy(world, user, id);
  await host.obey();
  await passMinutes(12, "settle-runs");
  const { rows } = await world.env.pool.query("select ended_at from instances where id = $1", [id]);
  assert.notEqual(rows[0]?.ended_at, null);
  assert.deepEqual(await late(), [[`instance ${id}`, "alarmed"]]);
  await mend("settle-runs");
  const { found } = (await world.runLoop("reconcile")) as { found: number };
  assert.equal(found, 0, "it is settled");
});
