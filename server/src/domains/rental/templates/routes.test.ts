import assert from "node:assert/strict";
import { test } from "node:test";
import { templateOf, templatesApi, type Answer } from "../../../../../test/support/templates.ts";
import { resolveLaunch, resolveTemplateByHash } from "./index.ts";

test("a template is created with the contract's defaults and found by its creator", async (t) => {
  const { caller, call, search } = await templatesApi(t);
  const user = await caller();
  const created = await call("POST", user, { body: { name: "My template", image: "repo/image" } });
  assert.equal(created.status, 200);
  const { id, hash_id: hashId, created_at: createdAt, ...rest } = templateOf(created);
  assert.match(String(created.body["msg"]), new RegExp(`New Template ID: ${String(id)}$`));
  assert.equal(typeof id, "number");
  assert.match(String(hashId), /^[0-9a-f]{32}$/);
  assert.equal(typeof createdAt, "number");
  assert.deepEqual(rest, {
    name: "My template",
    image: "repo/image",
    tag: "latest",
    default_tag: "latest",
    desc: "",
    readme: "",
    readme_visible: true,
    env: "",
    onstart: "",
    runtype: "args",
    args_str: "",
    ssh_direct: false,
    use_ssh: false,
    jup_direct: false,
    jupyter_dir: null,
    use_jupyter_lab: false,
    docker_login_repo: "",
    docker_login_user: "",
    href: "",
    repo: "",
    extra_filters: {},
    recommended_disk_space: 8,
    private: true,
    recommended: false,
    shipped: false,
    volume_info: null,
    creator_id: user.id,
    count_created: 0,
    recent_create_date: null,
  });
  assert.deepEqual(await search(user, { id: { eq: id } }), [templateOf(created)]);
});

test("every given field comes back as it was given, except the password, which appears nowhere", async (t) => {
  const { caller, call, search, logged, database, encryption } = await templatesApi(t);
  const user = await caller();
  const fields = {
    name: "full",
    image: "ghcr.io/a/b",
    tag: "v1",
    desc: "d",
    readme: "# r",
    readme_visible: false,
    env: '-e A="b c" -p 80:80',
    onstart: "echo 1\necho 2",
    runtype: "jupyter",
    args_str: "--x",
    ssh_direct: true,
    use_ssh: true,
    jup_direct: true,
    jupyter_dir: "/work",
    use_jupyter_lab: true,
    docker_login_repo: "ghcr.io",
    docker_login_user: "me",
    href: "https://example.com",
    repo: "a/b",
    extra_filters: { gpu_ram: { gte: 24, lte: 80 }, geolocation: { in: ["US", "DE"] } },
    recommended_disk_space: 32.5,
    private: false,
    volume_info: { create_new: true, size: 5 },
  };
  const created = await call("POST", user, { body: { ...fields, docker_login_pass: "canary-secret", unknown_key: 1 } });
  const template = templateOf(created);
  for (const [field, value] of Object.entries(fields)) assert.deepEqual(template[field], value, field);
  const edited = await call("PUT", user, { body: { hash_id: template["hash_id"], desc: "e" } });
  assert.equal(edited.body["hash_id"], templateOf(edited)["hash_id"]);
  const found = await call("GET", user, { query: { select_filters: "{}" } });
  const refused = await call("POST", user, { body: { ...fields, docker_login_pass: 5 } });
  for (const answer of [created, edited, found, refused]) {
    assert.ok(!answer.text.includes("canary-secret") && !answer.text.includes('docker_login_pass":'), answer.text);
  }
  assert.ok(!logged.some((line) => line.includes("canary-secret")));
  assert.equal(
    (await call("GET", user, { query: { select_filters: { docker_login_pass: { eq: "x" } } } })).status,
    400,
  );
  assert.equal((await call("GET", user, { query: { select_cols: ["docker_login_pass"] } })).status, 400);
  // A stranger sees a public template without the registry user, and the owner's launch logs in.
  const stranger = await caller();
  assert.ok(!("docker_login_user" in ((await search(stranger, {}))[0] ?? {})));
  const own = await resolveTemplateByHash(database.kysely, user.id, template["hash_id"], encryption);
  assert.deepEqual(resolveLaunch(own, {}).registry_auth, {
    username: "me",
    password: "canary-secret",
    serveraddress: "ghcr.io",
  });
  const theirs = await resolveTemplateByHash(database.kysely, stranger.id, template["hash_id"], encryption);
  assert.equal(resolveLaunch(theirs, {}).registry_auth, null);
});

