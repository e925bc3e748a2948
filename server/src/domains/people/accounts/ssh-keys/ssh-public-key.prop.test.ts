import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { anSshKey, sshBlob } from "../../../../../../test/support/ssh-keys.ts";
import { AppError } from "../../../../base/errors.ts";
import { parseSshPublicKey } from "./rules/ssh-public-key.ts";
import { textOfAny } from "../../../../../../test/support/any-text.ts";

const directory = mkdtempSync(path.join(tmpdir(), "berth-ssh-keys-"));
after(() => rmSync(directory, { recursive: true }));

/** Output of the real `ssh-keygen`: the files of a key, and its description. */
function generate(name: string, ...options: readonly string[]) {
  const file = path.join(directory, name);
  execFileSync("ssh-keygen", ["-q", "-N", "", "-C", `${name} comment`, "-f", file, ...options]);
  const [, fingerprint = ""] = execFileSync("ssh-keygen", ["-l", "-f", `${file}.pub`], { encoding: "utf8" }).split(" ");
  return { line: readFileSync(`${file}.pub`, "utf8"), secret: readFileSync(file, "utf8"), fingerprint, file };
}

/** The error for a text; it never repeats the text. */
function refusalOf(text: string): { readonly code: string; readonly problem: string } {
  try {
    parseSshPublicKey(text);
  } catch (error) {
    assert.ok(error instanceof AppError && error.kind === "invalid", String(error));
    assert.equal(error.extra["field"], "ssh_key");
    for (const word of text.split(/\s+/)) {
      assert.ok(word.length < 40 || !error.publicMessage.includes(word), "the refusal repeats the text");
    }
    return { code: error.code, problem: error.publicMessage };
  }
  return assert.fail(`it was taken: ${text}`);
}

function assertRefused(text: string, problem: RegExp): void {
  const refusal = refusalOf(text);
  assert.equal(refusal.code, "invalid_ssh_key");
  assert.match(refusal.problem, problem);
}

const real = [
  generate("ed25519", "-t", "ed25519"),
  generate("rsa2048", "-t", "rsa", "-b", "2048"),
  generate("rsa4096", "-t", "rsa", "-b", "4096"),
  generate("p256", "-t", "ecdsa", "-b", "256"),
  generate("p384", "-t", "ecdsa", "-b", "384"),
  generate("p521", "-t", "ecdsa", "-b", "521"),
];
const [ed25519] = real;
assert.ok(ed25519 !== undefined);

test("every key that ssh-keygen makes is taken, with the fingerprint that ssh-keygen shows", () => {
  for (const { line, fingerprint } of real) {
    const key = parseSshPublicKey(line);
    assert.equal(`${key.line}\n`, line);
    assert.equal(key.fingerprint, fingerprint);
    assert.match(key.comment, / comment$/);
  }
});

test("an accepted key is accepted by ssh-keygen too, and reading it again changes nothing", () => {
  for (const { line } of real) {
    const [type = "", body = ""] = line.split(" ");
    const key = parseSshPublicKey(`  ${type}\t ${body}   two   words \r\n`);
    assert.equal(key.line, `${type} ${body} two words`);
    assert.deepEqual(parseSshPublicKey(key.line), key);
    const shown = execFileSync("ssh-keygen", ["-l", "-f", "-"], { input: key.line, encoding: "utf8" });
    assert.ok(shown.includes(key.fingerprint));
  }
});

test("keys of security keys are taken", () => {
  const [, p256Body = ""] = real[3]?.line.split(" ") ?? [];
  const point = Buffer.from(p256Body, "base64").subarray(-65);
  const keys = [
    ["sk-ssh-ed25519@openssh.com", sshBlob("sk-ssh-ed25519@openssh.com", Buffer.alloc(32, 7), "ssh:")],
    [
      "sk-ecdsa-sha2-nistp256@openssh.com",
      sshBlob("sk-ecdsa-sha2-nistp256@openssh.com", "nistp256", point, "ssh:work"),
    ],
  ] as const;
  for (const [type, blob] of keys) {
    assert.equal(parseSshPublicKey(`${type} ${blob.toString("base64")}`).line.split(" ")[0], type);
    assertRefused(`${type} ${Buffer.concat([blob, sshBlob("more")]).toString("base64")}`, /bytes|whole/);
    const cut = blob.subarray(0, blob.lastIndexOf("ssh:") - 4);
    assertRefused(`${type} ${cut.toString("base64")}`, /not a whole key of a security key/);
  }
});

test("NULs are removed in any place", () => {
  const expected = parseSshPublicKey(ed25519.line);
  fc.assert(
    fc.property(fc.array(fc.nat({ max: ed25519.line.length }), { maxLength: 20 }), (places) => {
      const text = places.reduce((line, place) => `${line.slice(0, place)}\0${line.slice(place)}`, ed25519.line);
      assert.deepEqual(parseSshPublicKey(text), expected);
    }),
  );
});

test("an empty text is no_ssh_key, and every other text is a key or refused with a reason", () => {
  for (const text of ["", " \n ", "\0\0"]) assert.equal(refusalOf(text).code, "no_ssh_key");
  assert.throws(() => parseSshPublicKey(undefined), { code: "no_ssh_key" });
  fc.assert(
    fc.property(textOfAny({ maxLength: 200 }), (text) => {
      if (text.replaceAll("\0", "").trim() !== "")
        assertRefused(text, /^ssh_key is not a public key that can be used: ./);
    }),
  );
});

