import assert from "node:assert/strict";
import { createSign, generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { ManualClock } from "../../test/support/manual-clock.ts";
import {
  createSigningKey,
  signedText as signedByServer,
  UrlSigner,
} from "../../server/src/domains/serverless/routing/signed-url.ts";
import { SigningKey, signedText } from "./signature.ts";
import { textOfAny } from "../../test/support/any-text.ts";

const makeKey = () => generateKeyPairSync("rsa", { modulusLength: 1024 });
const pemOf = ({ publicKey }: ReturnType<typeof makeKey>) => String(publicKey.export({ type: "spki", format: "pem" }));
const sign = ({ privateKey }: ReturnType<typeof makeKey>, url: string) =>
  createSign("sha256").update(signedText(url)).sign(privateKey, "base64");

test("the signed text equals the server's to the byte, for any URL", () => {
  fc.assert(fc.property(textOfAny(), (url) => assert.equal(signedText(url), signedByServer(url))));
});

test("a signature of the server is accepted here", async () => {
  const signer = new UrlSigner(await createSigningKey(), 10);
  const key = new SigningKey(() => Promise.resolve(signer.publicKeyPem), new ManualClock());
  for (const url of ["https://192.0.2.1:20000", "http://[2001:db8::1]:3000", 'http://ü"\u007f/\n']) {
    assert.equal(await key.verify(url, signer.sign(url)), "good");
  }
});

test("the key is fetched once, and again when a signature suggests a new key, but not for each of many bad ones", async () => {
  const [first, second] = [makeKey(), makeKey()];
  const clock = new ManualClock();
  let current = first;
  let fetches = 0;
  const key = new SigningKey(() => Promise.resolve((fetches += 1) > 0 ? pemOf(current) : undefined), clock);
  const url = "http://192.0.2.1:20000";
  assert.equal(await key.verify(url, sign(first, url)), "good");
  assert.equal(await key.verify(url, sign(first, url)), "good");
  assert.equal(fetches, 1);
  for (let tried = 0; tried < 20; tried += 1) assert.equal(await key.verify(url, "AAAA"), "bad");
  assert.equal(fetches, 1, "right after a fetch there is nothing new");
  clock.advance(10_000);
  current = second;
  assert.equal(await key.verify(url, sign(second, url)), "good");
  assert.equal(fetches, 2);
  assert.equal(await key.verify(url, sign(first, url)), "bad", "the old key is not trusted any more");
  assert.equal(await key.verify(`${url}0`, sign(second, url)), "bad");
});

test("without a key no signature is accepted", async () => {
  const key = new SigningKey(() => Promise.resolve(undefined), new ManualClock());
  assert.equal(await key.verify("http://a", "AAAA"), "unknown");
  const broken = new SigningKey(() => Promise.resolve("<html>"), new ManualClock());
  assert.equal(await broken.verify("http://a", "AAAA"), "unknown");
});
