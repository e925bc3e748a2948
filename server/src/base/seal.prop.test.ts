import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { createSealer } from "./seal.ts";

const sealer = createSealer(Buffer.alloc(32, "one"), randomBytes);
/** Any text that a database can hold. */
const text = fc.string({ unit: "grapheme" });

test("an encrypted text opens in its context, and no part of it shows", () => {
  fc.assert(
    fc.property(text, text, (value, context) => {
      const sealed = sealer.seal(value, context);
      assert.match(sealed, /^sealed1:[A-Za-z0-9_-]+$/);
      assert.equal(sealer.open(sealed, context), value);
      if (value.length > 8) assert.ok(!Buffer.from(sealed.slice(8), "base64url").includes(value));
    }),
  );
});

test("an encrypted text opens in no other context, and under no other secret", () => {
  const other = createSealer(Buffer.alloc(32, "two"), randomBytes);
  fc.assert(
    fc.property(text, text, text, (value, context, elsewhere) => {
      fc.pre(context !== elsewhere);
      const sealed = sealer.seal(value, context);
      assert.equal(sealer.open(sealed, elsewhere), undefined);
      assert.equal(other.open(sealed, context), undefined);
    }),
  );
});

test("a changed or shortened seal does not open", () => {
  fc.assert(
    fc.property(text, fc.nat(), fc.integer({ min: 1, max: 255 }), (value, where, difference) => {
      const bytes = Buffer.from(sealer.seal(value, "row 1").slice(8), "base64url");
      const changed = Buffer.from(bytes);
      const position = where % changed.length;
      changed[position] = (changed[position] ?? 0) ^ difference;
      assert.equal(sealer.open(`sealed1:${changed.toString("base64url")}`, "row 1"), undefined);
      const shortened = bytes.subarray(0, where % bytes.length).toString("base64url");
      assert.equal(sealer.open(`sealed1:${shortened}`, "row 1"), undefined);
    }),
  );
});

test("a seal does not open when any of its characters is another, nor with one more", () => {
  const characters = fc.stringMatching(/^[A-Za-z0-9_+/=\n-]$/);
  const places = fc.oneof(fc.nat(), fc.constant(-1));
  fc.assert(
    fc.property(text, places, characters, (value, where, character) => {
      const sealed = sealer.seal(value, "row 1");
      const place = where === -1 ? sealed.length - 1 : 8 + (where % (sealed.length - 8));
      const changed = `${sealed.slice(0, place)}${character}${sealed.slice(place + 1)}`;
      assert.equal(sealer.open(changed, "row 1"), changed === sealed ? value : undefined);
      assert.equal(sealer.open(`${sealed.slice(0, place)}${character}${sealed.slice(place)}`, "row 1"), undefined);
    }),
  );
});

test("the same text is never sealed the same way twice, and every process with the secret opens it", () => {
  const again = createSealer(Buffer.alloc(32, "one"), randomBytes);
  fc.assert(
    fc.property(text, (value) => {
      const sealed = sealer.seal(value, "row 1");
      assert.notEqual(sealer.seal(value, "row 1"), sealed);
      assert.equal(again.open(sealed, "row 1"), value);
    }),
  );
});

test("a text stored in clear before encryption comes back as it is", () => {
  fc.assert(
    fc.property(text, (value) => {
      fc.pre(!value.startsWith("sealed1:"));
      assert.equal(sealer.open(value, "row 1"), value);
    }),
  );
});
