import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fromBase32, toBase32 } from "./base32.ts";
import { matchTotp, stepAt, totp } from "./totp.ts";

const TEN_DIGITS = "1234567890";
/** The secrets of RFC 6238 appendix B: as many of these digits as the hash has bytes. */
const secretOf = (byteCount: number) => Buffer.from(TEN_DIGITS.repeat(7).slice(0, byteCount), "ascii");

const VECTORS = [
  [59, "94287082", "46119246", "90693936"],
  [1_111_111_109, "07081804", "68084774", "25091201"],
  [1_111_111_111, "14050471", "67062674", "99943326"],
  [1_234_567_890, "89005924", "91819424", "93441116"],
  [2_000_000_000, "69279037", "90698825", "38618901"],
  [20_000_000_000, "65353130", "77737706", "47863826"],
] as const;

describe("codes of authenticator apps", () => {
  test("are those of RFC 6238 for each of its times and hashes", () => {
    for (const [seconds, sha1, sha256, sha512] of VECTORS) {
      const step = stepAt(new Date(seconds * 1000));
      const code = (algorithm: string, byteCount: number) => totp(secretOf(byteCount), step, { digits: 8, algorithm });
      assert.deepEqual([code("sha1", 20), code("sha256", 32), code("sha512", 64)], [sha1, sha256, sha512]);
    }
  });

  test("are taken one step around the present one, and no step at or before the last used one", () => {
    const secret = secretOf(20);
    const now = new Date(1_234_567_890_000);
    const step = stepAt(now);
    const match = (of: number, lastStep?: number) => matchTotp(secret, totp(secret, of), { now, lastStep });
    assert.deepEqual(
      [-2, -1, 0, 1, 2].map((around) => match(step + around)),
      [undefined, step - 1, step, step + 1, undefined],
    );
    assert.deepEqual(
      [match(step, step), match(step - 1, step), match(step + 1, step)],
      [undefined, undefined, step + 1],
    );
    for (const wrong of ["", "00000", "0000000", "😀😀😀", `${totp(secret, step)} `]) {
      assert.equal(matchTotp(secret, wrong, { now, lastStep: undefined }), undefined);
    }
  });
});

describe("base32", () => {
  test("is that of RFC 4648 without padding, and comes back", () => {
    const vectors = { f: "MY", fo: "MZXQ", foo: "MZXW6", foob: "MZXW6YQ", fooba: "MZXW6YTB", foobar: "MZXW6YTBOI" };
    for (const [text, encoded] of Object.entries(vectors)) {
      assert.equal(toBase32(Buffer.from(text)), encoded);
      assert.equal(fromBase32(encoded.toLowerCase())?.toString(), text);
    }
    assert.equal(fromBase32("MZXW1"), undefined);
  });
});
