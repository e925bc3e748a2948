import assert from "node:assert/strict";
import { test } from "node:test";
import { differencesIn } from "../../../../../../test/support/money/audit-differences.ts";
import { auditWorld, HOUR_MS, passHour, type AuditWorld } from "../../../../../../test/support/money/audit-world.ts";
import { audit, auditAndCheckpoint } from "../audit-service.ts";
import { nextCheckpointEnd } from "./checkpoint-service.ts";
import { listCheckpoints } from "./checkpoint-store.ts";

const DAY_MS = 24 * HOUR_MS;
const deps = ({ env, clock }: AuditWorld) => ({ database: env.database, clock });

/** The number of rows that an ordinary audit examined in one check. */
async function examinedIn(world: AuditWorld, name: string): Promise<number> {
  const { checks } = await audit(deps(world), { isFull: false });
  return checks.find((check) => check.name === name)?.examinedCount ?? -1;
}

/** The world at noon, with a checkpoint for the day before. */
async function worldWithCheckpoint(t: Parameters<typeof auditWorld>[0]): Promise<AuditWorld> {
  const world = await auditWorld(t);
  world.clock.jump(DAY_MS);
  // The machine was not in touch meanwhile: the span of its first day ends here.
  await world.sql("update machine_spans set until_at = $1", [new Date("2026-03-01T12:00:00Z")]);
  await world.sql("insert into machine_spans (machine_id, from_at) values ($1, $2)", [
    world.machineId,
    world.clock.now(),
  ]);
  const run = await auditAndCheckpoint(deps(world));
  assert.deepEqual(
    run?.report.checks.flatMap(({ differences }) => differences),
    [],
  );
  assert.equal(run?.isStored, true);
  return world;
}

