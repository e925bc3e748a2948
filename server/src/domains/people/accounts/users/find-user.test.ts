import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";

test("current stands for me, and so does the own id, on every path of users that has me", async (t) => {
  const app = await testApp(t);
  const caller = await app.caller();
  const paths: Readonly<Record<string, object>> = (await app.call({ url: "/openapi.json" })).body.paths;
  const known = Object.keys(paths);
  const own = known.filter((path) => path.includes("/users/me/"));
  assert.ok(own.length > 2);
  for (const path of own) assert.ok(known.includes(path.replace("/me/", "/current/")), path);

  const ofUsers = known.filter((path) => /\/users\/\{user_id\}\/[^{]*$/.test(path) && !path.includes("/admin/"));
  assert.ok(ofUsers.length > 3);
  for (const path of ofUsers.filter((one) => "get" in (paths[one] ?? {}))) {
    const show = async (name: string) => {
      const { status, body } = await app.call({ url: path.replace("{user_id}", name), secret: caller.secret });
      return { status, body };
    };
    const mine = await show("me");
    assert.equal(mine.status, 200, path);
    // The first call of all may add to what the second one shows, so the word is compared with the id as well.
    const [current, byId] = [await show("current"), await show(String(caller.id))];
    assert.deepEqual(current, byId, path);
    assert.deepEqual(Object.keys(current.body), Object.keys(mine.body), path);
  }
});
