import assert from "node:assert/strict";
import { test } from "node:test";
import { auditWorld, HOUR_MS, passHour, type AuditWorld } from "../../../../../../test/support/audit-world.ts";
import { audit, auditAndSeal } from "../audit-service.ts";
import { sealableUntil } from "./checkpoint-service.ts";
import { listSeals } from "./checkpoint-store.ts";

const DAY_MS = 24 * HOUR_MS;
const deps = ({ env, clock }: AuditWorld) => ({ database: env.database, clock });

async function differencesIn(world: AuditWorld, isFull: boolean): Promise<readonly string[]> {
  const { checks } = await audit(deps(world), { isFull });
  return checks.flatMap(({ name, differences }) =>
    differences.map(({ subject, problem }) => `${name}: ${subject}: ${problem}`),
  );
}

/** How many rows an ordinary audit looked at. */
async function examinedIn(world: AuditWorld, name: string): Promise<number> {
  const { checks } = await audit(deps(world), { isFull: false });
  return checks.find((check) => check.name === name)?.examinedCount ?? -1;
}

/** The world at noon, with the day before sealed. */
async function sealedWorld(t: Parameters<typeof auditWorld>[0]): Promise<AuditWorld> {
  const world = await auditWorld(t);
  world.clock.jump(DAY_MS);
  // Nobody heard the machine meanwhile: the first day ends here.
  await world.sql("update machine_spans set until_at = $1", [new Date("2026-03-01T12:00:00Z")]);
  await world.sql("insert into machine_spans (machine_id, from_at) values ($1, $2)", [
    world.machineId,
    world.clock.now(),
  ]);
  const sealing = await auditAndSeal(deps(world));
  assert.deepEqual(
    sealing?.report.checks.flatMap(({ differences }) => differences),
    [],
  );
  assert.equal(sealing?.isSealed, true);
  return world;
}

test("a day is sealed when it is over by an hour, and once", () => {
  const at = (text: string) => new Date(`2026-03-${text}Z`);
  assert.deepEqual(sealableUntil(at("02T00:59:59"), undefined), at("01T00:00:00"));
  assert.deepEqual(sealableUntil(at("02T01:00:00"), undefined), at("02T00:00:00"));
  const seal = {
    untilAt: at("02T00:00:00"),
    nextTransferId: 1n,
    nextLineId: 1n,
    transferCount: 0n,
    lineCount: 0n,
    transfersSha256: "",
    linesSha256: "",
    nextFactLink: 1n,
    factsSha256: "",
    nextEventId: 1n,
  };
  assert.equal(sealableUntil(at("02T23:00:00"), seal), undefined);
  assert.deepEqual(sealableUntil(at("05T03:00:00"), seal), at("05T00:00:00"), "days that were missed go together");
});

test("a seal that was made when the next day had begun differs in no audit after the next seal", async (t) => {
  const world = await auditWorld(t);
  const { clock, sql, machineId } = world;
  await sql("update machine_spans set until_at = $1", [new Date("2026-03-01T12:00:00Z")]);
  clock.jump(Date.parse("2026-03-03T00:30:00Z") - clock.now().getTime());
  await sql("insert into machine_spans (machine_id, from_at) values ($1, $2)", [machineId, clock.now()]);
  assert.equal((await auditAndSeal(deps(world)))?.isSealed, true);
  clock.jump(HOUR_MS);
  assert.equal((await auditAndSeal(deps(world)))?.isSealed, true);
  const sealed = (await listSeals(world.env.database.kysely)).map(({ untilAt }) => untilAt.toISOString());
  assert.deepEqual(sealed, ["2026-03-02T00:00:00.000Z", "2026-03-03T00:00:00.000Z"]);
  assert.deepEqual(await differencesIn(world, false), []);
  assert.deepEqual(await differencesIn(world, true), []);
  clock.jump(DAY_MS);
  assert.equal((await auditAndSeal(deps(world)))?.isSealed, true, "the next day is sealed as well");
  await world.plant("audit_seals", "delete from audit_seals where until_at = '2026-03-03T00:00:00Z'");
  assert.match((await differencesIn(world, true)).join("\n"), /facts: seal 2026-03-03T00:00:00\.000Z: it is gone/);
});

test("an ordinary audit reads what came after the last seal, and finds what is wrong there", async (t) => {
  const world = await sealedWorld(t);
  assert.equal(await examinedIn(world, "amounts"), 0);
  assert.equal(await examinedIn(world, "pairs"), 0);
  assert.deepEqual(await differencesIn(world, false), []);
  await passHourAgain(world);
  assert.equal(await examinedIn(world, "amounts"), 9);
  assert.deepEqual(await differencesIn(world, false), []);
  assert.deepEqual(await differencesIn(world, true), []);
  await world.sql("update instance_runs set running_ms = running_ms + 1, charged_running_ms = charged_running_ms + 1");
  assert.match((await differencesIn(world, false)).join("\n"), /counters: run 1 of instance \d+: its gpu lines/);
});

/** The first hour of the next day. */
async function passHourAgain(world: AuditWorld): Promise<void> {
  await world.sql("update machines set last_seen_at = $1", [world.clock.now()]);
  await passHour(world, 2_000_000_000n);
}

