import assert from "node:assert/strict";
import { test } from "node:test";
import ssh2 from "ssh2";
import { makeSessionKey } from "./session-key.ts";

test("every key for a login can be read and signs what its public half verifies", () => {
  const data = Buffer.from("a login");
  for (let count = 0; count < 1_000; count += 1) {
    const key = makeSessionKey();
    const [secret, open] = [ssh2.utils.parseKey(key.private), ssh2.utils.parseKey(key.public)];
    assert.ok(!(secret instanceof Error) && !(open instanceof Error));
    const signature = secret.sign(data);
    assert.ok(Buffer.isBuffer(signature));
    assert.equal(open.verify(data, signature), true);
  }
});