test("a day gets one checkpoint, an hour after it ends", () => {
  const at = (text: string) => new Date(`2026-03-${text}Z`);
  assert.deepEqual(nextCheckpointEnd(at("02T00:59:59"), undefined), at("01T00:00:00"));
  assert.deepEqual(nextCheckpointEnd(at("02T01:00:00"), undefined), at("02T00:00:00"));
  const checkpoint = {
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
  assert.equal(nextCheckpointEnd(at("02T23:00:00"), checkpoint), undefined);
  assert.deepEqual(
    nextCheckpointEnd(at("05T03:00:00"), checkpoint),
    at("05T00:00:00"),
    "days that were missed go together",
  );
});

test("a checkpoint that was stored a day late differs in no audit after the next checkpoint", async (t) => {
  const world = await auditWorld(t);
  const { clock, sql, machineId } = world;
  await sql("update machine_spans set until_at = $1", [new Date("2026-03-01T12:00:00Z")]);
  clock.jump(Date.parse("2026-03-03T00:30:00Z") - clock.now().getTime());
  await sql("insert into machine_spans (machine_id, from_at) values ($1, $2)", [machineId, clock.now()]);
  assert.equal((await auditAndCheckpoint(deps(world)))?.isStored, true);
  clock.jump(HOUR_MS);
  assert.equal((await auditAndCheckpoint(deps(world)))?.isStored, true);
  const ends = (await listCheckpoints(world.env.database.kysely)).map(({ untilAt }) => untilAt.toISOString());
  assert.deepEqual(ends, ["2026-03-02T00:00:00.000Z", "2026-03-03T00:00:00.000Z"]);
  assert.deepEqual(await differencesIn(world, false), []);
  assert.deepEqual(await differencesIn(world, true), []);
  clock.jump(DAY_MS);
  assert.equal((await auditAndCheckpoint(deps(world)))?.isStored, true, "the next day has a checkpoint as well");
  await world.plant("audit_seals", "delete from audit_seals where until_at = '2026-03-03T00:00:00Z'");
  assert.match(
    (await differencesIn(world, true)).join("\n"),
    /facts: checkpoint 2026-03-03T00:00:00\.000Z: it is gone/,
  );
});

test("an ordinary audit reads what came after the last checkpoint, and finds what is wrong there", async (t) => {
  const world = await worldWithCheckpoint(t);
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

test("a run that is charged for time of an earlier run before the checkpoint is found without reading that run", async (t) => {
  const world = await worldWithCheckpoint(t);
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

test("a balance that changed by transfers before the checkpoint is found without reading them", async (t) => {
  const world = await worldWithCheckpoint(t);
  await world.plant("ledger_transfers", "delete from ledger_transfers where code = 'prepay'");
  const found = await differencesIn(world, false);
  assert.deepEqual(
    found.filter((difference) => !difference.startsWith("granted: ")),
    [],
    "before the checkpoint only the granted parts are read",
  );
  await world.sql("update ledger_accounts set balance_nanos = balance_nanos - 5 where kind = 'earnings'");
  await world.sql("update ledger_accounts set balance_nanos = balance_nanos + 5 where kind = 'issuance'");
  assert.match((await differencesIn(world, false)).join("\n"), /balances: account \d+: its balance is not/);
});

for (const { what, table, statement, problem } of [
  {
    what: "a transfer before the checkpoint that was changed",
    table: "ledger_transfers",
    statement: "update ledger_transfers set description = 'something else' where code = 'prepay'",
    problem: /seals: checkpoint of 2026-03-02T00:00:00.000Z: transfers were changed/,
  },
  {
    what: "a transfer before the checkpoint that is gone",
    table: "ledger_transfers",
    statement: "delete from ledger_transfers where code = 'prepay'",
    problem: /seals: checkpoint of 2026-03-02T00:00:00.000Z: transfers were added or are gone/,
  },
  {
    what: "a charge line before the checkpoint that was changed",
    table: "charge_lines",
    statement: "update charge_lines set cause = 'something_else' where component = 'bwu'",
    problem: /seals: checkpoint of 2026-03-02T00:00:00.000Z: lines were changed/,
  },
  {
    what: "a sum in the checkpoints that was changed",
    table: "audit_sums",
    statement: "update audit_sums set posted_nanos = posted_nanos + 1",
    problem: /seals: account \d+: its sum in the checkpoints/,
  },
  {
    what: "a mark that was moved",
    table: "audit_marks",
    statement: "update audit_marks set position = position + 1 where component = 'gpu'",
    problem: /seals: run 1 of instance \d+: its lines before the checkpoint do not lead/,
  },
]) {
  test(`a full audit finds ${what}`, async (t) => {
    const world = await worldWithCheckpoint(t);
    assert.deepEqual(await differencesIn(world, true), []);
    await world.plant(table, statement);
    assert.match((await differencesIn(world, true)).join("\n"), problem);
  });
}

test("no checkpoint is stored while anything differs, and a day with a checkpoint gets no other", async (t) => {
  const world = await auditWorld(t);
  world.clock.jump(DAY_MS);
  await world.plant("charge_lines", "update charge_lines set unpaid_nanos = 1 where component = 'gpu'");
  const run = await auditAndCheckpoint(deps(world));
  assert.equal(run?.isStored, false);
  assert.equal(run?.report.isSound, false);
  assert.deepEqual(await listCheckpoints(world.env.database.kysely), []);
  await world.plant("charge_lines", "update charge_lines set unpaid_nanos = 0");
  assert.equal((await auditAndCheckpoint(deps(world)))?.isStored, true);
  assert.equal(await auditAndCheckpoint(deps(world)), undefined);
  assert.equal((await listCheckpoints(world.env.database.kysely)).length, 1);
});

test("two processes that audit the same day store one checkpoint", async (t) => {
  const world = await auditWorld(t);
  world.clock.jump(DAY_MS);
  const runs = await Promise.all([auditAndCheckpoint(deps(world)), auditAndCheckpoint(deps(world))]);
  assert.equal(runs.filter((run) => run?.isStored === true).length, 1);
  assert.deepEqual(await differencesIn(world, true), []);
});

test("each checkpoint continues the one before it", async (t) => {
  const world = await worldWithCheckpoint(t);
  await passHourAgain(world);
  await world.sql("update machine_spans set until_at = $1 where until_at is null", [world.clock.now()]);
  world.clock.jump(DAY_MS);
  assert.equal((await auditAndCheckpoint(deps(world)))?.isStored, true);
  const [first, second] = await listCheckpoints(world.env.database.kysely);
  assert.deepEqual([first?.lineCount, second?.lineCount], [18n, 9n]);
  assert.notEqual(first?.linesSha256, second?.linesSha256);
  assert.equal(await examinedIn(world, "amounts"), 0);
  assert.deepEqual(await differencesIn(world, true), []);
});
