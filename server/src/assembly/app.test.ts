import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../test/support/app.ts";
import { aCaller } from "../../../test/support/fixtures.ts";

test("the assembled server", async (t) => {
  const world = await testApp(t);
  const user = await world.caller();
  const admin = await aCaller(world.env.database, { isAdmin: true });

  await t.test("says that it lives and is ready", async () => {
    assert.deepEqual((await world.call({ url: "/healthz" })).body, { status: "ok" });
    assert.deepEqual((await world.call({ url: "/readyz" })).body, { status: "ok" });
  });

  await t.test("describes every route in OpenAPI and on a page", async () => {
    const { status, body } = await world.call({ url: "/openapi.json" });
    assert.equal(status, 200);
    for (const path of ["/api/v0/asks/{id}/", "/api/v0/instances/bid_price/{id}/", "/api/v0/bundles/"]) {
      assert.ok(path in body.paths, path);
    }
    const page = await world.call({ url: "/docs" });
    assert.match(String(page.headers["content-type"]), /^text\/html/);
    assert.match(page.text, /bid_price/);
  });

  await t.test("shows its figures to administrators alone", async () => {
    for (const url of ["/metrics", "/api/v0/admin/loops/"]) {
      assert.equal((await world.call({ url })).status, 401);
      assert.equal((await world.call({ url, secret: user.secret })).status, 403);
      assert.equal((await world.call({ url, secret: admin.secret })).status, 200);
    }
    await world.host();
    const metrics = await world.call({ url: "/metrics", secret: admin.secret });
    assert.match(metrics.text, /^berth_agents_connected 1$/m);
    assert.match(metrics.text, /^berth_offers 2$/m);
    assert.match(metrics.text, /berth_http_request_seconds_count\{operation="api.health.ready",status="200"\} 1/);
    const loops = await world.call({ url: "/api/v0/admin/loops/", secret: admin.secret });
    const names = loops.body.loops.map((loop: { name: string }) => loop.name);
    for (const name of ["settle-runs", "enforce-deadlines", "release-lost-hosts", "end-contracts"]) {
      assert.ok(names.includes(name), name);
    }
  });
});
