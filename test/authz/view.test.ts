// An administrator who sees the console as another person: every operation of the API, called in that view.
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { test } from "node:test";
import { newCookieKey } from "../../server/src/domains/people/accounts/keys/rules/keys.ts";
import { insertSession } from "../../server/src/domains/people/accounts/keys/session-store.ts";
import { aCaller, inTransaction, type TestCaller } from "../support/fixtures.ts";
import { listOperations } from "./openapi.ts";
import { anInstance, makeWorld, type World } from "./world.ts";

const HOUR_MS = 3_600_000;
/** Searches, which change nothing although they have a body. */
const SEARCHES = new Set([
  "POST /api/v0/bundles/",
  "PUT /api/v0/search/asks/",
  "PUT /api/v0/search/clusters/",
  "POST /api/v0/network_volumes/search/",
  "POST /api/v0/volumes/search/",
]);
/** Reads that a view refuses: what opens something, what is in disks and files, and what only members of a team read. */
const REFUSED_READS = new Set([
  "GET /api/v0/auth/apikeys/{id}/",
  "GET /api/v0/deployment/{id}/download_url/",
  "GET /api/v0/instance_backups/",
  "GET /api/v0/instance_backups/{contract_id}/download/",
  "GET /api/v0/instances/{id}/files/",
  "GET /api/v0/instances/{id}/files/content/",
  "GET /api/v0/instances/{id}/logs/",
  "GET /api/v0/instances/{id}/terminal/",
  "GET /api/v0/team/apikeys/",
  "GET /api/v0/team/balances/",
  "GET /api/v0/team/invite/{token}/",
  "GET /api/v0/team/members/",
  "GET /api/v0/team/roles-full/",
  "GET /api/v0/team/roles/",
  "GET /api/v0/team/roles/{name}/",
  "GET /api/v0/team/sessions/",
  "GET /api/v0/webhooks/{id}/deliveries/",
]);

/** The headers of a browser in which this person is signed in. */
async function aBrowser({ database }: World, { id: userId }: TestCaller) {
  const key = newCookieKey(randomBytes);
  const sessionId = await inTransaction(database, (tx) =>
    insertSession(tx, {
      ...{ userId, memberId: undefined, key, kind: "session", permissions: undefined, ipAddress: "192.0.2.5" },
      expiresAt: new Date(tx.now.getTime() + HOUR_MS),
    }),
  );
  return { sessionId, headers: { cookie: `berth_session=${key.secret}`, "x-berth-console": "1" } };
}

const seeAs = (world: World, headers: Readonly<Record<string, string>>, userId: number, more: object = {}) =>
  world.send("POST", {
    path: `/api/v0/admin/users/${userId}/see_as/`,
    body: { reason: "Case 12: nothing starts.", ...more },
    headers,
  });

/** Puts a recognizable secret into each place of an account that takes one. */
async function hideSecrets(world: World, mark: string): Promise<number> {
  const { owner } = world;
  const post = (path: string, body: object) => world.done("POST", { path, body }, owner);
  const { id } = await anInstance(world, owner, {
    env: { TOKEN: mark },
    onstart: `login ${mark}`,
    runtype: "args",
    args: ["--key", mark],
    image_login: `-u me -p ${mark} docker.io`,
  });
  await post("/api/v0/secrets/", { key: "HIDDEN", value: mark });
  await post("/api/v0/template/", {
    name: randomUUID(),
    image: "alpine",
    tag: "3",
    env: `-e A=${mark}`,
    onstart: mark,
  });
  await post("/api/v0/webhooks/", { webhook_url: `https://192.0.2.1/${mark}`, event_types: ["client:low_credit"] });
  return id;
}

