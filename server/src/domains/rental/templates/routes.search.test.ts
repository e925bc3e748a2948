import assert from "node:assert/strict";
import { test } from "node:test";
import { inTransaction } from "../../../../../test/support/fixtures.ts";
import { templatesApi, templatesOf, type Body } from "../../../../../test/support/templates.ts";
import { asId, type TemplateId } from "../../../base/ids.ts";
import { recordTemplateUse } from "./index.ts";

type Comparable = string | number | boolean;

function comparable(value: unknown): Comparable {
  assert.ok(typeof value === "string" || typeof value === "number" || typeof value === "boolean");
  return value;
}

const idOf = (template: Body) => asId<TemplateId>(Number(template["id"]));

test("a search finds own and public templates; private selects among them", async (t) => {
  const { caller, create, search } = await templatesApi(t);
  const [user, other] = [await caller(), await caller()];
  const ownPrivate = await create(user, { name: "own private", private: true });
  const ownPublic = await create(user, { name: "own public", private: false });
  const otherPublic = await create(other, { name: "other public", private: false });
  await create(other, { name: "other private", private: true });
  const names = async (filters: unknown) => (await search(user, filters)).map((template) => template["name"]);
  assert.deepEqual(
    await names({}),
    [ownPrivate, ownPublic, otherPublic].map((template) => template["name"]),
  );
  assert.deepEqual(await names({ private: { eq: true } }), ["own private"]);
  assert.deepEqual(await names({ private: { eq: false } }), ["own public", "other public"]);
  assert.deepEqual(await names({ private: { eq: null } }), ["own public", "other public"]);
  assert.deepEqual(await names({ creator_id: { eq: user.id } }), ["own private", "own public"]);
});

test("each searchable field can be searched with each operator, and fields combine", async (t) => {
  const { caller, create, search, database } = await templatesApi(t);
  const user = await caller();
  const a = await create(user, {
    name: "alpha",
    image: "img/a",
    tag: "v1",
    docker_login_repo: "ghcr.io",
    recommended_disk_space: 10,
  });
  const b = await create(user, {
    name: "beta",
    image: "img/b",
    tag: "v2",
    ssh_direct: true,
    use_ssh: true,
    jup_direct: true,
    docker_login_repo: "quay.io",
    recommended_disk_space: 20.5,
  });
  await inTransaction(database, (tx) => recordTemplateUse(tx, idOf(b), user.id));
  // Both may have been created within one millisecond.
  await database.pool.query(
    "update templates set is_recommended = true, created_at = created_at + interval '1 second' where id = $1",
    [b["id"]],
  );
  const [low, high] = await search(user, {});
  assert.ok(low && high);
  assert.equal(high["count_created"], 1);
  assert.equal(typeof high["recent_create_date"], "number");
  const fields =
    "id hash_id name image tag default_tag docker_login_repo created_at count_created recommended_disk_space " +
    "ssh_direct use_ssh jup_direct recommended";
  for (const field of fields.split(" ")) {
    const x: Comparable = comparable(low[field]);
    const y: Comparable = comparable(high[field]);
    const isAscending = x < y;
    const [first, second] = isAscending ? [a["id"], b["id"]] : [b["id"], a["id"]];
    const [least, most] = isAscending ? [x, y] : [y, x];
    const found = async (operators: Body) =>
      (await search(user, { [field]: operators, creator_id: { eq: user.id } })).map((template) => template["id"]);
    assert.deepEqual(await found({ eq: x }), [a["id"]], field);
    assert.deepEqual(await found({ neq: x }), [b["id"]], field);
    assert.deepEqual(await found({ lt: most }), [first], field);
    assert.deepEqual(await found({ lte: least }), [first], field);
    assert.deepEqual(await found({ gt: least }), [second], field);
    assert.deepEqual(await found({ gte: most }), [second], field);
    assert.deepEqual(await found({ in: [y] }), [b["id"]], field);
    assert.deepEqual(await found({ notin: [y] }), [a["id"]], field);
    assert.deepEqual(await found({ gte: least, lt: most, neq: most }), [first], field);
  }
  const recent = async (operators: Body) =>
    (await search(user, { recent_create_date: operators })).map((template) => template["name"]);
  assert.deepEqual(await recent({ eq: null }), ["alpha"]);
  assert.deepEqual(await recent({ eq: high["recent_create_date"] }), ["beta"]);
  assert.deepEqual(await recent({ lte: 4e9 }), ["beta"]);
  assert.deepEqual(await search(user, { creator_id: { in: [user.id + 1, 99_999_999_999] } }), []);
});

