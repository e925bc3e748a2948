import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isErrand } from "./errands.ts";

describe("what is carried for containers", () => {
  it("is what workers report, what the key of an instance may do, and the code of a deployment", () => {
    for (const [method, target] of [
      ["POST", "/worker_status/"],
      ["POST", "/delete_requests/"],
      ["GET", "/pubkey/"],
      ["POST", "/api/v0/sign_cert/?instance_id=7"],
      ["GET", "/api/v0/instances/12/?owner=me&api_key=a%20b"],
      ["PUT", "/api/v0/instances/12/"],
      ["DELETE", "/api/v0/instances/12/"],
      ["PUT", "/api/v0/instances/reboot/12/"],
      ["GET", "/api/v0/deployment/3/download_url/"],
      ["GET", "/api/v0/deployment/blobs/0a-1_b.tar.gz"],
    ] as const) {
      assert.ok(isErrand(method, target), `${method} ${target}`);
    }
  });

  it("is nothing else, however it is spelt", () => {
    for (const [method, target] of [
      ["GET", "/worker_status/"],
      ["POST", "/route/"],
      ["GET", "/api/v0/users/current/"],
      ["GET", "/api/v0/instances/"],
      ["POST", "/api/v0/deployment/3/stop/"],
      ["GET", "/api/v0/deployment/../instances/"],
      ["GET", "/api/v0/deployment/%2e%2e/instances/"],
      ["GET", "/api/v0/deployment//instances/"],
      ["GET", "/api/v0/deployment/.git/config"],
      ["GET", "/api/v0/deployment/a\\b"],
      ["GET", "//host/pubkey/"],
      ["GET", "http://elsewhere/pubkey/"],
      ["GET", "/pubkey/#x"],
      ["GET", "/pubkey/ HTTP/1.1\r\nx: y"],
      ["GET", `/api/v0/deployment/${"a".repeat(2_000)}`],
      ["CONNECT", "elsewhere:80"],
      ["OPTIONS", "*"],
    ] as const) {
      assert.ok(!isErrand(method, target), `${method} ${target}`);
    }
  });

  it("carries no path but the allowed ones, with any text behind the beginning of one", () => {
    const parts = fc.array(
      fc.constantFrom("..", ".", "", "%2e", "/", "a", "\\", "?", "#", ";", "@", "blobs", "\t", "é"),
    );
    fc.assert(
      fc.property(parts, (tail) => {
        const target = `/api/v0/deployment/${tail.join("/")}`;
        if (!isErrand("GET", target)) return;
        const { origin, pathname } = new URL(target, "http://server");
        assert.equal(origin, "http://server");
        assert.equal(pathname, target.split("?")[0]);
      }),
    );
  });
});
