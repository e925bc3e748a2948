import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { AppError } from "../../../../base/errors.ts";
import { hashPassword } from "./password.ts";

test("passwords of many concurrent sign-ups wait in a short queue, and beyond it are refused for the moment", async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 24 }, () => hashPassword("p4ssword!", randomBytes)));
  const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  assert.equal(refused.length, 6);
  for (const error of refused) {
    assert.ok(error instanceof AppError);
    assert.deepEqual([error.kind, error.code], ["unavailable", "busy"]);
  }
  assert.match(await hashPassword("p4ssword!", randomBytes), /^scrypt[$]32768[$]8[$]3[$]/, "later there is room again");
});
