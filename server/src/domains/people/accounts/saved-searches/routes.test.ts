import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsHttp } from "../../../../../../test/support/accounts.ts";
import { aCaller } from "../../../../../../test/support/fixtures.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";

const { database } = await testDatabase();
const http = await accountsHttp(database);
const PATH = "/api/v0/users/saved-searches/";

const save = (secret: string, body: unknown) => http.call({ method: "POST", url: PATH, secret, body });
const remove = (secret: string, id: number | string) => http.call({ method: "DELETE", url: `${PATH}${id}/`, secret });
const list = async (secret: string) => (await http.call({ url: PATH, secret })).body.saved_searches;

test("a saved search keeps its text and columns as they are, and one of the same name replaces it", async () => {
  const { secret } = await aCaller(database);
  const hostile = '<img src=x onerror="alert(1)"> \u202e; drop table users';
  const made = await save(secret, { name: hostile, query: hostile, columns: ["gpu_name", "dph_total"] });
  assert.equal(made.status, 200, made.text);
  const { id } = made.body.saved_search;
  await save(secret, { name: "all", query: "" });
  const again = await save(secret, { name: ` ${hostile} `, query: "num_gpus>=2" });
  assert.deepEqual([again.body.saved_search.id, again.body.saved_search.columns], [id, []]);
  assert.deepEqual(
    (await list(secret)).map((one: Record<string, unknown>) => [one["name"], one["query"]]),
    [
      [hostile, "num_gpus>=2"],
      ["all", ""],
    ],
  );
  assert.equal((await remove(secret, id)).status, 200);
  assert.equal((await list(secret)).length, 1);
});

test("a saved search is checked, and belongs to its account alone", async () => {
  const [own, stranger] = [await aCaller(database), await aCaller(database)];
  for (const [body, field] of [
    [{ query: "" }, "name"],
    [{ name: " ", query: "" }, "name"],
    [{ name: "n".repeat(101), query: "" }, "name"],
    [{ name: "a\0", query: "" }, "name"],
    [{ name: "a" }, "query"],
    [{ name: "a", query: "q".repeat(4097) }, "query"],
    [{ name: "a", query: "", columns: [""] }, "columns"],
    [{ name: "a", query: "", columns: Array.from({ length: 65 }, () => "a") }, "columns"],
  ] as const) {
    const answer = await save(own.secret, body);
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, new RegExp(field));
  }
  const { id } = (await save(own.secret, { name: "mine", query: "" })).body.saved_search;
  assert.deepEqual(await list(stranger.secret), []);
  for (const wrong of [id, 2_000_000_000, "none"]) {
    const answer = await remove(stranger.secret, wrong);
    assert.deepEqual([answer.status, answer.body.error], [404, "no_such_saved_search"]);
  }
  const reader = await aCaller(database, { permissions: { api: { user_read: {} } } });
  assert.equal((await save(reader.secret, { name: "a", query: "" })).status, 403);
  assert.equal((await http.call({ url: PATH })).status, 401);
});

test("an account has at most 100 saved searches, also with concurrent requests", async () => {
  const { secret } = await aCaller(database);
  const answers = await Promise.all(
    Array.from({ length: 104 }, (_, index) => save(secret, { name: `n${index}`, query: "" })),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  assert.deepEqual(
    refused.map(({ body }) => body.error),
    Array.from({ length: 4 }, () => "too_many"),
  );
  assert.equal((await list(secret)).length, 100);
  assert.equal((await save(secret, { name: "n3", query: "replaced" })).status, answers[3]?.status === 200 ? 200 : 400);
});
