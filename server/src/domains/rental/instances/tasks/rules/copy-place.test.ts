import assert from "node:assert/strict";
import { test } from "node:test";
import { readPath, readPlaceId, refuseOverlap } from "./copy-place.ts";

test("an id names an instance, bare or as C., or a volume as V.", () => {
  for (const [value, place] of [
    [12, { kind: "instance", id: 12 }],
    ["12", { kind: "instance", id: 12 }],
    [" C.12 ", { kind: "instance", id: 12 }],
    ["V.7", { kind: "volume", id: 7 }],
    ["C.2147483647", { kind: "instance", id: 2_147_483_647 }],
  ] as const) {
    assert.deepEqual(readPlaceId(value, "src_id"), place);
  }
});

test("an invalid id is refused by its field, with the alternatives", () => {
  for (const [value, reason] of [
    [undefined, /missing/],
    [null, /missing/],
    ["local", /own computer/],
    ["s3.5", /commands\/rclone\/ copies from and to cloud storage/],
    ["drive", /commands\/rclone\/ copies from and to cloud storage/],
    ["hf.2", /commands\/rclone\/ copies from and to cloud storage/],
    ["C.0", /number from 1 on/],
    ["V.-1", /number from 1 on/],
    [0, /Invalid dst_id/],
    [1.5, /Invalid dst_id/],
    [2_147_483_648, /Invalid dst_id/],
    ["9999999999", /Invalid dst_id/],
    [{}, /Invalid dst_id/],
  ] as const) {
    assert.throws(
      () => readPlaceId(value, "dst_id"),
      (error: { publicMessage: string; code: string; extra: { field: string } }) =>
        reason.test(error.publicMessage) && error.code === "invalid_args" && error.extra.field === "dst_id",
      String(value),
    );
  }
});

test("a path is normal and absolute, and a slash at its end stays", () => {
  for (const [value, path] of [
    ["/data", "/data"],
    ["/data/", "/data/"],
    ["data//x/./y", "/data/x/y"],
    ["/", "/"],
    [".", "/"],
    ["./", "/"],
    ["a/.", "/a/"],
    ["/a b/ü", "/a b/ü"],
  ] as const) {
    assert.equal(readPath(value, "src_path"), path, value);
  }
  for (const value of [undefined, "", 7, "/a/../b", "..", "/a\nb", `/${"x".repeat(4096)}`]) {
    assert.throws(() => readPath(value, "src_path"), /Invalid src_path\./, String(value));
  }
});

test("a copy into itself is refused", () => {
  const at = (path: string, id = 1) => ({ kind: "instance" as const, id, path });
  for (const [from, to] of [
    ["/a", "/a"],
    ["/a", "/a/b"],
    ["/a/", "/a/b/"],
    ["/", "/b"],
  ] as const) {
    assert.throws(() => refuseOverlap(at(from), at(to)), /Invalid dst_path/, `${from} ${to}`);
    refuseOverlap(at(from), at(to, 2));
    refuseOverlap(at(from), { kind: "volume", id: 1, path: to });
  }
  refuseOverlap(at("/a"), at("/ab"));
  refuseOverlap(at("/a/b"), at("/a"));
});
