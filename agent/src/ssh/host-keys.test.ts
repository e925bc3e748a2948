import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { deriveHostKey, loadSecret } from "./host-keys.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-host-keys-"));
after(() => rmSync(folder, { recursive: true }));

test("the secret is made once, for its owner only, and found again", () => {
  const state_dir = join(folder, "new/state");
  const secret = loadSecret(state_dir);
  assert.equal(secret.length, 32);
  assert.equal(statSync(join(state_dir, "ssh-host-secret")).mode & 0o777, 0o600);
  assert.deepEqual(loadSecret(state_dir), secret);
  writeFileSync(join(state_dir, "ssh-host-secret"), "short");
  assert.throws(() => loadSecret(state_dir), /is not a secret of 32 bytes/);
});

test("a host key follows from secret and instance alone, and OpenSSH reads both halves of it", () => {
  const secret = Buffer.alloc(32, 7);
  const key = deriveHostKey(secret, 12);
  assert.deepEqual(deriveHostKey(secret, 12), key);
  assert.notEqual(deriveHostKey(secret, 13).public_text, key.public_text);
  assert.notEqual(deriveHostKey(Buffer.alloc(32, 8), 12).public_text, key.public_text);
  const path = join(folder, "key");
  writeFileSync(path, key.private_pem, { mode: 0o600 });
  const read = execFileSync("ssh-keygen", ["-y", "-f", path], { encoding: "utf8" });
  assert.equal(read.trim(), key.public_text);
});
