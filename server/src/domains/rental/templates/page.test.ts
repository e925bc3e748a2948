import assert from "node:assert/strict";
import { test } from "node:test";
import { templatesApi, templatesOf } from "../../../../../test/support/templates.ts";

test("pages of templates hold each match once, also when some are deleted meanwhile", async (t) => {
  const { caller, call, create } = await templatesApi(t);
  const [user, other] = [await caller(), await caller()];
  for (const name of ["a", "b", "c", "d"]) await create(user, { name });
  await create(other, { name: "public", private: false });
  await create(other, { name: "private" });
  const page = async (query: Record<string, unknown>) => {
    const answer = await call("GET", user, { version: "v1", query });
    assert.equal(answer.status, 200, answer.text);
    return { ...answer.body, names: templatesOf(answer).map(({ name }) => name) };
  };
  const names: unknown[] = [];
  let token: unknown = "";
  while (token !== null) {
    const answer: Record<string, unknown> & { names: unknown[] } = await page({ limit: 2, after_token: token });
    assert.equal(answer["templates_found"], answer.names.length);
    names.push(...answer.names);
    token = answer["next_token"];
    // Offsets would skip one now.
    if (names.length === 2) {
      const deleted = await call("DELETE", user, { body: { template_id: 1 } });
      assert.equal(deleted.status, 200, deleted.text);
    }
  }
  assert.deepEqual(names, ["a", "b", "c", "d", "public"]);
});

test("a page of templates is found by text and filters, and says when none matches", async (t) => {
  const { caller, call, create } = await templatesApi(t);
  const user = await caller();
  await create(user, { name: "PyTorch 100%", image: "repo/torch" });
  await create(user, { name: "plain", image: "repo/other", desc: "no torch_here" });
  const found = async (query: Record<string, unknown>) => {
    const answer = await call("GET", user, { version: "v1", query });
    assert.equal(answer.status, 200, answer.text);
    return [answer.body["success"], ...templatesOf(answer).map(({ name }) => name)];
  };
  assert.deepEqual(await found({ search: "TORCH" }), [true, "PyTorch 100%", "plain"]);
  assert.deepEqual(await found({ search: "100%" }), [true, "PyTorch 100%"]);
  assert.deepEqual(await found({ search: "torch_here" }), [true, "plain"]);
  assert.deepEqual(await found({ search: "h%e" }), [false]);
  assert.deepEqual(await found({ search: "torch", select_filters: { image: { eq: "repo/torch" } } }), [
    true,
    "PyTorch 100%",
  ]);
  const none = await call("GET", user, { version: "v1", query: { search: "nothing like it" } });
  assert.deepEqual(none.body, {
    success: false,
    msg: "No template matches.",
    templates_found: 0,
    templates: [],
    next_token: null,
  });
  const chosen = await call("GET", user, { version: "v1", query: { select_cols: ["tag"], limit: 1 } });
  assert.deepEqual(Object.keys(templatesOf(chosen)[0] ?? {}).toSorted(), ["hash_id", "id", "name", "tag"]);
  for (const [query, field] of [
    [{ after_token: "bogus!" }, "after_token"],
    [{ limit: 0 }, "limit"],
    [{ select_filters: { colour: { eq: 1 } } }, "select_filters.colour"],
    [{ select_cols: ["colour"] }, "select_cols"],
  ] as const) {
    const answer = await call("GET", user, { version: "v1", query });
    assert.deepEqual([answer.status, answer.body["field"]], [400, field], answer.text);
  }
});
