import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aCaller, type TestCaller } from "../../../../../test/support/fixtures.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import { listedHost } from "../../../../../test/support/money/contracts.ts";
import { destroy, rentAndRun } from "../../../../../test/support/rentals.ts";
import { done } from "../../../../../test/support/teams.ts";

describe("accounts, machines and instances that administrators find", () => {
  let world: TestApp;
  let admin: TestCaller;
  let renter: TestCaller;
  let host: FakeHost;
  let owner: TestCaller;
  let running: number;
  let over: number;

  const get = async (path: string, secret = admin.secret) => {
    const answer = await world.call({ url: `/api/v0/admin/${path}`, secret });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const idsOf = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id);

  const cleanups: (() => Promise<void>)[] = [];

  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });
  before(async () => {
    world = await testApp({ after: (fn) => void cleanups.push(fn as () => Promise<void>) });
    admin = await aCaller(world.env.database, { isAdmin: true });
    [renter, owner] = [await world.caller({ dollars: 50 }), await world.caller({ dollars: 0 })];
    host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 2, owner });
    over = await rentAndRun(world, renter, host, { label: "first <b>try</b>" });
    await destroy(world, renter, over);
    await host.obey();
    running = await rentAndRun(world, renter, host, { label: "Training" });
  });

  test("an account is found by id, by a part of its address in any case, and by a key", async () => {
    const found = async (query: string) => idsOf((await get(`users/?${query}`)).users);
    assert.ok((await found(`q=${renter.id}`)).includes(renter.id));
    assert.deepEqual(await found(`q=${encodeURIComponent(renter.email.toUpperCase())}`), [renter.id]);
    assert.deepEqual(await found(`key_id=${renter.key.id}`), [renter.id]);
    assert.deepEqual(await found("q=%25"), [], "a percent sign is a character like others");
    assert.deepEqual(await found("admin=true"), [admin.id]);
    assert.deepEqual(await found("team=true"), []);
  });

  test("an account is shown with its money and the number of what it runs", async () => {
    const [row] = (await get(`users/?q=${encodeURIComponent(renter.email)}`)).users;
    assert.deepEqual(
      [row.running_count, row.instance_count, row.machine_count, row.is_admin, row.freeze_id],
      [1, 1, 0, false, null],
    );
    assert.ok(row.credit > 40 && row.credit <= 50 && row.held > 0);
    const [hosting] = (await get(`users/?q=${encodeURIComponent(owner.email)}`)).users;
    assert.equal(hosting.machine_count, 1);
  });

  test("pages follow each other without a gap, and a token of another list is refused", async () => {
    const seen: number[] = [];
    let token: string | null = "";
    while (token !== null) {
      const { users, next_token: next } = await get(`users/?limit=1&after_token=${token}`);
      assert.equal(users.length, 1);
      seen.push(...idsOf(users));
      token = next;
    }
    assert.deepEqual(seen, idsOf((await get("users/?limit=100")).users));
    const { next_token: other } = await get("instances/?limit=1");
    const refused = await world.call({ url: `/api/v0/admin/users/?after_token=${other}`, secret: admin.secret });
    assert.deepEqual([refused.status, refused.body.error], [400, "invalid_token"]);
  });

  test("the record of an account has its counts, freezes and flags, also after its deletion", async () => {
    const somebody = await world.caller({ dollars: 0 });
    await done(world, admin.secret, "POST", "/admin/freezes/", { user: String(somebody.id), reason: "review" });
    const { account: user } = await get(`users/${somebody.id}/`);
    assert.deepEqual(
      [user.freezes.length, user.freezes[0].reason, user.freezes[0].lifted_at, user.freeze_id],
      [1, "review", null, user.freezes[0].id],
    );
    assert.deepEqual([user.counts.keys, user.counts.subaccounts, user.flags, user.deleted_at], [1, 0, [], null]);
    const frozen = (await get("users/?frozen=true")).users;
    assert.deepEqual(idsOf(frozen), [somebody.id]);
    await world.env.pool.query("update users set deleted_at = now() where id = $1", [somebody.id]);
    assert.deepEqual(idsOf((await get("users/?frozen=true")).users), []);
    assert.notEqual((await get(`users/${somebody.id}/`)).account.deleted_at, null);
    const absent = await world.call({ url: "/api/v0/admin/users/2000000000/", secret: admin.secret });
    assert.deepEqual([absent.status, absent.body.error], [404, "no_such_user"]);
  });

  test("machines are listed by state, with how many of their GPUs are rented", async () => {
    const [row] = (await get(`machines/?host_id=${owner.id}`)).machines;
    assert.deepEqual(
      [row.id, row.host_email, row.gpu_count, row.rented_count, row.is_connected, row.is_listed, row.sick_count],
      [host.machineId, owner.email, 2, 1, true, true, 0],
    );
    for (const [query, isShown] of [
      ["listed=true&connected=true", true],
      ["listed=false", false],
      ["connected=false", false],
      ["broken=true", false],
      ["flagged=true", false],
      [`gpu_name=${encodeURIComponent(row.gpu_name)}`, true],
      ["gpu_name=none", false],
      [`verification=${row.verification}`, true],
      [`q=${encodeURIComponent(row.gpu_name.toUpperCase())}`, true],
    ] as const) {
      const { machines } = await get(`machines/?${query}`);
      assert.equal(idsOf(machines).includes(host.machineId), isShown, query);
    }
    await world.env.pool.query(
      "update devices set is_healthy = false where id = (select min(id) from devices where machine_id = $1)",
      [host.machineId],
    );
    assert.equal((await get("machines/?broken=true")).machines[0].sick_count, 1);
    await world.env.pool.query("update devices set is_healthy = true");
  });

  test("instances of all renters are listed by renter, machine and phase, without their environment", async () => {
    const all = await get("instances/");
    assert.deepEqual(idsOf(all.instances), [running, over]);
    assert.deepEqual(idsOf((await get("instances/?over=true")).instances), [over]);
    assert.deepEqual(idsOf((await get(`instances/?phase=running&renter_id=${renter.id}`)).instances), [running]);
    assert.deepEqual(idsOf((await get(`instances/?machine_id=${host.machineId}&bid=true`)).instances), []);
    assert.deepEqual(idsOf((await get("instances/?q=train")).instances), [running]);
    const [row] = all.instances;
    assert.deepEqual(
      [row.email, row.phase, row.image, row.ended_at],
      [renter.email, "running", "busybox:latest", null],
    );
    assert.equal(
      Object.keys(row).some((name) => /env|command|onstart|key/.test(name)),
      false,
    );
    const bad = await world.call({ url: "/api/v0/admin/instances/?phase=lost", secret: admin.secret });
    assert.equal(bad.status, 400);
  });

  test("one search finds things of every kind by id, address and label, as plain text", async () => {
    const { results } = await get(`search/?q=${encodeURIComponent(renter.email)}`);
    assert.deepEqual(results[0], {
      kind: "person",
      id: String(renter.id),
      title: renter.email,
      detail: renter.username,
      user_id: renter.id,
    });
    const byLabel = (await get(`search/?q=${encodeURIComponent("<b>TRY")}`)).results;
    assert.deepEqual(
      byLabel.map(({ kind, id, title }: Record<string, unknown>) => [kind, id, title]),
      [["instance", String(over), "first <b>try</b>"]],
    );
    const byId = (await get(`search/?q=${running}`)).results;
    assert.ok(byId.some(({ kind, id }: Record<string, unknown>) => kind === "instance" && id === String(running)));
    assert.deepEqual((await get("search/?q=nothing%20like%20this")).results, []);
    const empty = await world.call({ url: "/api/v0/admin/search/?q=", secret: admin.secret });
    assert.equal(empty.status, 400);
  });

  test("the search shows ten of a kind and says that there are more", async () => {
    for (let count = 0; count < 11; count += 1)
      await aCaller(world.env.database, { email: `crowd${count}@example.com` });
    const { results, is_cut: isCut } = await get("search/?q=crowd");
    assert.deepEqual([results.length, isCut], [10, true]);
  });
});
