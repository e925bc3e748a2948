import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { codeKey, hashCode, newBackupCodes, newCode, readBackupCode } from "./codes.ts";
import { afterFailure, isLocked, OPEN } from "./lock.ts";

const MINUTE_MS = 60_000;

describe("codes that are sent or kept", () => {
  test("have the form that was announced, differ, and read back in any spelling", () => {
    const codes = newBackupCodes(randomBytes);
    assert.equal(new Set(codes).size, 10);
    for (const code of codes) {
      assert.match(code, /^([A-Z2-7]{4}-){2}[A-Z2-7]{4}$/);
      assert.equal(readBackupCode(` ${code.toLowerCase().replaceAll("-", "")} `), code);
    }
    for (const wrong of ["", "AAAA-BBBB-CCC", "AAAA-BBBB-CCC1", "AAAA-BBBB-CCCCC"]) {
      assert.equal(readBackupCode(wrong), undefined);
    }
    for (let count = 0; count < 200; count += 1) assert.match(newCode(randomBytes), /^\d{6}$/);
  });

  test("do not favour some digits: numbers that would are drawn again", () => {
    const draws = [Buffer.from("ffffffff", "hex"), Buffer.from("000f423f", "hex")];
    assert.equal(
      newCode(() => draws.shift() ?? Buffer.alloc(4)),
      "999999",
    );
    assert.equal(draws.length, 0);
  });

  test("are hashed for one owner under the server's secret", () => {
    const [key, other] = [codeKey(randomBytes(32)), codeKey(randomBytes(32))];
    const hashes = [
      hashCode(key, "backup 1", "123456"),
      hashCode(key, "backup 2", "123456"),
      hashCode(other, "backup 1", "123456"),
    ];
    assert.equal(new Set(hashes.map((hash) => hash.toString("hex"))).size, 3);
  });
});

test("a factor locks after its last wrong code for a quarter of an hour, and twice as long each time after", () => {
  let now = new Date("2026-01-01T00:00:00Z");
  let lock = OPEN;
  const minutes: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    for (let count = 1; count < 3; count += 1) {
      lock = afterFailure(lock, { max: 3, now });
      assert.deepEqual([lock.failCount, isLocked(lock, now)], [count, false]);
    }
    lock = afterFailure(lock, { max: 3, now });
    assert.ok(isLocked(lock, now) && lock.lockedUntil !== undefined);
    minutes.push((lock.lockedUntil.getTime() - now.getTime()) / MINUTE_MS);
    now = lock.lockedUntil;
    assert.ok(!isLocked(lock, now));
  }
  assert.deepEqual(minutes, [15, 30, 60, 120, 240, 480, 960, 1440, 1440]);
});
