import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test, type TestContext } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { rent } from "../../../../../../test/support/rentals.ts";

type Shown = {
  readonly id: number;
  readonly hash_id: string;
  readonly name: string;
  readonly user_template_id?: number;
  readonly last_used_at?: number;
};
type Body = Readonly<Record<string, unknown>>;

/** The server with calls on the library of an account. */
async function libraryWorld(t: TestContext) {
  const world = await testApp(t);
  const send = (by: TestCaller, method: "GET" | "POST" | "DELETE", url: string, body?: unknown) =>
    world.call({ method, url, secret: by.secret, ...(body === undefined ? {} : { body }) });
  const done = async (...call: Parameters<typeof send>) => {
    const answer = await send(...call);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const create = async (by: TestCaller, fields: Body = {}): Promise<Shown> =>
    (await done(by, "POST", "/api/v0/template/", { name: randomUUID(), image: "alpine", ...fields })).template;
  const library = async (by: TestCaller): Promise<readonly Shown[]> =>
    (await done(by, "GET", "/api/v0/users/me/templates/")).templates;
  const add = (by: TestCaller, id: unknown) => send(by, "POST", "/api/v0/users/me/template/", { template_id: id });
  const remove = (by: TestCaller, id: unknown) =>
    send(by, "DELETE", "/api/v0/users/me/templates/", { template_id: id });
  const edit = (by: TestCaller, { hash_id }: Shown, fields: Body) =>
    world.call({ method: "PUT", url: "/api/v0/template/", secret: by.secret, body: { hash_id, ...fields } });
  return { world, send, done, create, library, add, remove, edit };
}

const namesOf = (templates: readonly Shown[]) => templates.map(({ name }) => name);

test("a library has own templates and added public ones, the newest change first, until they are removed or private", async (t) => {
  const { world, create, library, add, remove, edit } = await libraryWorld(t);
  const [user, other] = [await world.caller(), await world.caller()];
  const later = () => world.clock.jump(1_000);
  const own = await create(user, { name: "own" });
  later();
  const shared = await create(other, { name: "shared", private: false });
  const closing = await create(other, { name: "closing", private: false });
  const hidden = await create(other, { name: "hidden" });
  assert.deepEqual(namesOf(await library(user)), ["own"]);
  for (const id of [shared.id, String(closing.id), shared.id, own.id]) {
    const { status, body } = await add(user, id);
    assert.deepEqual([status, body], [200, { success: true }]);
  }
  assert.deepEqual(namesOf(await library(user)), ["closing", "shared", "own"]);
  for (const { id, user_template_id: entryId } of await library(user)) assert.equal(entryId, id);
  later();
  assert.equal((await edit(user, own, { desc: "newer" })).status, 200);
  assert.equal((await edit(other, closing, { private: true })).status, 200);
  assert.deepEqual(namesOf(await library(user)), ["own", "shared"]);
  for (const id of [hidden.id, 2_000_000_000]) {
    for (const answer of [await add(user, id), await remove(user, id)]) {
      assert.deepEqual([answer.status, answer.body.error, answer.body.field], [404, "no_such_template", "template_id"]);
    }
  }
  assert.equal((await remove(user, shared.id)).status, 200);
  assert.equal((await remove(user, own.id)).status, 200);
  assert.deepEqual(namesOf(await library(user)), []);
  assert.equal((await remove(user, shared.id)).status, 404, "others' templates are not deleted");
  assert.ok(namesOf(await library(other)).includes("shared"));
});

test("the library of another account is refused by every call, whether it exists or not", async (t) => {
  const { world, send, create } = await libraryWorld(t);
  const [user, other] = [await world.caller(), await world.caller()];
  const { id, hash_id: hashId } = await create(user, { private: false });
  const calls = [
    ["GET", "templates/"],
    ["GET", "templates/autoscaler/"],
    ["GET", `templates/${hashId}/`],
    ["POST", "templates/", { templates: [{ name: "n", image: "alpine" }] }],
    ["POST", "template/", { template_id: id }],
    ["DELETE", "templates/", { template_id: id }],
  ] as const;
  for (const [method, path, body] of calls) {
    for (const whose of [other.id, 999_999, "somebody"]) {
      const answer = await send(user, method, `/api/v0/users/${whose}/${path}`, body);
      assert.deepEqual([answer.status, answer.body.error], [403, "not_authorized"], answer.text);
      assert.match(answer.body.msg, /user_id/);
    }
    const own = await send(user, method, `/api/v0/users/${method === "DELETE" ? "current" : user.id}/${path}`, body);
    assert.equal(own.status, 200, own.text);
  }
});

test("a list of templates is created and edited whole or not at all, and refusals name the place in the list", async (t) => {
  const { world, send, done, create, library } = await libraryWorld(t);
  const [user, other] = [await world.caller(), await world.caller()];
  const url = `/api/v0/users/${user.id}/templates/`;
  const [foreign, old] = [await create(other, { private: false }), await create(user, { name: "old" })];
  const first = await done(user, "POST", url, {
    templates: [
      { name: "a", image: "alpine", tag: null },
      { name: "b", image: "alpine", docker_login_user: "u", docker_login_pass: "token" },
      { id: old.id, desc: "edited" },
    ],
    referral_template_id: foreign.id,
  });
  assert.deepEqual(namesOf(first.templates), ["a", "b", "old"]);
  assert.deepEqual([first.templates[2].id, first.templates[2].desc], [old.id, "edited"]);
  assert.ok(!JSON.stringify(first).includes("token"));
  const before = await library(user);
  const fine = { name: "fine", image: "alpine" };
  const cases: readonly (readonly [Body, number, string])[] = [
    [{ templates: [fine, { name: "c" }] }, 400, "templates[1].image"],
    [{ templates: [fine, { image: "alpine" }] }, 400, "templates[1].name"],
    [{ templates: [fine, { ...fine, docker_login_user: "u" }] }, 400, "templates[1].docker_login_pass"],
    [{ templates: [fine, { id: foreign.id, desc: "x" }] }, 404, "templates[1].id"],
    [{ templates: [fine, { id: "x", desc: "x" }] }, 400, "templates[1].id"],
    [{ templates: [{ id: old.id, hash_id: old.hash_id, desc: "x" }] }, 404, "templates[0].hash_id"],
    [{ templates: [{ id: old.id, desc: "x" }, fine], is_an_edit: true }, 400, "templates[1].id"],
    [{ templates: [] }, 400, "templates"],
    [{ templates: Array.from({ length: 33 }, () => fine) }, 400, "templates"],
    [{}, 400, "templates"],
  ];
  for (const [body, status, field] of cases) {
    const answer = await send(user, "POST", url, body);
    assert.deepEqual([answer.status, answer.body.field], [status, field], answer.text);
  }
  assert.deepEqual(await library(user), before);
});

test("a shared hash shows its template beside the library, the popular and the recommended ones", async (t) => {
  const { world, send, done, create, add } = await libraryWorld(t);
  const [user, other] = [await world.caller(), await world.caller()];
  const own = await create(user, { name: "own" });
  const popular = await create(other, { name: "popular", private: false });
  const recommended = await create(other, { name: "recommended", private: false });
  const secret = await create(other, { name: "secret", docker_login_user: "login" });
  await world.env.pool.query("update templates set is_recommended = true where id = any ($1)", [
    [recommended.id, secret.id],
  ]);
  const host = await world.host();
  await rent(world, user, host, { template_hash_id: popular.hash_id });
  assert.equal((await add(user, popular.id)).status, 200);
  const choices = await done(user, "GET", `/api/v0/users/me/templates/${secret.hash_id}/`);
  const { success: _, ...lists } = choices;
  const found = Object.fromEntries(
    Object.entries<readonly Shown[]>(lists).map(([name, list]) => [name, namesOf(list).toSorted()]),
  );
  assert.deepEqual(found, {
    templates: ["own", "popular"],
    referral_templates: ["secret"],
    popular: ["popular"],
    recommended: ["recommended"],
    autoscaler: ["own", "popular"],
  });
  assert.ok(!("docker_login_user" in choices.referral_templates[0]));
  const forWorkers = await done(user, "GET", "/api/v0/users/me/templates/autoscaler/");
  assert.deepEqual(Object.keys(forWorkers).toSorted(), ["autoscaler", "recommended", "success"]);
  assert.deepEqual(forWorkers.autoscaler, choices.autoscaler);
  assert.ok(choices.templates.some(({ id }: Shown) => id === own.id));
  for (const hash of ["0".repeat(32), "no-hash"]) {
    const answer = await send(user, "GET", `/api/v0/users/me/templates/${hash}/`);
    assert.deepEqual([answer.status, answer.body.field], [404, "hash_id"], answer.text);
  }
});

test("recent templates are those rented with, the last used first, page by page, and never what became private", async (t) => {
  const { world, send, done, create, edit } = await libraryWorld(t);
  const [user, other] = [await world.caller(), await world.caller()];
  const host = await world.host({ gpus: 8 });
  const url = "/api/v0/template/recent/";
  const empty = await done(user, "GET", url);
  assert.deepEqual(empty, {
    success: true,
    templates_found: 0,
    templates: [],
    page_size: 20,
    last_page_template_id: null,
    last_page_last_used_at: null,
  });
  const own = await create(user, { name: "own" });
  const shared = await create(other, { name: "shared", private: false });
  const given = await create(other, { name: "given" });
  const twin = await create(user, { name: "twin" });
  await create(user, { name: "never used" });
  for (const template of [own, given, shared]) {
    world.clock.jump(5_000);
    await rent(world, user, host, { template_hash_id: template.hash_id });
    await world.settled();
  }
  // Used in the same second as the one before: the page between them must not lose one.
  await rent(world, user, host, { template_hash_id: twin.hash_id });
  await world.settled();
  const all = await done(user, "GET", url);
  assert.deepEqual(namesOf(all.templates), ["twin", "shared", "own"], "a private one of somebody else is not shown");
  assert.deepEqual([all.templates_found, all.last_page_template_id], [3, own.id]);
  const seen: string[] = [];
  for (let query = "?page_size=1"; ;) {
    const page = await done(user, "GET", `${url}${query}`);
    if (page.last_page_template_id === null) break;
    seen.push(...namesOf(page.templates));
    assert.equal(page.templates[0].last_used_at, page.last_page_last_used_at);
    const { last_page_template_id: id, last_page_last_used_at: at } = page;
    query = `?page_size=1&last_page_template_id=${id}&last_page_last_used_at=${at}`;
  }
  assert.deepEqual(seen, ["twin", "shared", "own"]);
  assert.equal((await edit(other, shared, { private: true })).status, 200);
  assert.deepEqual(namesOf((await done(user, "GET", url)).templates), ["twin", "own"]);
  for (const [query, field] of [
    ["last_page_template_id=1", "last_page_last_used_at"],
    ["last_page_last_used_at=1", "last_page_template_id"],
    ["page_size=x", "page_size"],
    ["page_size=0", "page_size"],
    ["last_page_template_id=a&last_page_last_used_at=1", "last_page_template_id"],
  ] as const) {
    const answer = await send(user, "GET", `${url}?${query}`);
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  }
});
