import assert from "node:assert/strict";
import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { Answer } from "./berth.ts";

/** Asserts that an answer is 200 and JSON of this shape, and returns its body with that type. */
export function bodyOf<T extends TSchema>(shape: T, answer: Answer): Static<T> {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.contentType, "application/json");
  const checker = Compile(shape);
  const body: unknown = answer.body;
  if (checker.Check(body)) return body;
  assert.fail(`${JSON.stringify(checker.Errors(body).slice(0, 5))} in ${answer.text.slice(0, 2000)}`);
}
