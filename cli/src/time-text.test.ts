import assert from "node:assert/strict";
import { test } from "node:test";
import { dateText, spanText, whenText } from "./time-text.ts";

test("a span is printed in the largest unit in which it is two or more", () => {
  const shown = [-5, 0, 30.4, 119, 120, 7199, 7200, 172_799, 172_800, 864_000].map(spanText);
  assert.deepEqual(shown, ["0 s", "0 s", "30 s", "119 s", "2 min", "120 min", "2 h", "48 h", "2 days", "10 days"]);
});

test("a time is printed in UTC, with its distance", () => {
  const now = new Date(86_400_000);
  assert.equal(dateText(86_400), "1970-01-02 00:00");
  assert.equal(whenText(86_430, now), "1970-01-02 00:00 UTC (in 30 s)");
  assert.equal(whenText(0, now), "1970-01-01 00:00 UTC (24 h ago)");
});