test("a run that is charged for sealed time of an earlier one is found without reading that again", async (t) => {
  const world = await sealedWorld(t);
  const { sql, instanceId, charge, plant } = world;
  await sql(
    `insert into instance_runs
       (instance_id, generation, started_at, last_counted_at, metered_from_at, running_ms, charged_running_ms)
     select instance_id, 2, started_at, last_counted_at, metered_from_at + (running_ms - 1) * interval '1 ms', 1000, 1000
     from instance_runs where instance_id = $1`,
    [instanceId],
  );
  const [fromAt, toAt] = [new Date("2026-03-01T11:59:59.999Z"), new Date("2026-03-01T12:00:00.999Z")];
  const line = { component: "gpu", state: "running", fromAt, toAt, quantity: 1000n } as const;
  const id = await charge({ ...line, instanceId, unitPriceNanos: 2_000_000_000n });
  await plant("charge_lines", "update charge_lines set generation = 2 where id = $1", [id]);
  const found = `intervals: line ${id}: it begins in time that an earlier run is charged for`;
  assert.deepEqual(await differencesIn(world, false), [found]);
});

test("a balance that changed by what is sealed is found without reading it", async (t) => {
  const world = await sealedWorld(t);
  await world.plant("ledger_transfers", "delete from ledger_transfers where code = 'prepay'");
  const found = await differencesIn(world, false);
  assert.deepEqual(
    found.filter((difference) => !difference.startsWith("granted: ")),
    [],
    "of what is sealed only the parts that were granted are read",
  );
  await world.sql("update ledger_accounts set balance_nanos = balance_nanos - 5 where kind = 'earnings'");
  await world.sql("update ledger_accounts set balance_nanos = balance_nanos + 5 where kind = 'issuance'");
  assert.match((await differencesIn(world, false)).join("\n"), /balances: account \d+: its balance is not/);
});

for (const { what, table, statement, problem } of [
  {
    what: "a sealed transfer that was changed",
    table: "ledger_transfers",
    statement: "update ledger_transfers set description = 'something else' where code = 'prepay'",
    problem: /seals: seal of 2026-03-02T00:00:00.000Z: transfers were changed/,
  },
  {
    what: "a sealed transfer that is gone",
    table: "ledger_transfers",
    statement: "delete from ledger_transfers where code = 'prepay'",
    problem: /seals: seal of 2026-03-02T00:00:00.000Z: transfers were added or are gone/,
  },
  {
    what: "a sealed line that was changed",
    table: "charge_lines",
    statement: "update charge_lines set cause = 'something_else' where component = 'bwu'",
    problem: /seals: seal of 2026-03-02T00:00:00.000Z: lines were changed/,
  },
  {
    what: "a sealed sum that was changed",
    table: "audit_sums",
    statement: "update audit_sums set posted_nanos = posted_nanos + 1",
    problem: /seals: account \d+: its sealed sum/,
  },
  {
    what: "a mark that was moved",
    table: "audit_marks",
    statement: "update audit_marks set position = position + 1 where component = 'gpu'",
    problem: /seals: run 1 of instance \d+: its sealed lines do not lead/,
  },
]) {
  test(`a full audit finds ${what}`, async (t) => {
    const world = await sealedWorld(t);
    assert.deepEqual(await differencesIn(world, true), []);
    await world.plant(table, statement);
    assert.match((await differencesIn(world, true)).join("\n"), problem);
  });
}

test("nothing is sealed while anything differs, and a sealed day is left alone", async (t) => {
  const world = await auditWorld(t);
  world.clock.jump(DAY_MS);
  await world.plant("charge_lines", "update charge_lines set unpaid_nanos = 1 where component = 'gpu'");
  const sealing = await auditAndSeal(deps(world));
  assert.equal(sealing?.isSealed, false);
  assert.equal(sealing?.report.isSound, false);
  assert.deepEqual(await listSeals(world.env.database.kysely), []);
  await world.plant("charge_lines", "update charge_lines set unpaid_nanos = 0");
  assert.equal((await auditAndSeal(deps(world)))?.isSealed, true);
  assert.equal(await auditAndSeal(deps(world)), undefined);
  assert.equal((await listSeals(world.env.database.kysely)).length, 1);
});

test("two processes that seal the same day make one seal", async (t) => {
  const world = await auditWorld(t);
  world.clock.jump(DAY_MS);
  const sealings = await Promise.all([auditAndSeal(deps(world)), auditAndSeal(deps(world))]);
  assert.equal(sealings.filter((sealing) => sealing?.isSealed === true).length, 1);
  assert.deepEqual(await differencesIn(world, true), []);
});

test("each seal goes on from the one before", async (t) => {
  const world = await sealedWorld(t);
  await passHourAgain(world);
  await world.sql("update machine_spans set until_at = $1 where until_at is null", [world.clock.now()]);
  world.clock.jump(DAY_MS);
  assert.equal((await auditAndSeal(deps(world)))?.isSealed, true);
  const [first, second] = await listSeals(world.env.database.kysely);
  assert.deepEqual([first?.lineCount, second?.lineCount], [18n, 9n]);
  assert.notEqual(first?.linesSha256, second?.linesSha256);
  assert.equal(await examinedIn(world, "amounts"), 0);
  assert.deepEqual(await differencesIn(world, true), []);
});
