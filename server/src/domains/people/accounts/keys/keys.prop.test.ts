import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { hashSecret, isWellFormed, KEY_PATTERN, newKey } from "./rules/keys.ts";

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((array) => Buffer.from(array));

test("every key that is made is well formed, found by the scanner's pattern, and stored as its hash", () => {
  fc.assert(
    fc.property(bytes, (random) => {
      const { secret, sha256, prefix } = newKey(() => random);
      assert.ok(isWellFormed(secret));
      assert.equal(KEY_PATTERN.exec(`export BERTH_KEY="${secret}"; ls`)?.[0], secret);
      assert.ok(hashSecret(secret).equals(sha256));
      assert.ok(secret.startsWith(prefix) && prefix.length === 12);
    }),
  );
});

test("a key with any one character changed is told from a real one without a database", () => {
  const characters = fc.stringMatching(/^[A-Za-z0-9_-]$/);
  fc.assert(
    fc.property(bytes, fc.nat({ max: 57 }), characters, (random, position, character) => {
      const { secret } = newKey(() => random);
      const changed = `${secret.slice(0, position)}${character}${secret.slice(position + 1)}`;
      assert.equal(isWellFormed(changed), changed === secret);
    }),
  );
});

test("no other text is well formed", () => {
  const { secret } = newKey(randomBytes);
  for (const text of ["", "berth_", secret.slice(1), `${secret}0`, ` ${secret}`, `${secret}\n`, "x".repeat(100_000)]) {
    assert.ok(!isWellFormed(text));
  }
});
