import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { fileProof } from "./proof.ts";

describe("the proof of a session", () => {
  let folder: string;
  const failures: unknown[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "berth-proof-"));
    failures.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const storeAt = (path: string) => fileProof(path, (cause) => failures.push(cause));

  it("is there again after a restart, for its owner only, and the newest one counts", () => {
    const path = join(folder, "state/proof-a");
    assert.equal(storeAt(path).load(), "");
    assert.ok(storeAt(path).keep("first") && storeAt(path).keep("second"));
    assert.equal(storeAt(path).load(), "second");
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  it("that cannot be stored leaves the one before in place, and says so", () => {
    const path = join(folder, "proof-a");
    const store = storeAt(path);
    assert.ok(store.keep("first"));
    // A folder in the draft's place: root may write anywhere, but not over that.
    mkdirSync(`${path}.new`);
    assert.ok(!store.keep("second"));
    assert.deepEqual([store.load(), failures.length], ["first", 1]);
  });
});
