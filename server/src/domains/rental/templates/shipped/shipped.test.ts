import assert from "node:assert/strict";
import { test } from "node:test";
import { inTransaction } from "../../../../../../test/support/fixtures.ts";
import { templatesApi, templatesOf } from "../../../../../../test/support/templates.ts";
import { readNewContent } from "../rules/content.ts";
import { resolveLaunch } from "../rules/launch.ts";
import { CATALOGUE, type ShippedTemplate } from "./catalogue.ts";
import { shipTemplates } from "./service.ts";

const one = (key: string, revision: number, image: string): ShippedTemplate => ({
  key,
  revision,
  fields: { name: key, image, runtype: "ssh" },
});

test("a database gets each template once, however many servers start, and lists them first", async (t) => {
  const { database, encryption, caller, call, create, search } = await templatesApi(t);
  const [admin, user] = [await caller(), await caller()];
  await create(user, { name: "own" });
  assert.deepEqual(
    (await search(user, {})).map(({ shipped }) => shipped),
    [false],
    "none before a server started",
  );
  for (let start = 0; start < 2; start += 1) {
    await inTransaction(database, (tx) => shipTemplates(tx, admin.id, { encryption }));
  }
  for (const query of [{}, { limit: 1000 }]) {
    const found = templatesOf(await call("GET", user, { query }));
    assert.deepEqual(
      found.map(({ name, shipped }) => [name, shipped]),
      [...CATALOGUE.map(({ fields }) => [fields["name"], true]), ["own", false]],
    );
  }
  const recommended = await search(user, { recommended: { eq: true } });
  assert.equal(recommended.length, CATALOGUE.length);
});

test("a later version updates what nobody edited, and an older one takes nothing back", async (t) => {
  const { database, encryption, caller, call, search } = await templatesApi(t);
  const admin = await caller();
  const ship = (...catalogue: readonly ShippedTemplate[]) =>
    inTransaction(database, (tx) => shipTemplates(tx, admin.id, { encryption, catalogue }));
  const first = [one("plain", 1, "a:1"), one("edited", 1, "b:1"), one("deleted", 1, "c:1")];
  await ship(...first);
  const [plain, edited, deleted] = await search(admin, {});
  const put = await call("PUT", admin, { body: { hash_id: edited?.["hash_id"], desc: "ours" } });
  assert.equal(put.status, 200, put.text);
  const gone = await call("DELETE", admin, { body: { template_id: deleted?.["id"] } });
  assert.equal(gone.status, 200, gone.text);
  await ship(one("plain", 2, "a:2"), one("edited", 2, "b:2"), one("deleted", 2, "c:2"));
  await ship(...first);
  const after = await search(admin, {});
  assert.deepEqual(
    after.map(({ id, image, desc, shipped }) => [id, image, desc, shipped]),
    [
      [plain?.["id"], "a:2", "", true],
      [edited?.["id"], "b:1", "ours", true],
    ],
  );
});

test("every template that comes with the server has a readme, is named by a tag, and can be launched", () => {
  for (const { key, fields } of CATALOGUE) {
    const content = readNewContent(fields);
    assert.match(content.readme, /^# .+\n\n.{20,}/, key);
    assert.doesNotMatch(content.readme, /<[a-z]/i, `${key}: no HTML in a readme`);
    assert.notEqual(content.tag, "latest", key);
    const launch = resolveLaunch({ content, docker_login_pass: "" }, {});
    assert.equal(launch.disk_gb, content.recommended_disk_space, key);
    assert.notEqual(launch.runtype.mode, "args", key);
  }
  assert.equal(new Set(CATALOGUE.map(({ key }) => key)).size, CATALOGUE.length);
});
