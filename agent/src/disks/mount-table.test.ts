import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMountinfo } from "./mount-table.ts";

test("mounts are read with their blanks, and with any optional fields that the kernel adds", () => {
  const text = [
    "22 27 0:21 / /proc rw,relatime - proc proc rw",
    String.raw`43 27 7:0 /layer /srv/a\040b/c\134d rw,nosuid shared:1 master:2 - ext4 /dev/loop0 rw`,
    "",
    "nonsense",
  ].join("\n");
  assert.deepEqual(parseMountinfo(text), [
    { device: "0:21", root: "/", mountPoint: "/proc", type: "proc", isStopped: false },
    { device: "7:0", root: "/layer", mountPoint: String.raw`/srv/a b/c\d`, type: "ext4", isStopped: false },
  ]);
});

test("a file system that an error has stopped is told from one that takes writes", () => {
  const stopped = (options: string) =>
    parseMountinfo(`43 27 7:0 / /mnt rw - ext4 /dev/loop0 ${options}`).map((entry) => entry.isStopped);
  assert.deepEqual(["rw,errors=remount-ro", "ro", "rw,emergency_ro", "rw,shutdown"].flatMap(stopped), [
    false,
    true,
    true,
    true,
  ]);
});