test("an administrator sees the console as another person, without changing anything or reading a secret", async (t) => {
  const cleanups: (() => Promise<void>)[] = [];
  const world = await makeWorld({ after: (fn) => void cleanups.push(fn) });
  t.after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });
  const { admin, owner, database } = world;
  const mark = `hidden${randomBytes(8).toString("hex")}`;
  const instanceId = await hideSecrets(world, mark);
  const { headers, sessionId } = await aBrowser(world, admin);
  const me = () => world.send("GET", { path: "/api/v0/users/current/", headers });
  const operations = await listOperations({ withFiles: true });
  const access = (name: string) => {
    const [method = "", path = ""] = name.split(" ");
    return world.app.http.accessOf(method, path.replaceAll(/\{\w+\}/g, "1"));
  };

  await t.test("a person, a team, themselves and another administrator: only the person can be seen", async () => {
    const other = await aCaller(database, { isAdmin: true });
    for (const [id, status, error] of [
      [other.id, 403, "not_allowed"],
      [admin.id, 400, "invalid_args"],
      [2_000_000_000, 404, "no_such_user"],
    ] as const) {
      const answer = await seeAs(world, headers, id);
      assert.deepEqual([answer.status, answer.body.error], [status, error], answer.text);
    }
    for (const wrong of [{ reason: " " }, { minutes: 0 }, { minutes: 61 }]) {
      assert.equal((await seeAs(world, headers, owner.id, wrong)).status, 400);
    }
    const ordinary = await aBrowser(world, owner);
    assert.equal((await seeAs(world, ordinary.headers, other.id)).status, 403);
    const begun = await Promise.all([1, 2].map(() => seeAs(world, headers, owner.id)));
    assert.deepEqual(
      begun.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409],
      "one view at a time",
    );
    const { body } = await me();
    assert.deepEqual([body.id, body.is_admin, body.view.reason], [owner.id, false, "Case 12: nothing starts."]);
  });

  await t.test("every operation that changes something is refused, and changes nothing", async () => {
    const writes = operations.filter(({ name, method }) => {
      const permission = access(name)?.permission;
      return method !== "GET" && !SEARCHES.has(name) && permission !== "public" && permission !== undefined;
    });
    assert.ok(writes.length > 150, `only ${writes.length} operations change something`);
    const before = await world.contents();
    for (const { name, method, path } of writes) {
      const target = { path: path.replaceAll(/\{\w+\}/g, "1"), body: {}, headers };
      const answer = await world.send(method, target);
      assert.deepEqual([answer.status, answer.body?.error], [403, "view_is_read_only"], `${name}: ${answer.text}`);
      assert.match(answer.body.msg, /^You see account \d+ as its person does, and nothing can be changed/);
    }
    const nested = await seeAs(world, headers, owner.id);
    assert.deepEqual([nested.status, nested.body.error], [403, "view_is_read_only"]);
    const team = await world.send("POST", { path: "/api/v0/auth/browser/team/", body: {}, headers });
    assert.deepEqual([team.status, team.body.error], [403, "view_is_read_only"]);
    assert.equal(await world.contents(), before);
  });

  await t.test(
    "every read that bears a secret is refused or blank, and all others show what the person sees",
    async () => {
      const refused: string[] = [];
      for (const { name, path } of operations.filter(({ method }) => method === "GET")) {
        const permission = access(name)?.permission;
        if (permission === undefined || permission === "public" || name === "GET /api/v0/events/") continue;
        const at = path.replaceAll("{user_id}", String(owner.id)).replaceAll(/\{\w+\}/g, String(instanceId));
        const answer = await world.send("GET", { path: at, headers });
        assert.ok(!answer.text.includes(mark), `${name} shows a secret: ${answer.text}`);
        if (permission === "admin") assert.equal(answer.status, 403, name);
        else if (answer.body?.error === "not_in_view") refused.push(name);
      }
      assert.deepEqual(new Set(refused), REFUSED_READS);
      for (const name of SEARCHES) {
        const [method = "", path = ""] = name.split(" ");
        assert.notEqual((await world.send(method, { path, body: {}, headers })).status, 403, name);
      }
      const shown = await world.send("GET", { path: `/api/v0/instances/${instanceId}/`, headers });
      assert.deepEqual([shown.body.instances.id, shown.body.instances.jupyter_token], [instanceId, ""]);
    },
  );

  await t.test("after its time it shows nothing, and gives no right back until the browser has left it", async () => {
    await database.pool.query(
      "update account_views set began_at = now() - interval '1 h', ends_at = now() - interval '1 s', left_at = null",
    );
    await world.app.loops.find("end-account-views")?.run();
    assert.deepEqual([(await me()).status, (await me()).body.error], [403, "view_over"]);
    const left = await world.send("DELETE", { path: "/api/v0/auth/browser/view/", headers });
    assert.deepEqual([left.status, left.body.user_id], [200, owner.id]);
    const again = await world.send("DELETE", { path: "/api/v0/auth/browser/view/", headers });
    assert.deepEqual([again.status, again.body.user_id], [200, null]);
    assert.deepEqual([(await me()).body.id, (await me()).body.is_admin], [admin.id, true]);
  });

  await t.test("both audit logs have beginning and end, and the person reads the reason", async () => {
    const { rows } = await database.pool.query(
      "select user_id, action from audit_events where action in ('api.admin.user.see_as', 'api.browser.leave_view') order by id",
    );
    const [began, ended] = ["api.admin.user.see_as", "api.browser.leave_view"];
    assert.deepEqual(
      rows.map(({ user_id: id, action }) => [id, action]),
      [
        [admin.id, began],
        [owner.id, began],
        [admin.id, ended],
        [owner.id, ended],
      ],
    );
    const notices = await world.done("GET", { path: "/api/v0/notices/" }, owner);
    assert.match(JSON.stringify(notices), /client:account_seen.*Reason: Case 12: nothing starts\./);
    const { rows: addresses } = await database.pool.query(
      "select 1 from ip_accesses where user_id = $1 and ip_address = '192.0.2.5'",
      [owner.id],
    );
    assert.equal(addresses.length, 0);
  });

  await t.test("who is no administrator any more sees nothing, and signing out ends the session itself", async () => {
    assert.equal((await seeAs(world, headers, owner.id)).status, 200);
    await database.pool.query("update users set is_admin = false where id = $1", [admin.id]);
    await world.app.loops.find("end-account-views")?.run();
    world.app.channels.get("api_keys_changed")?.onGap();
    assert.equal((await me()).body.error, "view_over");
    assert.equal((await world.send("DELETE", { path: "/api/v0/auth/browser/", headers })).status, 200);
    assert.equal((await me()).status, 401);
    const { rows } = await database.pool.query("select deleted_at from api_keys where id = $1", [sessionId]);
    assert.notEqual(rows[0].deleted_at, null);
  });
});