test("a password is encrypted in every version that has it, and one stored in clear by an older server still works", async (t) => {
  const { caller, call, create, database, encryption } = await templatesApi(t);
  const user = await caller();
  const login = { docker_login_user: "me", docker_login_pass: "canary-password" };
  const first = await create(user, { image: "me/x", ...login });
  const second = templateOf(await call("PUT", user, { body: { hash_id: first["hash_id"], desc: "edited" } }));
  const stored = async () => {
    const { rows } = await database.pool.query<{ password: string }>(
      `select docker_login_pass as password from templates
       union all select docker_login_pass from template_versions`,
    );
    return rows.map(({ password }) => password);
  };
  const encrypted = await stored();
  assert.equal(encrypted.length, 3);
  for (const password of encrypted) assert.match(password, /^sealed1:/);
  const passwords = () =>
    Promise.all(
      [first, second].map(async (template) => {
        const resolved = await resolveTemplateByHash(database.kysely, user.id, template["hash_id"], encryption);
        return resolved.docker_login_pass;
      }),
    );
  assert.deepEqual(await passwords(), ["canary-password", "canary-password"]);
  await database.pool.query("update templates set docker_login_pass = 'canary-password'");
  await database.pool.query("update template_versions set docker_login_pass = 'canary-password'");
  assert.deepEqual(await passwords(), ["canary-password", "canary-password"]);
  const third = templateOf(await call("PUT", user, { body: { hash_id: second["hash_id"], desc: "again" } }));
  const resolved = await resolveTemplateByHash(database.kysely, user.id, third["hash_id"], encryption);
  assert.equal(resolved.docker_login_pass, "canary-password");
  assert.deepEqual((await stored()).filter((password) => password.startsWith("sealed1:")).length, 2);
  // The text was encrypted for another version, or by a server with another secret: the owner reads what to do.
  await database.pool.query("update template_versions set docker_login_pass = $1", [encrypted[0]]);
  await assert.rejects(resolveTemplateByHash(database.kysely, user.id, third["hash_id"], encryption), {
    code: "invalid_args",
    publicMessage: /set docker_login_pass again/,
  });
});

test("a private template serves everybody who was given its hash, with its registry login", async (t) => {
  const { caller, create, search, database, encryption } = await templatesApi(t);
  const [owner, guest] = [await caller(), await caller()];
  const template = await create(owner, {
    image: "me/x",
    docker_login_user: "me",
    docker_login_pass: "p",
    private: true,
  });
  assert.deepEqual(await search(guest, {}), []);
  const resolved = await resolveTemplateByHash(database.kysely, guest.id, template["hash_id"], encryption);
  assert.equal(resolved.id, template["id"]);
  assert.equal(resolveLaunch(resolved, {}).registry_auth?.password, "p");
});

test("the same content of the same user is one template, of another user another", async (t) => {
  const { caller, call, create, search } = await templatesApi(t);
  const [user, other] = [await caller(), await caller()];
  const body = { name: "same", image: "x", extra_filters: { a: { eq: 1 }, b: { eq: 2 } } };
  const first = await call("POST", user, { body });
  const again = await call("POST", user, {
    body: { extra_filters: { b: { eq: 2 }, a: { eq: 1 } }, tag: "latest", image: "x", name: "same", desc: null },
  });
  assert.equal(again.status, 200);
  assert.deepEqual(templateOf(again), templateOf(first));
  assert.equal((await search(user, {})).length, 1);
  const elsewhere = await create(other, body);
  assert.notEqual(elsewhere["id"], templateOf(first)["id"]);
  assert.equal(elsewhere["hash_id"], templateOf(first)["hash_id"]);
  const withPassword = await create(user, { ...body, docker_login_pass: "p" });
  assert.notEqual(withPassword["hash_id"], templateOf(first)["hash_id"]);
});

test("sixteen creations of one content at once make one template", async (t) => {
  const { caller, create } = await templatesApi(t);
  const user = await caller();
  const made = await Promise.all(Array.from({ length: 16 }, () => create(user, { name: "race" })));
  assert.equal(new Set(made.map((template) => template["id"])).size, 1);
});

test("a retried creation with an idempotency key changes nothing and answers the same", async (t) => {
  const { caller, call, search } = await templatesApi(t);
  const user = await caller();
  const request = { body: { name: "once", image: "x" }, headers: { "idempotency-key": "k1" } };
  const [first, second] = [await call("POST", user, request), await call("POST", user, request)];
  assert.deepEqual(second.body, first.body);
  assert.equal((await search(user, {})).length, 1);
});

