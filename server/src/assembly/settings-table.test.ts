import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { SETTINGS, settingsInForce } from "./settings-table.ts";
import { readConfig } from "./config.ts";
import { sharedSettings } from "./shared-settings.ts";

const SOURCE = path.join(import.meta.dirname, "..");

test("the table has every setting that a server reads, and no other", async () => {
  const files = (await readdir(SOURCE, { recursive: true })).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
  );
  const texts = await Promise.all(files.map((name) => readFile(path.join(SOURCE, name), "utf8")));
  const read = texts.flatMap((text) =>
    [...text.matchAll(/(?:environment|env)\["(BERTH_[A-Z_]+|DATABASE_URL)"\]/g)].map(([, name = ""]) => name),
  );
  const names = SETTINGS.map(({ name }) => name);
  assert.deepEqual([...new Set(read)].toSorted(), names.toSorted());
});

test("settings that all servers share are marked as such", () => {
  const marked = new Set(SETTINGS.filter(({ isShared }) => isShared === true).map(({ name }) => name));
  const unmarked = Object.keys(sharedSettings(readConfig({}))).filter((name) => !marked.has(name));
  assert.deepEqual(unmarked, []);
});

test("a secret is never shown, and every other value is", () => {
  const environment = Object.fromEntries(SETTINGS.map(({ name }) => [name, `given-${name}`]));
  for (const setting of settingsInForce(environment)) {
    assert.equal(setting.value, setting.isSecret ? undefined : `given-${setting.name}`);
    assert.equal(setting.isSet, true);
  }
  const secrets = SETTINGS.filter(({ isSecret }) => isSecret === true).map(({ name }) => name);
  const telling = SETTINGS.map(({ name }) => name).filter((name) =>
    /SECRET|TOKEN|PASSWORD|SMTP_URL|DATABASE/.test(name),
  );
  assert.deepEqual(
    telling.filter((name) => !secrets.includes(name)),
    ["BERTH_REPLACE_SECRET"],
  );
});

test("a setting that is not given is shown with its default", () => {
  const port = settingsInForce({}).find(({ name }) => name === "BERTH_PORT");
  assert.deepEqual([port?.value, port?.isSet, port?.option], ["8080", false, "--port"]);
});
