import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../base/errors.ts";
import { sanitize } from "./sanitize.ts";

const refused = (field: string, pattern: RegExp) => (error: unknown) =>
  error instanceof AppError &&
  error.kind === "invalid" &&
  error.extra["field"] === field &&
  pattern.test(error.message);

test("text that the database cannot store is refused by the name of its field, in values and in keys", () => {
  for (const [text, pattern] of [
    ["a\0b", /NUL/],
    ["\ud800", /surrogate/],
    ["x\udc00", /surrogate/],
  ] as const) {
    assert.throws(() => sanitize({ a: { b: [text] } }), refused("a.b[0]", pattern));
    assert.throws(() => sanitize({ a: { [text]: 1 } }), refused("a", pattern));
    assert.throws(() => sanitize(text), refused("body", pattern));
  }
  assert.deepEqual(sanitize({ a: "\u{1F600}", b: null }), { a: "\u{1F600}" });
});

test("a null counts as absent, except in members where it has a meaning, and in objects whose members are kept", () => {
  const body = { a: null, b: null, kept: { c: null, d: { e: null } }, other: { f: null } };
  assert.deepEqual(sanitize(structuredClone(body)), { kept: { d: {} }, other: {} });
  assert.deepEqual(sanitize(structuredClone(body), ["b", "kept.*"]), { b: null, kept: { c: null, d: {} }, other: {} });
  assert.deepEqual(sanitize({ kept: null }, ["kept.*"]), {});
});