test("an edit keeps what it does not name, keeps the id and changes the hash", async (t) => {
  const { caller, call, create, search } = await templatesApi(t);
  const user = await caller();
  const before = await create(user, { desc: "old", env: "-e A=1", ssh_direct: true, jupyter_dir: "/w" });
  const answer = await call("PUT", user, {
    body: { hash_id: before["hash_id"], desc: "new", env: null, jupyter_dir: null, name: null, ssh_direct: false },
  });
  assert.equal(answer.status, 200);
  const after = templateOf(answer);
  assert.notEqual(after["hash_id"], before["hash_id"]);
  assert.deepEqual(after, { ...before, hash_id: after["hash_id"], desc: "new", ssh_direct: false });
  assert.deepEqual(await search(user, {}), [after]);
  const cleared = await call("PUT", user, { body: { hash_id: after["hash_id"], jupyter_dir: "", desc: "", tag: "" } });
  assert.deepEqual(
    ["jupyter_dir", "desc", "tag"].map((field) => templateOf(cleared)[field]),
    [null, "", "latest"],
  );
});

test("an edit under the newer path, with every field and the id besides, is the same", async (t) => {
  const { caller, call, create, search } = await templatesApi(t);
  const user = await caller();
  const before = await create(user, { env: "-e A=1", onstart: "echo", href: "https://example.com", private: false });
  // The body that a client sends for `--name renamed --ssh` alone: null for absent fields, but booleans and filters
  // always.
  const unset = {
    tag: null,
    href: null,
    repo: null,
    env: null,
    onstart: null,
    jupyter_dir: null,
    readme: null,
    desc: null,
  };
  const flags = { jup_direct: false, ssh_direct: false, use_jupyter_lab: false, use_ssh: true, readme_visible: true };
  const given = { name: "renamed", image: "ubuntu", runtype: "ssh", private: true, extra_filters: {} };
  const body = { id: before["id"], hash_id: before["hash_id"], ...unset, ...flags, ...given };
  const answer = await call("PUT", user, { body, version: "v1" });
  assert.equal(answer.status, 200, answer.text);
  const after = templateOf(answer);
  assert.deepEqual(after, { ...before, ...flags, ...given, hash_id: after["hash_id"] });
  assert.deepEqual(await search(user, {}), [after]);
});

test("an edit that changes nothing answers with the same hash", async (t) => {
  const { caller, call, create } = await templatesApi(t);
  const user = await caller();
  const before = await create(user, { docker_login_pass: "p" });
  const same = await call("PUT", user, { body: { hash_id: before["hash_id"], docker_login_pass: "p" } });
  assert.deepEqual(templateOf(same), before);
  const other = await call("PUT", user, { body: { hash_id: before["hash_id"], docker_login_pass: "q" } });
  assert.notEqual(templateOf(other)["hash_id"], before["hash_id"]);
});

test("an edit by an outdated hash is refused and changes nothing; of two edits at once by one hash, one is made", async (t) => {
  const { caller, call, create, search } = await templatesApi(t);
  const user = await caller();
  const first = await create(user, { desc: "1" });
  const edit = (desc: string) => call("PUT", user, { body: { hash_id: first["hash_id"], desc } });
  const second = templateOf(await edit("2"));
  for (const desc of ["3", "2", "1"]) {
    const { status, body } = await edit(desc);
    assert.deepEqual([status, body["error"], body["field"]], [404, "invalid_template", "hash_id"]);
    assert.deepEqual([body["template_id"], body["hash_id"]], [first["id"], second["hash_id"]]);
  }
  assert.deepEqual(await search(user, {}), [second]);
  const race = await Promise.all(
    ["4", "5", "6"].map((desc) => call("PUT", user, { body: { hash_id: second["hash_id"], desc } })),
  );
  assert.deepEqual(
    race.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 404, 404],
  );
});

test("older hashes still name the template's older content for launches", async (t) => {
  const { caller, call, create, database, encryption } = await templatesApi(t);
  const user = await caller();
  const first = await create(user, { image: "x:1", docker_login_user: "u", docker_login_pass: "one" });
  const edit = { hash_id: first["hash_id"], image: "x:2", docker_login_pass: "two" };
  const second = templateOf(await call("PUT", user, { body: edit }));
  const third = templateOf(await call("PUT", user, { body: { hash_id: second["hash_id"], image: "x:3" } }));
  assert.equal(third["id"], first["id"]);
  const launches = await Promise.all(
    [first, second, third].map(async (template) => {
      const resolved = await resolveTemplateByHash(database.kysely, user.id, template["hash_id"], encryption);
      assert.equal(resolved.hashId, template["hash_id"]);
      const { image, registry_auth: auth } = resolveLaunch(resolved, {});
      return [image, auth?.password];
    }),
  );
  assert.deepEqual(launches, [
    ["x:1", "one"],
    ["x:2", "two"],
    ["x:3", "two"],
  ]);
});