test("a search answers with the chosen columns, in the chosen order, page by page", async (t) => {
  const { caller, call, create, search } = await templatesApi(t);
  const user = await caller();
  for (const name of ["b", "a", "é", "Z"]) await create(user, { name });
  const names = async (more: Body) => (await search(user, {}, more)).map((template) => template["name"]);
  assert.deepEqual(await names({ order_by: [{ col: "name", dir: "asc" }] }), ["Z", "a", "b", "é"]);
  assert.deepEqual(await names({ order_by: [["name", "desc"]] }), ["é", "b", "a", "Z"]);
  assert.deepEqual(await names({ order_by: [{ col: "tag", dir: "desc" }] }), ["b", "a", "é", "Z"]);
  const [row] = await search(user, { name: { eq: "a" } }, { select_cols: ["tag", "env"] });
  assert.deepEqual(Object.keys(row ?? {}).toSorted(), ["env", "hash_id", "id", "name", "tag"]);
  assert.deepEqual(await names({ select_cols: ["*"], limit: 2, offset: 1 }), ["a", "é"]);
  const page = await call("GET", user, { query: { limit: 1 } });
  assert.equal(page.body["templates_found"], 4);
  assert.equal(templatesOf(page).length, 1);
});

test("every wrong search is refused by name", async (t) => {
  const { caller, call } = await templatesApi(t);
  const user = await caller();
  const cases: readonly (readonly [Body, RegExp])[] = [
    [{ select_filters: "{" }, /select_filters is not valid JSON/],
    [{ select_filters: "[]" }, /select_filters must be an object/],
    [{ select_filters: { colour: { eq: 1 } } }, /select_filters\.colour is not a searchable field/],
    [{ select_filters: { readme: { eq: "x" } } }, /select_filters\.readme is not a searchable field/],
    [{ select_filters: { name: { like: "x" } } }, /select_filters\.name\.like: unknown operator/],
    [{ select_filters: { id: { eq: "abc" } } }, /select_filters\.id\.eq: expected one value, an integer/],
    [{ select_filters: { use_ssh: { eq: "perhaps" } } }, /select_filters\.use_ssh\.eq/],
    [{ select_filters: { name: { in: "x" } } }, /select_filters\.name\.in: expected a list, each value a text/],
    [{ select_filters: { id: { notin: 7 } } }, /select_filters\.id\.notin: expected a list/],
    [{ select_filters: { name: "x" } }, /select_filters\.name must be an object/],
    [{ select_filters: { name: { eq: "a\0" } } }, /select_filters/],
    [{ select_cols: '"id"' }, /select_cols/],
    [{ select_cols: ["colour"] }, /select_cols: "colour"/],
    [{ order_by: [{ col: "readme" }] }, /order_by\[0\]/],
    [{ order_by: "x" }, /order_by/],
    [{ limit: 0 }, /limit/],
    [{ limit: 1001 }, /limit/],
    [{ offset: "x" }, /offset/],
  ];
  for (const [query, message] of cases) {
    const { status, body, text } = await call("GET", user, { query });
    assert.equal(status, 400, text);
    assert.equal(body["success"], false);
    assert.equal(body["error"], "invalid_args");
    assert.match(String(body["msg"]), message);
  }
});

