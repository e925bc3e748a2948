import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AppError } from "../../../base/errors.ts";
import {
  authFor,
  parseImageLogin,
  parseImageReference,
  registryOf,
  renderImageReference,
} from "./rules/image-reference.ts";

const isInvalid = (error: unknown) => error instanceof AppError && error.kind === "invalid";
const DIGEST = `sha256:${"a".repeat(64)}`;

test("an image reads as registry, repository, tag and digest", () => {
  const cases: readonly (readonly [string, readonly (string | undefined)[]])[] = [
    ["ubuntu", [undefined, "ubuntu", undefined, undefined]],
    ["ubuntu:22.04", [undefined, "ubuntu", "22.04", undefined]],
    ["library/ubuntu:22.04", [undefined, "library/ubuntu", "22.04", undefined]],
    ["ghcr.io/a/b-c/d_e:sha-276199c", ["ghcr.io", "a/b-c/d_e", "sha-276199c", undefined]],
    ["localhost/x", ["localhost", "x", undefined, undefined]],
    ["localhost:5000/x:1", ["localhost:5000", "x", "1", undefined]],
    ["[::1]:5000/x", ["[::1]:5000", "x", undefined, undefined]],
    [`repo@${DIGEST}`, [undefined, "repo", undefined, DIGEST]],
    [`r.example.com/repo:v1@${DIGEST}`, ["r.example.com", "repo", "v1", DIGEST]],
    ["vendor/comfy:@vastai-automatic-tag", [undefined, "vendor/comfy", "@vastai-automatic-tag", undefined]],
    ["vendor/comfy@vastai-automatic-tag", [undefined, "vendor/comfy", "@vastai-automatic-tag", undefined]],
  ];
  for (const [text, [registry, repository, tag, digest]] of cases) {
    assert.deepEqual(parseImageReference(text, "image"), { registry, repository, tag, digest }, text);
  }
});

test("an image that no engine would pull is refused", () => {
  const refused = [
    "",
    " ",
    "a b",
    "Ubuntu",
    "https://ghcr.io/a/b",
    "a//b",
    "/a",
    "a/",
    "a:",
    "a:-x",
    `a:${"x".repeat(129)}`,
    "a@sha256:12",
    "a@md5:aa",
    "a\0b",
    "a\nb",
    "-a",
    "a..b",
    "a___b",
    "a:1:2",
    ".io/x",
    "reg:port/x",
    "x".repeat(1025),
    ":@vastai-automatic-tag",
    "--privileged",
    "$(id)",
  ];
  for (const text of refused) assert.throws(() => parseImageReference(text, "image"), isInvalid, text);
});

test("without tag and digest an image gets the default tag", () => {
  const render = (text: string, tag?: string) => renderImageReference(parseImageReference(text, "image"), tag);
  assert.equal(render("ubuntu"), "ubuntu:latest");
  assert.equal(render("ubuntu", "22.04"), "ubuntu:22.04");
  assert.equal(render("ubuntu:20.04", "22.04"), "ubuntu:20.04");
  assert.equal(render(`ubuntu@${DIGEST}`, "22.04"), `ubuntu@${DIGEST}`);
  assert.equal(render("v/c", "@vastai-automatic-tag"), "v/c:@vastai-automatic-tag");
});

test("a rendered image reads back the same, and nothing but invalid is thrown", () => {
  const piece = fc.constantFrom("a", "Z", ".", "/", ":", "@", "-", "_", "latest", "ghcr.io", DIGEST, "5000", " ");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece, { maxLength: 8 }).map((parts) => parts.join("")),
      ),
      (text) => {
        try {
          const reference = parseImageReference(text, "image");
          const rendered = renderImageReference(reference);
          assert.equal(renderImageReference(parseImageReference(rendered, "image")), rendered);
        } catch (error) {
          assert.ok(isInvalid(error), String(error));
        }
      },
    ),
    { numRuns: 3000 },
  );
});

test("a login is read with and without a registry, quoted or not", () => {
  const login = { username: "me", password: "p w", registry: "ghcr.io" };
  assert.deepEqual(parseImageLogin("-u me -p 'p w' ghcr.io", "image_login"), login);
  assert.deepEqual(parseImageLogin('ghcr.io --username=me --password="p w"', "image_login"), login);
  assert.deepEqual(parseImageLogin("-u me -p x", "image_login"), {
    username: "me",
    password: "x",
    registry: undefined,
  });
});

test("a malformed login is refused without repeating it", () => {
  for (const text of [
    "",
    "-u me",
    "-p secret1",
    "-u me -p secret1 a b",
    "-u me -p 'secret1",
    "-x -u me -p secret1",
    "\0",
  ]) {
    assert.throws(
      () => parseImageLogin(text, "image_login"),
      (error) => isInvalid(error) && error instanceof Error && !error.message.includes("secret1"),
      text,
    );
  }
});

test("credentials go to their registry and to no other", () => {
  const image = (text: string) => parseImageReference(text, "image");
  const login = (registry: string | undefined) => ({ username: "me", password: "x", registry });
  assert.equal(authFor(image("evil.example.com/a"), login("ghcr.io")), null);
  assert.equal(authFor(image("evil.example.com/a"), login("docker.io")), null);
  assert.equal(authFor(image("ghcr.io/a"), login("me/private")), null);
  assert.equal(authFor(image("ghcr.io/a"), login("https://GHCR.io/team"))?.serveraddress, "ghcr.io");
  assert.equal(authFor(image("me/private"), login("https://index.docker.io/v1/"))?.serveraddress, "docker.io");
  assert.equal(authFor(image("docker.io/me/private"), login("me/private"))?.serveraddress, "docker.io");
  assert.equal(authFor(image("ghcr.io/a"), login(undefined))?.serveraddress, "ghcr.io");
  assert.equal(registryOf(image("registry-1.docker.io/a/b")), "docker.io");
});
