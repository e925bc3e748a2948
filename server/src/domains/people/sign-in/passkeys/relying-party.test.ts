import assert from "node:assert/strict";
import { test } from "node:test";
import { findRelyingParty, type CalledAddress } from "./relying-party.ts";

const called = (origin: string, localAddress = "127.0.0.1", localPort = 8080): CalledAddress => ({
  origin,
  localAddress,
  localPort,
});
const found = (publicUrl: string | undefined, at: CalledAddress) => {
  const result = findRelyingParty(publicUrl, at);
  return result.kind === "party" ? [result.party.id, result.party.origin] : result.why;
};

test("passkeys belong to the public name of the server", () => {
  const anywhere = called("http://evil.example");
  assert.deepEqual(found("https://gpu.example/console/", anywhere), ["gpu.example", "https://gpu.example"]);
  assert.deepEqual(found("https://gpu.example:8443", anywhere), ["gpu.example", "https://gpu.example:8443"]);
  assert.deepEqual(found("http://localhost:8080", anywhere), ["localhost", "http://localhost:8080"]);
  assert.match(String(found("http://gpu.example", anywhere)), /https only/);
  assert.match(String(found("https://192.0.2.7", anywhere)), /the number 192\.0\.2\.7/);
  assert.match(String(found("https://[2001:db8::1]", anywhere)), /the number 2001:db8::1/);
});

test("without a public name, localhost of this machine and this port alone takes passkeys", () => {
  const mine = called("http://localhost:8080");
  assert.deepEqual(found(undefined, mine), ["localhost", "http://localhost:8080"]);
  assert.deepEqual(found(undefined, called("http://localhost:8080", "::1")), ["localhost", "http://localhost:8080"]);
  const refused = [
    called("http://127.0.0.1:8080"),
    called("http://localhost:9999"),
    called("http://localhost:8080", "192.0.2.7"),
    called("http://gpu.example:8080"),
    { origin: "http://localhost:8080", localAddress: undefined, localPort: undefined },
  ];
  for (const at of refused)
    assert.match(String(found(undefined, at)), /http:\/\/localhost|BERTH_PUBLIC_URL/, at.origin);
  assert.match(String(found(undefined, called("http://127.0.0.1:8080"))), /127\.0\.0\.1, which is no name/);
});
