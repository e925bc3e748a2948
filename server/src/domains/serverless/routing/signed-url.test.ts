import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createVerify } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import fc from "fast-check";
import { createSigningKey, pythonString, signedText, UrlSigner } from "./signed-url.ts";
import { textOfAny } from "../../../../../test/support/any-text.ts";

const run = promisify(execFile);

// Texts that `json.dumps({"url": url}, indent=4, sort_keys=True)` of Python 3 wrote.
const written: readonly (readonly [string, string])[] = [
  ["http://192.0.2.1:3000", '{\n    "url": "http://192.0.2.1:3000"\n}'],
  ["https://[2001:db8::1]:41234/ä", '{\n    "url": "https://[2001:db8::1]:41234/\\u00e4"\n}'],
  [
    'a\u007f\u0080\u2028😀\ud83d"\\/\b\f\n\r\t\u0000\u001f',
    '{\n    "url": "a\\u007f\\u0080\\u2028\\ud83d\\ude00\\ud83d\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f"\n}',
  ],
];

test("the signed text equals the output of Python's encoder to the byte", () => {
  for (const [url, text] of written) assert.equal(signedText(url), text);
});

test("any text is written in ASCII and reads back unchanged", () => {
  fc.assert(
    fc.property(textOfAny(), (text) => {
      const written = pythonString(text);
      assert.match(written, /^[\x20-\x7e]*$/);
      assert.equal(JSON.parse(written), text);
    }),
  );
});

test("OpenSSL and the standard library accept a signature for its URL, and for no other", async (t) => {
  const signer = new UrlSigner(await createSigningKey(), 10);
  const folder = await mkdtemp(path.join(tmpdir(), "berth-route-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = (name: string) => path.join(folder, name);
  await writeFile(file("key.pem"), signer.publicKeyPem);
  for (const [url, text] of written) {
    const signature = signer.sign(url);
    const verify = (signed: string) =>
      createVerify("RSA-SHA256").update(signed, "latin1").verify(signer.publicKeyPem, signature, "base64");
    assert.deepEqual([verify(text), verify(text.replace("url", "uri"))], [true, false]);
    await writeFile(file("text"), text, "latin1");
    await writeFile(file("signature"), Buffer.from(signature, "base64"));
    const files = ["-verify", file("key.pem"), "-signature", file("signature"), file("text")];
    const { stdout } = await run("openssl", ["dgst", "-sha256", ...files]);
    assert.match(stdout, /Verified OK/);
  }
});

test("signatures are kept, and the oldest are dropped when there is no room", async () => {
  const signer = new UrlSigner(await createSigningKey(), 2);
  const first = signer.sign("http://1");
  signer.sign("http://2");
  signer.sign("http://3");
  assert.equal(signer.sign("http://1"), first, "the same key and text have one signature");
});