test("every wrong field is refused by name, on create and on edit", async (t) => {
  const { caller, call, create } = await templatesApi(t);
  const user = await caller();
  const template = await create(user);
  const cases: readonly (readonly [Body, RegExp])[] = [
    [{ name: 5 }, /^name/],
    [{ name: "x".repeat(256) }, /^name/],
    [{ name: "" }, /^Template name is required/],
    [{ name: "a\0b" }, /^name/],
    [{ name: "\ud800" }, /^name/],
    [{ image: "" }, /^Template image is required/],
    [{ image: ["x"] }, /^image/],
    [{ image: "Not An Image" }, /^image/],
    [{ image: "x".repeat(1025) }, /^image/],
    [{ tag: "a b" }, /^tag/],
    [{ env: { A: "1" } }, /^env/],
    [{ env: `-e LONG=${"x".repeat(257)}` }, /^env.*LONG/],
    [{ env: "x".repeat(40_000) }, /^env/],
    [{ onstart: "x".repeat(4097) }, /^onstart/],
    [{ onstart: "x".repeat(4000), args_str: "y".repeat(97) }, /^onstart and args_str/],
    [{ runtype: "vm" }, /^runtype/],
    [{ ssh_direct: "true" }, /^ssh_direct/],
    [{ private: 1 }, /^private/],
    [{ recommended_disk_space: "big" }, /^recommended_disk_space/],
    [{ recommended_disk_space: -1 }, /^recommended_disk_space/],
    [{ recommended_disk_space: {} }, /^recommended_disk_space/],
    [{ extra_filters: [] }, /^extra_filters/],
    [{ extra_filters: { gpu_ram: 5 } }, /^extra_filters\.gpu_ram/],
    [{ extra_filters: { gpu_ram: { around: 5 } } }, /^extra_filters\.gpu_ram/],
    [{ extra_filters: { "a b": {} } }, /^extra_filters/],
    [{ extra_filters: "{" }, /^extra_filters/],
    [{ volume_info: 5 }, /^volume_info/],
    [{ docker_login_pass: 5 }, /^docker_login_pass/],
    [{ jupyter_dir: {} }, /^jupyter_dir/],
  ];
  for (const [fields, message] of cases) {
    const created = await call("POST", user, { body: { name: "t", image: "x", ...fields } });
    const edited = await call("PUT", user, { body: { hash_id: template["hash_id"], ...fields } });
    for (const { status, body, text } of [created, edited]) {
      assert.equal(status, 400, text);
      assert.equal(body["error"], "invalid_args", text);
      assert.match(String(body["msg"]), message, text);
    }
  }
  for (const [body, message] of [
    [{ image: "x" }, "Template name is required"],
    [{ name: null, image: "x" }, "Template name is required"],
    [{ name: "x" }, "Template image is required"],
    [{}, "Template name is required"],
    [undefined, "Template name is required"],
  ] as const) {
    const answer = await call("POST", user, { body });
    assert.equal(answer.status, 400);
    assert.equal(answer.body["msg"], message);
  }
  assert.match(String((await call("PUT", user, { body: { desc: "x" } })).body["msg"]), /hash_id is required/);
  assert.match(String((await call("PUT", user, { body: { hash_id: 5 } })).body["msg"]), /^hash_id/);
  assert.match(String((await call("DELETE", user, { body: {} })).body["msg"]), /^template_id is required/);
  for (const template_id of ["abc", 1.5, {}, true]) {
    const answer = await call("DELETE", user, { body: { template_id } });
    assert.equal(answer.status, 400);
    assert.match(String(answer.body["msg"]), /^template_id/);
  }
  for (const template_id of [0, -5, 99_999_999_999, "0"]) {
    assert.equal((await call("DELETE", user, { body: { template_id } })).status, 404);
  }
  assert.equal((await call("PUT", user, { body: { hash_id: "not a hash", desc: "x" } })).status, 404);
});

test("numbers as text, filters as JSON text and a tag inside the image are understood", async (t) => {
  const { caller, create } = await templatesApi(t);
  const user = await caller();
  const template = await create(user, {
    image: "a/b:v7",
    recommended_disk_space: "16",
    extra_filters: '{"num_gpus":{"gte":2}}',
    hash_id: "ignored",
  });
  assert.equal(template["image"], "a/b:v7");
  assert.equal(template["tag"], "v7");
  assert.equal(template["recommended_disk_space"], 16);
  assert.deepEqual(template["extra_filters"], { num_gpus: { gte: 2 } });
});

test("a key is needed, and one with the permission", async (t) => {
  const { caller, call } = await templatesApi(t);
  const reader = await caller({ api: { user_read: {} } });
  const writer = await caller({ api: { user_write: {} } });
  const body = { name: "t", image: "x" };
  for (const method of ["GET", "POST", "PUT", "DELETE"] as const) {
    const request = method === "GET" ? {} : { body };
    assert.equal((await call(method, undefined, request)).status, 401);
    assert.equal((await call(method, method === "GET" ? writer : reader, request)).status, 403);
  }
  assert.equal((await call("GET", reader)).status, 200);
  assert.equal((await call("POST", writer, { body })).status, 200);
});
