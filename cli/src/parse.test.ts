import assert from "node:assert/strict";
import { test } from "node:test";
import {
  parseAmount,
  parseEmail,
  parseGpus,
  parseId,
  parseJsonObject,
  parseLineCount,
  parseNumber,
  parsePlace,
  parsePlaceId,
  parsePort,
  parseTime,
} from "./parse.ts";

const refused: readonly (readonly [(text: string) => unknown, readonly string[]])[] = [
  [parseId, ["0", "-1", "1.5", "2147483648", "x", ""]],
  [parsePort, ["65536", "-1", "80a", ""]],
  [parseLineCount, ["-1", "100001", "x", ""]],
  [parsePlaceId, ["", "0", "C.", "X.1", "local", "1.5"]],
  [parsePlace, ["", "1", "1:", ":/a", "local:", "Local:/a", "X.1:/a", "vast.0:/a", "vast.7"]],
  [parseAmount, ["0", "-5", "1e3", "x", "", "1000000000"]],
  [parseNumber, ["-1", "x", ""]],
  [parseTime, ["", "tomorrow", "2026-02-31", "2026-01-01T25:00", "2026-01-01T12", "12", "2026-1-1"]],
  [parseEmail, ["nobody", "a b@c", "@", ""]],
  [parseJsonObject, ["[]", "null", "1", "{"]],
  [parseGpus, ["", "RTX 4090", "RTX 4090:0", ":2", "RTX 4090:2,", "RTX 4090:200"]],
];

for (const [parse, texts] of refused) {
  test(`${parse.name} refuses wrong values`, () => {
    for (const text of texts) assert.throws(() => parse(text), { code: "commander.invalidArgument" }, text);
  });
}

test("valid values are read", () => {
  assert.equal(parseId("2147483647"), 2_147_483_647);
  assert.equal(parsePort("0"), 0);
  assert.equal(parseLineCount("0"), 0);
  assert.deepEqual(parsePlace("12:/a:b"), { id: "C.12", path: "/a:b" });
  assert.deepEqual(parsePlace("local:../a:b/"), { id: "local", path: "../a:b/" });
  assert.deepEqual(parsePlace("vast.7:/upper/root/"), { id: "vast.7", path: "/upper/root/" });
  assert.equal(parsePlaceId("V.7"), "V.7");
  assert.equal(parseAmount("0.01"), 0.01);
  assert.equal(parseNumber("0"), 0);
  assert.equal(parseTime("1767225600"), 1_767_225_600);
  for (const text of ["2026-01-01", "2026-01-01T00:00", "2026-01-01 00:00:00Z", "2026-01-01T02:00+02:00"]) {
    assert.equal(parseTime(text), 1_767_225_600, text);
  }
  assert.equal(parseEmail("a@localhost"), "a@localhost");
  assert.deepEqual(parseJsonObject('{"api":{}}'), { api: {} });
  assert.equal(parseGpus("RTX 4090:2, H100:1"), "RTX 4090:2,H100:1");
});
