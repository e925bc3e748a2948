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
  const stateDir = join(folder, "new/state");
  const secret = loadSecret(stateDir);
  assert.equal(secret.length, 32);
  assert.equal(statSync(join(stateDir, "ssh-host-secret")).mode & 0o777, 0o600);
  assert.deepEqual(loadSecret(stateDir), secret);
  writeFileSync(join(stateDir, "ssh-host-secret"), "short");
  assert.throws(() => loadSecret(stateDir), /is not a secret of 32 bytes/);
});

test("a host key follows from secret and instance alone, and OpenSSH reads both halves of it", () => {
  const secret = Buffer.alloc(32, 7);
  const key = deriveHostKey(secret, 12);
  assert.deepEqual(deriveHostKey(secret, 12), key);
  assert.notEqual(deriveHostKey(secret, 13).publicText, key.publicText);
  assert.notEqual(deriveHostKey(Buffer.alloc(32, 8), 12).publicText, key.publicText);
  const path = join(folder, "key");
  writeFileSync(path, key.privatePem, { mode: 0o600 });
  const read = execFileSync("ssh-keygen", ["-y", "-f", path], { encoding: "utf8" });
  assert.equal(read.trim(), key.publicText);
});
