import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fingerprint, partsOfLine, privateFile, publicLine } from "../../console/src/text/openssh.ts";
import { run } from "../support/berth.ts";

test("OpenSSH reads the private key that the console writes, and finds the public one that the console sends", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-ssh-"));
  t.after(() => rm(folder, { recursive: true }));
  for (const comment of ["", "a", "you@laptop", "two\nlines of ünïcode"]) {
    const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
    assert.ok("privateKey" in pair);
    const { publicKey, privateKey } = pair;
    const raw = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
    const seed = new Uint8Array(await crypto.subtle.exportKey("pkcs8", privateKey)).slice(-32);
    const file = path.join(folder, `key-${comment.length}`);
    await writeFile(file, privateFile({ seed, publicKey: raw }, comment, crypto.getRandomValues(new Uint8Array(4))));
    await chmod(file, 0o600);
    const line = publicLine(raw, comment);
    const derived = await run("ssh-keygen", ["-y", "-f", file]);
    assert.equal(derived.stdout.trim(), line);
    const listed = await run("ssh-keygen", ["-l", "-f", file]);
    assert.equal(listed.stdout.split(" ")[1], await fingerprint(partsOfLine(line).base64));
  }
});

test("text that is no key has no fingerprint", async () => {
  assert.equal(await fingerprint("<img>"), undefined);
  assert.deepEqual(partsOfLine("  ssh-rsa  AAAA  you at  home "), {
    type: "ssh-rsa",
    base64: "AAAA",
    comment: "you at home",
  });
});
