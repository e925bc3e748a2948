import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { UserError } from "../../failure.ts";
import { describePublicKey, readPublicKey } from "./public-key.ts";

const LINE = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl you@laptop";

function aHome(t: TestContext): string {
  const home = mkdtempSync(path.join(tmpdir(), "berth-home-"));
  const before = process.env["HOME"];
  process.env["HOME"] = home;
  t.after(() => {
    process.env["HOME"] = before;
    rmSync(home, { recursive: true });
  });
  mkdirSync(path.join(home, ".ssh"));
  return home;
}

test("a key is taken as text, from a file, and from where ssh keeps its own", (t) => {
  const home = aHome(t);
  assert.equal(readPublicKey(` ${LINE}\n`), LINE);
  assert.throws(() => readPublicKey(undefined), /There is no public key in/);
  writeFileSync(path.join(home, ".ssh/id_rsa.pub"), "ssh-rsa AAAA\n");
  assert.equal(readPublicKey(undefined), "ssh-rsa AAAA");
  writeFileSync(path.join(home, ".ssh/id_ed25519.pub"), `${LINE}\n`);
  assert.equal(readPublicKey(undefined), LINE);
  assert.equal(readPublicKey(path.join(home, ".ssh/id_rsa.pub")), "ssh-rsa AAAA");
});

test("a private key is not sent; the file beside it is suggested", (t) => {
  const file = path.join(aHome(t), ".ssh/id_ed25519");
  writeFileSync(file, "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary\n-----END OPENSSH PRIVATE KEY-----\n");
  assert.throws(
    () => readPublicKey(file),
    (error) =>
      error instanceof UserError && /was not sent/.test(error.message) && error.suggestion.includes(`${file}.pub`),
  );
});

test("an argument that is neither a key nor a file is refused as neither", (t) => {
  const home = aHome(t);
  for (const given of ["nothing", path.join(home, "absent.pub"), "x".repeat(5000), path.join(home, ".ssh")]) {
    assert.throws(() => readPublicKey(given), UserError, given.slice(0, 40));
  }
});

test("a key is described by its type, its comment and the fingerprint that ssh-keygen shows", () => {
  assert.deepEqual(describePublicKey(LINE), {
    type: "ssh-ed25519",
    name: "you@laptop",
    hash: "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU",
  });
});
