import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { FakeHost, FakeHostOptions } from "../../../../../../test/support/hosts/fake-host.ts";
import { aCaller, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { aJoinedHost, aJoiner, join } from "../../../../../../test/support/hosts/joins.ts";
import { rent } from "../../../../../../test/support/rentals.ts";

const DAY_MS = 86_400_000;
const REAL: Partial<FakeHostOptions> = { facts: { is_simulated: false } };

/** A connected machine with real GPUs whose owner is not the operator. */
async function strangersHost(
  world: TestApp,
  owner: TestCaller,
  { kind = "docker", ...options }: Partial<FakeHostOptions> & { readonly kind?: "docker" | "simulated" } = REAL,
) {
  const joiner = aJoiner();
  const host = aJoinedHost(world, await join(world, owner, joiner), joiner, { gpus: 2, ...options });
  await host.connect({ engine: { kind, version: "27" } });
  await world.settled();
  await world.env.pool.query(
    "insert into line_probes (machine_id, at, measured_from, up_mbps, down_mbps) values ($1, $2, 'here', 900, 800)",
    [host.machineId, world.clock.now()],
  );
  return host;
}

/** A stranger's host with a successful start and a history without failures. */
async function provenHost(world: TestApp, owner: TestCaller, renter: TestCaller): Promise<FakeHost> {
  const host = await strangersHost(world, owner);
  await rent(world, renter, host);
  await host.obey();
  await giveDays(world, host, DAY_MS);
  return host;
}

async function giveDays({ env, clock }: TestApp, host: FakeHost, onlineMs: number, offlineMs = 0): Promise<void> {
  const today = Math.floor(clock.now().getTime() / DAY_MS);
  await env.pool.query(
    `insert into machine_days select $1, day, $3, $4, 0, 0 from generate_series($2::integer - 20, $2::integer - 1) as day
     on conflict (machine_id, day) do update set online_ms = $3, offline_ms = $4`,
    [host.machineId, today, onlineMs, offlineMs],
  );
}

async function verificationOf(world: TestApp, host: FakeHost, by: TestCaller) {
  const answer = await world.call({ url: `/api/v0/machines/${host.machineId}/verification/`, secret: by.secret });
  assert.equal(answer.status, 200, answer.text);
  const missing: string[] = answer.body.checks.flatMap((check: { name: string; passed: boolean }) =>
    check.passed ? [] : [check.name],
  );
  return { ...answer.body, missing };
}

function decide(world: TestApp, host: FakeHost, by: TestCaller, body: unknown) {
  return world.call({
    method: "PUT",
    url: `/api/v0/admin/machines/${host.machineId}/verification/`,
    secret: by.secret,
    body,
  });
}

async function searched(world: TestApp, host: FakeHost) {
  await world.settled();
  const body = { machine_id: { eq: host.machineId }, num_gpus: { eq: 1 } };
  const answer = await world.call({ method: "POST", url: "/api/v0/bundles/", body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.offers[0];
}

async function people(t: TestContext) {
  const world = await testApp(t);
  const [owner, renter] = [await world.caller(), await world.caller()];
  const admin = await aCaller(world.env.database, { isAdmin: true });
  return { world, owner, renter, admin };
}

test("a machine that meets the requirements is verified, loses that after a long absence, and gets it back", async (t) => {
  const { world, owner, renter } = await people(t);
  const host = await provenHost(world, owner, renter);
  const before = await verificationOf(world, host, owner);
  assert.deepEqual([before.verification, before.decided_by, before.missing], ["unverified", "rule", ["reliability"]]);
  assert.match(before.msg, /not verified: 1 check is not passed/);
  assert.match(before.checks.find((check: { name: string }) => check.name === "reliability").msg, /0\.6000; 0\.9000/);
  await world.runLoop("rate-machines");
  await world.runLoop("verify-machines");
  assert.deepEqual((await verificationOf(world, host, owner)).missing, []);
  assert.equal((await verificationOf(world, host, owner)).verification, "verified");
  assert.equal((await searched(world, host)).verified, true);
  await giveDays(world, host, DAY_MS / 2, DAY_MS / 2);
  await world.runLoop("rate-machines");
  assert.deepEqual(await world.runLoop("verify-machines"), { changed: 1 });
  const lost = await verificationOf(world, host, owner);
  assert.equal(lost.verification, "deverified");
  assert.match(lost.msg, /has lost its verification/);
  const { body: told } = await world.call({ url: "/api/v0/notices/", secret: owner.secret });
  assert.deepEqual(
    told.notices.map(({ type }: { readonly type: string }) => type),
    ["host:verification_failed"],
  );
  assert.match(told.notices[0].message, /Reliability is 0\.\d+; 0\.9000 is needed/);
  const seen = await searched(world, host);
  assert.deepEqual([seen.verified, seen.verification], [false, "unverified"]);
  await giveDays(world, host, DAY_MS);
  await world.runLoop("rate-machines");
  await world.runLoop("verify-machines");
  assert.deepEqual(await world.runLoop("verify-machines"), { changed: 0 });
  assert.equal((await searched(world, host)).verified, true);
});

test("an administrator's decision stays until it is given back to the rule; the operator's own machines stay verified", async (t) => {
  const { world, owner, renter, admin } = await people(t);
  const host = await strangersHost(world, owner);
  const own = await world.host();
  const answer = await decide(world, host, admin, { verification: "verified", hosting_type: 1 });
  assert.deepEqual(
    [answer.status, answer.body.verification, answer.body.decided_by, answer.body.hosting_type],
    [200, "verified", "administrator", 1],
  );
  await world.runLoop("verify-machines");
  const shown = await searched(world, host);
  assert.deepEqual([shown.verified, shown.hosting_type], [true, 1]);
  assert.match((await verificationOf(world, host, owner)).msg, /An administrator has decided/);
  assert.equal((await decide(world, host, admin, { verification: "automatic" })).body.verification, "deverified");
  assert.equal((await decide(world, host, admin, { verification: "unverified" })).body.verification, "unverified");
  await rent(world, renter, host);
  await host.obey();
  await giveDays(world, host, DAY_MS);
  await world.runLoop("rate-machines");
  await world.runLoop("verify-machines");
  assert.equal((await verificationOf(world, host, owner)).verification, "unverified");
  assert.equal((await decide(world, host, admin, { verification: "automatic" })).body.verification, "verified");
  assert.equal((await decide(world, own, admin, { verification: "unverified" })).body.verification, "unverified");
  assert.equal((await decide(world, own, admin, { verification: "automatic" })).body.decided_by, "operator");
  await world.runLoop("verify-machines");
  assert.equal((await searched(world, own)).verified, true);
});

test("a simulated machine of a stranger is never verified by itself", async (t) => {
  const { world, owner, renter } = await people(t);
  const host = await strangersHost(world, owner, { kind: "simulated", facts: { is_simulated: true } });
  await rent(world, renter, host);
  await host.obey();
  await giveDays(world, host, DAY_MS);
  await world.runLoop("rate-machines");
  await world.runLoop("verify-machines");
  const { verification, missing } = await verificationOf(world, host, owner);
  assert.deepEqual([verification, missing], ["unverified", ["is_real"]]);
});

test("only administrators decide, a decision names a field, and another host's machine is not found", async (t) => {
  const { world, owner, renter, admin } = await people(t);
  const host = await strangersHost(world, owner);
  assert.equal((await decide(world, host, owner, { verification: "verified" })).status, 403);
  for (const body of [{ verification: "deverified" }, { hosting_type: 2 }, { hosting_type: 0.5 }, {}]) {
    assert.equal((await decide(world, host, admin, body)).status, 400, JSON.stringify(body));
  }
  const url = `/api/v0/machines/${host.machineId}/verification/`;
  const hidden = await world.call({ url, secret: renter.secret });
  assert.deepEqual([hidden.status, hidden.body.error], [404, "no_such_machine"]);
  assert.equal((await world.call({ url, secret: admin.secret })).status, 200);
  for (const id of ["0", "x", "2000000000"]) {
    assert.equal((await world.call({ url: `/api/v0/machines/${id}/reliability/` })).status, 404);
  }
});

test("a reliability can be recomputed from its public report", async (t) => {
  const { world, owner, renter } = await people(t);
  const host = await provenHost(world, owner, renter);
  await giveDays(world, host, 23 * 3_600_000, 3_600_000);
  await world.runLoop("rate-machines");
  const { status, body } = await world.call({ url: `/api/v0/machines/${host.machineId}/reliability/` });
  assert.equal(status, 200);
  const hours = (field: string) =>
    body.days.reduce((sum: number, day: Record<string, number>) => sum + (day[field] ?? 0), 0) / 3_600_000;
  const [online, offline] = [hours("online_ms"), hours("offline_ms")];
  const failed = body.days.reduce((sum: number, day: { starts_failed: number }) => sum + day.starts_failed, 0);
  const prior = Math.max(0, 24 * (1 - (online + offline) / 720));
  const known = prior + online + offline + 3 * hours("offline_rented_ms") + 2 * failed;
  assert.equal(body.reliability, Math.floor(((0.6 * prior + online) / known) * 10_000) / 10_000);
  assert.equal(body.shown_reliability, body.reliability);
  assert.equal((await searched(world, host)).reliability, body.reliability);
  assert.equal(body.days[0].starts_succeeded, 1);
});

test("a listing leaves the market at its fixed end, and stays without one", async (t) => {
  const { world } = await people(t);
  const [fixed, rolling] = [await world.host(), await world.host()];
  await world.env.pool.query("update machines set offer_end_at = $1", [new Date(world.clock.now().getTime() + DAY_MS)]);
  await world.env.pool.query("update machines set offer_duration_s = null where id = $1", [fixed.machineId]);
  assert.deepEqual(await world.runLoop("end-listings"), { machines: 0 });
  world.clock.jump(DAY_MS);
  assert.deepEqual(await world.runLoop("end-listings"), { machines: 1 });
  assert.deepEqual(await world.runLoop("end-listings"), { machines: 0 });
  const { rows } = await world.env.pool.query("select id from machines where is_listed");
  assert.deepEqual(rows, [{ id: rolling.machineId }]);
  assert.notEqual((await searched(world, fixed))?.rentable, true);
});
