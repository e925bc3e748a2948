import assert from "node:assert/strict";
import { posix } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { AppError } from "../../../../base/errors.ts";
import { readMountPath } from "./rules/mount-path.ts";

const segments = fc.oneof(
  fc.constantFrom(
    "",
    ".",
    "..",
    "proc",
    "sys",
    "dev",
    "etc",
    "data",
    "a b",
    "a:b",
    "a,b",
    "\u0000",
    "\n",
    "\u2028",
    "ü",
    "...",
  ),
  fc.string({ unit: "grapheme", maxLength: 6 }),
);
const paths = fc
  .tuple(fc.constantFrom("/", "", "//"), fc.array(segments, { maxLength: 6 }))
  .map(([start, parts]) => `${start}${parts.join("/")}`);

test("an accepted path is absolute and normal, and stays outside the kernel's directories", () => {
  fc.assert(
    fc.property(paths, (text) => {
      let path;
      try {
        path = readMountPath(text, "mount_path");
      } catch (error) {
        assert.ok(error instanceof AppError && error.extra["field"] === "mount_path");
        return;
      }
      assert.equal(path, posix.normalize(text).replace(/(?<=.)\/$/s, ""), "it means the same place");
      assert.match(path, /^(\/[^/:,\0]+)+$/);
      assert.doesNotMatch(path, /^\/(proc|sys|dev)(\/|$)/);
      assert.doesNotMatch(path, /(^|\/)\.\.?(\/|$)/);
      assert.equal(readMountPath(path, "mount_path"), path, "reading it again changes nothing");
    }),
    { numRuns: 3000 },
  );
});

test("equal places are one path, in every spelling", () => {
  for (const text of ["/mnt/data", "/mnt//data/", "//mnt/./data", "/mnt/data/."]) {
    assert.equal(readMountPath(text, "mount_path"), "/mnt/data");
  }
});

const refused = [
  "",
  "data",
  "./data",
  "/",
  "//",
  "/.",
  "/mnt/..",
  "/mnt/../etc",
  "/proc",
  "/proc/1",
  "/sys",
  "/dev",
  "/dev/shm",
  "//dev//null",
  "/./proc",
  "/etc",
  "/usr/",
  "/bin",
  "/lib64",
  "/a:/b",
  "/a,readonly",
  "/a\u0000b",
  "/a\nb",
  `/${"a".repeat(1024)}`,
];
for (const text of refused) {
  test(`a mount is refused at ${JSON.stringify(text).slice(0, 40)}`, () => {
    assert.throws(() => readMountPath(text, "mount_path"), { kind: "invalid", extra: { field: "mount_path" } });
  });
}

test("places that only look like the kernel's are allowed", () => {
  for (const text of ["/process", "/developer", "/etc/app", "/usr/local/data", "/...", "/data/proc"]) {
    assert.equal(readMountPath(text, "mount_path"), text);
  }
});
