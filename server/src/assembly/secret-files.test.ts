import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { readSecretFiles } from "./secret-files.ts";
import { unknownSettings } from "./unknown-settings.ts";

let folder = "";
before(async () => (folder = await mkdtemp(path.join(tmpdir(), "berth-secrets-"))));
after(() => rm(folder, { recursive: true }));

async function aFile(content: string): Promise<string> {
  const file = path.join(folder, `secret-${content.length}`);
  await writeFile(file, content);
  return file;
}

test("a secret is read from the file that its variable names, without the end of its line", async () => {
  const environment: Record<string, string | undefined> = {
    DATABASE_URL_FILE: await aFile("postgres://berth:word@db.example/berth\n"),
    BERTH_SECRET_FILE: "",
  };
  await readSecretFiles(environment);
  assert.equal(environment["DATABASE_URL"], "postgres://berth:word@db.example/berth");
  assert.equal(environment["BERTH_SECRET"], undefined);
  assert.deepEqual(unknownSettings(environment), []);
});

test("a file that cannot be read, is empty or has several lines is refused by the name of its variable, and not shown", async () => {
  const several = await aFile("first\nsecond\n");
  for (const [given, expected] of [
    [
      { BERTH_SECRET_FILE: path.join(folder, "absent") },
      /^BERTH_SECRET_FILE names .*absent, which cannot be read \(ENOENT\)/,
    ],
    [{ BERTH_SECRET_FILE: await aFile("\n") }, /which is empty/],
    [{ BERTH_SECRET_FILE: several }, /more than one line/],
    [{ BERTH_SECRET_FILE: several, BERTH_SECRET: "word" }, /^Set BERTH_SECRET or BERTH_SECRET_FILE, not both/],
  ] as const) {
    await assert.rejects(readSecretFiles({ ...given }), (error: Error) => {
      assert.match(error.message, expected);
      assert.doesNotMatch(error.message, /first|second/);
      return true;
    });
  }
});
