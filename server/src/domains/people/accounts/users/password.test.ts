import assert from "node:assert/strict";
import { randomBytes, scryptSync } from "node:crypto";
import { test } from "node:test";
import { AppError } from "../../../../base/errors.ts";
import { hashPassword, isOutdatedHash, isPasswordOf } from "./password.ts";

test("passwords of many concurrent sign-ups wait in a short queue, and beyond it are refused for the moment", async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 24 }, () => hashPassword("p4ssword!", randomBytes)));
  const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  assert.equal(refused.length, 6);
  for (const error of refused) {
    assert.ok(error instanceof AppError);
    assert.deepEqual([error.kind, error.code], ["unavailable", "busy"]);
  }
  assert.match(
    await hashPassword("p4ssword!", randomBytes),
    /^argon2id[$]47104[$]1[$]1[$]/,
    "later there is room again",
  );
});

test("every refusal computes the same, for accounts of this version and of the one before, and for none", async () => {
  const computed: string[] = [];
  const noting = (name: string) => async () => {
    computed.push(name);
    return Buffer.alloc(32, 1);
  };
  const derivations = { present: noting("present"), before: noting("before") };
  const [salt, hash] = [randomBytes(16).toString("base64url"), Buffer.alloc(32, 2).toString("base64url")];
  const argon2 = `argon2id$47104$1$1$${salt}$${hash}`;
  const scrypt = `scrypt$32768$8$3$${salt}$${hash}`;
  for (const stored of [argon2, scrypt, null, undefined, "no hash"]) {
    assert.equal(await isPasswordOf("wrong", stored, { isOldAround: true, derivations }), false);
    assert.deepEqual(computed.splice(0).toSorted(), ["before", "present"], String(stored));
  }
  for (const stored of [argon2, null]) {
    assert.equal(await isPasswordOf("wrong", stored, { derivations }), false);
    assert.deepEqual(computed.splice(0), ["present"], "once no such account is left");
  }
});

test("a password is known by its hash of this version and of the one before, and by no other", async () => {
  const salt = randomBytes(16);
  const before = scryptSync("p4ssword!", salt, 32, { N: 2 ** 15, r: 8, p: 3, maxmem: 2 ** 27 });
  const old = `scrypt$32768$8$3$${salt.toString("base64url")}$${before.toString("base64url")}`;
  const hash = await hashPassword("p4ssword!", randomBytes);
  for (const stored of [old, hash]) {
    assert.equal(await isPasswordOf("p4ssword!", stored), true);
    assert.equal(await isPasswordOf("p4ssword?", stored), false);
  }
  for (const stored of [null, undefined, "", "argon2id$8$1$1$$"]) {
    assert.equal(await isPasswordOf("p4ssword!", stored), false);
  }
  assert.deepEqual([isOutdatedHash(old), isOutdatedHash(hash)], [true, false]);
});
