import assert from "node:assert/strict";
import { test } from "node:test";
import { reachableUrl } from "./create-token.ts";

test("the command names an address that another machine can use, or says that there is none", () => {
  const outer = "192.0.2.7";
  for (const [text, url, isHinted] of [
    ["http://0.0.0.0:8080", "http://192.0.2.7:8080", false],
    ["http://[::]:8080/", "http://192.0.2.7:8080", false],
    ["https://berth.example/base/", "https://berth.example/base", false],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080", true],
    ["http://localhost:8080", "http://localhost:8080", true],
  ] as const) {
    const found = reachableUrl(text, outer);
    assert.deepEqual([found.url, found.hint.length > 0], [url, isHinted], text);
  }
  assert.equal(reachableUrl("http://0.0.0.0:8080", undefined).url, "http://0.0.0.0:8080");
});