test("a template may become what it was before", async (t) => {
  const { caller, call, create } = await templatesApi(t);
  const user = await caller();
  const first = await create(user, { desc: "a" });
  const second = templateOf(await call("PUT", user, { body: { hash_id: first["hash_id"], desc: "b" } }));
  const back = await call("PUT", user, { body: { hash_id: second["hash_id"], desc: "a" } });
  assert.deepEqual(templateOf(back), first);
});

test("an edit cannot make a second template of one content", async (t) => {
  const { caller, call, create } = await templatesApi(t);
  const user = await caller();
  const [one, two] = [await create(user, { desc: "1" }), await create(user, { desc: "2" })];
  const refused = await call("PUT", user, { body: { hash_id: two["hash_id"], desc: "1" } });
  assert.equal(refused.status, 409);
  assert.equal(refused.body["error"], "template_exists");
  assert.equal(refused.body["template_id"], one["id"]);
  const race = ["3", "4", "5"].map((desc) => create(user, { desc }));
  const hashes = (await Promise.all(race)).map((template) => template["hash_id"]);
  const edits = await Promise.all(hashes.map((hash_id) => call("PUT", user, { body: { hash_id, desc: "6" } })));
  assert.equal(edits.filter(({ status }) => status === 200).length, 1);
  assert.equal(edits.filter(({ status }) => status === 409).length, 2);
});

test("a template is deleted by id, by id as text, or by any of its hashes, once", async (t) => {
  const { caller, call, create, search, database, encryption } = await templatesApi(t);
  const user = await caller();
  const made = await Promise.all(
    ["1", "2", "3", "4"].map((desc) => create(user, { desc, docker_login_pass: "canary" })),
  );
  const [byId, byText, byHash, byOldHash] = made;
  assert.ok(byId && byText && byHash && byOldHash);
  await call("PUT", user, { body: { hash_id: byOldHash["hash_id"], desc: "5" } });
  for (const body of [
    { template_id: byId["id"] },
    { template_id: String(byText["id"]) },
    { hash_id: byHash["hash_id"] },
    { hash_id: byOldHash["hash_id"] },
  ]) {
    const answer = await call("DELETE", user, { body });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body["success"], true);
    assert.equal((await call("DELETE", user, { body })).status, 404);
  }
  assert.deepEqual(await search(user, {}), []);
  assert.equal((await call("PUT", user, { body: { hash_id: byId["hash_id"], desc: "x" } })).status, 404);
  await assert.rejects(resolveTemplateByHash(database.kysely, user.id, byId["hash_id"], encryption), {
    code: "no_such_template",
  });
  const { rows } = await database.pool.query(
    "select 1 from templates where docker_login_pass <> '' union all select 1 from template_versions where docker_login_pass <> ''",
  );
  assert.deepEqual(rows, []);
  // The same content may be created again, as a template of its own.
  assert.notEqual((await create(user, { desc: "1", docker_login_pass: "canary" }))["id"], byId["id"]);
});

test("another user's template cannot be edited or deleted, public or not, and answers as if it did not exist", async (t) => {
  const { caller, call, create, search } = await templatesApi(t);
  const [owner, stranger] = [await caller(), await caller()];
  const shown = await create(owner, { private: false, desc: "public" });
  const hidden = await create(owner, { private: true, desc: "private" });
  const absent = { id: 999_999, hash_id: "0".repeat(32) };
  const answers: Answer[] = [];
  for (const target of [shown, hidden, absent]) {
    const { id, hash_id: hashId } = target;
    answers.push(
      await call("PUT", stranger, { body: { hash_id: hashId, desc: "mine" } }),
      await call("DELETE", stranger, { body: { template_id: id } }),
      await call("DELETE", stranger, { body: { hash_id: hashId } }),
    );
  }
  const [edit, byId, byHash] = answers.map(({ status, body }) => ({ status, ...body, request_id: "" }));
  for (const [index, { status, body }] of answers.entries()) {
    assert.equal(status, 404);
    assert.deepEqual({ status, ...body, request_id: "" }, [edit, byId, byHash][index % 3]);
  }
  assert.deepEqual(await search(owner, {}), [shown, hidden]);
});
