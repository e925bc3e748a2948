import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { writeLayer } from "./layer.ts";
import { folder, folderFrom, text } from "./tree.ts";

const LONG = `${"long/".repeat(50)}name`;

function aFolder(t: TestContext): string {
  const place = mkdtempSync(path.join(tmpdir(), "berth-layer-"));
  t.after(() => rmSync(place, { recursive: true }));
  return place;
}

/** Makes the same files in this order, at this time, with these rights where they do not count. */
function fill(place: string, names: readonly string[], { seconds, mode }: { seconds: number; mode: number }): void {
  for (const name of names) {
    const file = path.join(place, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, name.repeat(300));
    chmodSync(file, name.startsWith("program") ? 0o711 | mode : mode);
    utimesSync(file, seconds, seconds);
  }
  symlinkSync("first", path.join(place, "link"));
}

test("a layer is the same byte by byte, in any order of its files, at any time and under any mask", async (t) => {
  const names = ["first", "program", "inner/second", LONG];
  const [one, other, out] = [aFolder(t), aFolder(t), aFolder(t)];
  fill(one, names, { seconds: 1_000, mode: 0o600 });
  fill(other, names.toReversed(), { seconds: 2_000_000_000, mode: 0o664 });
  const layerOf = (source: string, name: string) =>
    writeLayer(
      path.join(out, name),
      [...folderFrom("opt", source, () => true), folder("data", 0o700, { uid: 7, gid: 8 })],
      1,
    );
  const [a, b] = [await layerOf(one, "a"), await layerOf(other, "b")];
  assert.deepEqual([a.digest, a.contentDigest, a.bytes], [b.digest, b.contentDigest, b.bytes]);
  const listing = execFileSync("tar", ["-tvzf", a.file, "--numeric-owner", "--full-time"], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], TZ: "UTC" },
  });
  assert.match(listing, /^drwx------ 7\/8 +0 1980-01-01 00:00:00 data\/$/m);
  assert.match(listing, /^-rwxr-xr-x 0\/0 +\d+ 1980-01-01 00:00:00 opt\/program$/m);
  assert.match(listing, /^-rw-r--r-- 0\/0 +\d+ 1980-01-01 00:00:00 opt\/first$/m);
  assert.match(listing, /opt\/link -> first$/m);
  assert.match(listing, new RegExp(`opt/${LONG}$`, "m"));
});

test("the later one of two files with one path holds, so that ours replace Debian's", async (t) => {
  const out = aFolder(t);
  const layer = await writeLayer(path.join(out, "a"), [text("etc/passwd", "theirs"), text("etc/passwd", "ours")], 1);
  assert.equal(execFileSync("tar", ["-xzOf", layer.file, "etc/passwd"], { encoding: "utf8" }), "ours");
});
