import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseServerUrl } from "../../../protocol/index.ts";
import { isUnencrypted } from "./server-url.ts";

describe("the address of the control plane", () => {
  for (const [text, apiUrl, socketUrl] of [
    ["http://a:8080", "http://a:8080", "ws://a:8080/agent"],
    ["https://a.example/", "https://a.example", "wss://a.example/agent"],
    ["ws://127.0.0.1:8080/agent", "http://127.0.0.1:8080", "ws://127.0.0.1:8080/agent"],
    ["wss://a.example/berth/agent/", "https://a.example/berth", "wss://a.example/berth/agent"],
    ["http://[::1]:80/", "http://[::1]", "ws://[::1]/agent"],
  ] as const) {
    it(`may be written as ${text}`, () => assert.deepEqual(parseServerUrl(text), { apiUrl, socketUrl }));
  }

  it("is refused where it is no address, or says more than that", () => {
    for (const text of ["", "a:8080", "file:///a", "http://", "http://a?b", "http://a#b", "http://u:p@a"]) {
      assert.equal(parseServerUrl(text), undefined, text);
    }
  });

  it("is unencrypted where others can listen", () => {
    const isReadable = (text: string) => isUnencrypted(parseServerUrl(text) ?? assert.fail(text));
    assert.deepEqual(
      ["http://a", "https://a", "http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"].map(isReadable),
      [true, false, false, false, false],
    );
  });
});
