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
