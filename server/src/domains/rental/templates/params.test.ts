import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";

test("each stated limit of a template's text fields is the one that its creation keeps to", async (t) => {
  const world = await testApp(t);
  const { secret } = await world.caller();
  const { status, body } = await world.call({ url: "/api/v0/template/params", secret });
  assert.equal(status, 200);
  assert.equal(body.success, true);
  const limits: Readonly<Record<string, number>> = body.limits;
  assert.ok(Object.keys(limits).length >= 14, Object.keys(limits).join(" "));
  for (const [field, limit] of Object.entries(limits)) {
    const long = field === "extra_filters" ? JSON.stringify({ a: { eq: "x".repeat(limit) } }) : "x".repeat(limit + 1);
    const refused = await world.call({
      method: "POST",
      url: "/api/v0/template/",
      secret,
      body: { name: "n", image: "alpine", [field]: long },
    });
    assert.deepEqual([refused.status, refused.body.field], [400, field], refused.text);
  }
  for (const field of ["name", "desc", "readme", "onstart", "href", "docker_login_user"]) {
    const taken = await world.call({
      method: "POST",
      url: "/api/v0/template/",
      secret,
      body: { name: "n", image: "alpine", [field]: "x".repeat(limits[field] ?? 0) },
    });
    assert.equal(taken.status, 200, `${field}: ${taken.text}`);
  }
});