test("a private key is called one, in each of its formats", () => {
  for (const { secret } of real) assertRefused(secret, /this is a private key/);
  const pem = generate("pem", "-t", "rsa", "-m", "PEM").secret;
  assert.match(pem, /BEGIN RSA PRIVATE KEY/);
  assertRefused(pem, /this is a private key/);
  assertRefused(ed25519.secret.replaceAll("\n", " "), /this is a private key/);
  assertRefused("PuTTY-User-Key-File-3: ssh-ed25519\r\nEncryption: none", /this is a private key/);
});

test("a public key in another format is told from no key at all", () => {
  for (const format of ["RFC4716", "PKCS8", "PEM"]) {
    const file = `${real[1]?.file}.pub`;
    const exported = execFileSync("ssh-keygen", ["-e", "-m", format, "-f", file], { encoding: "utf8" });
    assertRefused(exported, /another format/);
  }
});

test("keys that are too weak, too large or of no use are refused with the reason", () => {
  assertRefused(generate("rsa1024", "-t", "rsa", "-b", "1024").line, /at least 2048 bits, and this one has 1024/);
  const rsa = (exponent: readonly number[], modulus: Buffer) =>
    `ssh-rsa ${sshBlob("ssh-rsa", Buffer.from(exponent), modulus).toString("base64")}`;
  const modulus = Buffer.concat([Buffer.from([0]), Buffer.alloc(256, 0xff)]);
  parseSshPublicKey(rsa([1, 0, 1], modulus));
  const even = Buffer.from(modulus).fill(0xfe, 256);
  for (const [text, problem] of [
    [rsa([1, 0, 1], even), /make no key/],
    [rsa([1], modulus), /make no key/],
    [rsa([2], modulus), /make no key/],
    [rsa([], modulus), /malformed/],
    [rsa([0, 3], modulus), /malformed/],
    [rsa([1, 0, 1], modulus.subarray(1)), /malformed/],
    [rsa([3, 0, 0, 0, 0, 0, 0, 0, 1], modulus), /make no key/],
    [rsa([1, 0, 1], Buffer.alloc(2049, 0x7f)), /at most 16384 bits/],
    [`ssh-dss ${sshBlob("ssh-dss").toString("base64")}`, /DSA keys are too weak/],
    ["ssh-ed25519-cert-v01@openssh.com AAAA", /a certificate/],
  ] as const) {
    assertRefused(text, problem);
  }
});

test("a point that is not on its curve is refused", () => {
  for (const { line } of real.slice(3)) {
    const [type = "", body = ""] = line.split(" ");
    const blob = Buffer.from(body, "base64");
    blob[blob.length - 1] = (blob.at(-1) ?? 0) ^ 1;
    assertRefused(`${type} ${blob.toString("base64")}`, /not on its curve/);
  }
});

test("options, several keys, wrapped keys and control characters are refused", () => {
  const line = ed25519.line.trim();
  const [type = "", body = ""] = line.split(" ");
  for (const [text, problem] of [
    [`command="id" ${line}`, /begins with options/],
    [`no-pty,from="10.0.0.0/8" ${line}`, /begins with options/],
    [`${line}\n${real[1]?.line}`, /several lines/],
    [`${type} ${body.slice(0, 30)}\n${body.slice(30)}`, /several lines/],
    [`${type} ${body.slice(0, 30)} ${body.slice(30)}`, /base64|whole key|bytes/],
    [`${type}`, /the key itself is missing/],
    [`${type} ${body.slice(0, -4)}`, /whole key/],
    [`${type} ${body.replace(/^..../, "!!!!")}`, /not base64/],
    [`${type} ${body} a\u001bb`, /control characters/],
    [`${type} ${body} a\u2028b`, /control characters/],
    [`${type} ${body} ${"c".repeat(20_000)}`, /more than 16384 characters/],
    [`ssh-rsa ${body}`, /a key of another type/],
    [`constructor ${body}`, /it must be a line/],
    [`__proto__ ${body}`, /it must be a line/],
    [body, /it must be a line/],
  ] as const) {
    assertRefused(text, problem);
  }
});

test("a key cut off, extended or changed in its type is refused, for every type", () => {
  fc.assert(
    fc.property(fc.constantFrom(...real), fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 8 }), (key, at, more) => {
      const [type = "", body = ""] = key.line.split(" ");
      const blob = Buffer.from(body, "base64");
      const cut = blob.subarray(0, at % blob.length);
      if (cut.length > 0) assert.equal(refusalOf(`${type} ${cut.toString("base64")}`).code, "invalid_ssh_key");
      const extended = Buffer.concat([blob, more]);
      assert.equal(refusalOf(`${type} ${extended.toString("base64")}`).code, "invalid_ssh_key");
      const changed = Buffer.from(blob);
      const place = at % (4 + type.length);
      changed[place] = (changed[place] ?? 0) ^ (more[0] || 1);
      assert.equal(refusalOf(`${type} ${changed.toString("base64")}`).code, "invalid_ssh_key");
    }),
  );
});

test("the comment of a key changes its text and not its fingerprint", () => {
  const { fingerprint } = parseSshPublicKey(ed25519.line);
  const body = ed25519.line.split(" ").slice(0, 2).join(" ");
  fc.assert(
    fc.property(fc.stringMatching(/^[\p{L}\p{N}@. -]{0,50}$/u), (comment) => {
      const key = parseSshPublicKey(`${body} ${comment}`);
      assert.equal(key.fingerprint, fingerprint);
      assert.equal(key.comment, comment.trim().split(/ +/).join(" "));
    }),
  );
  assert.notEqual(parseSshPublicKey(anSshKey()).fingerprint, fingerprint);
});
