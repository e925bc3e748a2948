import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { seedOfSources } from "./test-seed.ts";

async function sources(t: TestContext, texts: Readonly<Record<string, string>>) {
  const root = await mkdtemp(path.join(tmpdir(), "berth-seed-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(texts)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  }
  return root;
}

test("the same sources have the same seed, in any folder and in any order", async (t) => {
  const texts = { "a.ts": "one", "b/c.ts": "two" };
  const [here, there] = [await sources(t, texts), await sources(t, texts)];
  const seed = seedOfSources(here, ["a.ts", "b/c.ts"]);
  assert.equal(seedOfSources(there, ["b/c.ts", "a.ts"]), seed);
  assert.ok(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31);
});

test("any change has another seed: of a text, of a name, of where one file ends", async (t) => {
  const before = await sources(t, { "a.ts": "one", "b.ts": "two" });
  const seed = seedOfSources(before, ["a.ts", "b.ts"]);
  for (const texts of [
    { "a.ts": "one", "b.ts": "twO" },
    { "a.ts": "one", "c.ts": "two" },
    { "a.ts": "onet", "b.ts": "wo" },
    { "a.ts": "one" },
  ]) {
    assert.notEqual(seedOfSources(await sources(t, texts), Object.keys(texts)), seed, JSON.stringify(texts));
  }
});
