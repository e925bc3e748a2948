import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { createEncryption } from "./encryption.ts";

const encryption = createEncryption(Buffer.alloc(32, "one"), randomBytes);
/** Any text that a database can hold. */
const text = fc.string({ unit: "grapheme" });

test("an encrypted text opens in its context, and no part of it shows", () => {
  fc.assert(
    fc.property(text, text, (value, context) => {
      const encrypted = encryption.encrypt(value, context);
      assert.match(encrypted, /^sealed1:[A-Za-z0-9_-]+$/);
      assert.equal(encryption.decrypt(encrypted, context), value);
      if (value.length > 8) assert.ok(!Buffer.from(encrypted.slice(8), "base64url").includes(value));
    }),
  );
});

test("an encrypted text can be decrypted in no other context, and under no other secret", () => {
  const other = createEncryption(Buffer.alloc(32, "two"), randomBytes);
  fc.assert(
    fc.property(text, text, text, (value, context, elsewhere) => {
      fc.pre(context !== elsewhere);
      const encrypted = encryption.encrypt(value, context);
      assert.equal(encryption.decrypt(encrypted, elsewhere), undefined);
      assert.equal(other.decrypt(encrypted, context), undefined);
    }),
  );
});

test("a changed or shortened ciphertext cannot be decrypted", () => {
  fc.assert(
    fc.property(text, fc.nat(), fc.integer({ min: 1, max: 255 }), (value, where, difference) => {
      const bytes = Buffer.from(encryption.encrypt(value, "row 1").slice(8), "base64url");
      const changed = Buffer.from(bytes);
      const position = where % changed.length;
      changed[position] = (changed[position] ?? 0) ^ difference;
      assert.equal(encryption.decrypt(`sealed1:${changed.toString("base64url")}`, "row 1"), undefined);
      const shortened = bytes.subarray(0, where % bytes.length).toString("base64url");
      assert.equal(encryption.decrypt(`sealed1:${shortened}`, "row 1"), undefined);
    }),
  );
});

test("a ciphertext with one character changed or added cannot be decrypted", () => {
  const characters = fc.stringMatching(/^[A-Za-z0-9_+/=\n-]$/);
  const places = fc.oneof(fc.nat(), fc.constant(-1));
  fc.assert(
    fc.property(text, places, characters, (value, where, character) => {
      const encrypted = encryption.encrypt(value, "row 1");
      const place = where === -1 ? encrypted.length - 1 : 8 + (where % (encrypted.length - 8));
      const changed = `${encrypted.slice(0, place)}${character}${encrypted.slice(place + 1)}`;
      assert.equal(encryption.decrypt(changed, "row 1"), changed === encrypted ? value : undefined);
      assert.equal(
        encryption.decrypt(`${encrypted.slice(0, place)}${character}${encrypted.slice(place)}`, "row 1"),
        undefined,
      );
    }),
  );
});

test("the same text is never encrypted the same way twice, and every process with the secret decrypts it", () => {
  const again = createEncryption(Buffer.alloc(32, "one"), randomBytes);
  fc.assert(
    fc.property(text, (value) => {
      const encrypted = encryption.encrypt(value, "row 1");
      assert.notEqual(encryption.encrypt(value, "row 1"), encrypted);
      assert.equal(again.decrypt(encrypted, "row 1"), value);
    }),
  );
});

test("a text stored in clear before encryption comes back as it is", () => {
  fc.assert(
    fc.property(text, (value) => {
      fc.pre(!value.startsWith("sealed1:"));
      assert.equal(encryption.decrypt(value, "row 1"), value);
    }),
  );
});
