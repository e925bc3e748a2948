import assert from "node:assert/strict";
import { test } from "node:test";
import type { Identity } from "../../base/identity.ts";
import { asId, type ApiKeyId, type UserId } from "../../base/ids.ts";
import { StreamCounts } from "./stream-counts.ts";

function followerOf(userId: number, network?: string) {
  const identity: Identity = {
    userId: asId<UserId>(userId),
    apiKeyId: asId<ApiKeyId>(userId),
    memberId: undefined,
    isAdmin: false,
    permissions: undefined,
    instanceId: undefined,
  };
  return { identity, network };
}

const REFUSED = { kind: "rate_limited", code: "too_many_streams" };

test("an account has a hundred streams, and a released one makes room", () => {
  const counts = new StreamCounts();
  for (let count = 0; count < 100; count += 1) counts.take(followerOf(1));
  assert.throws(() => counts.take(followerOf(1)), REFUSED);
  counts.take(followerOf(2));
  counts.release(followerOf(1));
  counts.take(followerOf(1));
  assert.equal(counts.total, 101);
});

test("an address has two hundred streams, of any accounts, and callers on this machine are not counted", () => {
  const counts = new StreamCounts();
  for (let user = 1; user <= 200; user += 1) counts.take(followerOf(user, "192.0.2.1"));
  assert.throws(() => counts.take(followerOf(201, "192.0.2.1")), REFUSED);
  assert.equal(counts.total, 200, "a refused one is not counted");
  counts.take(followerOf(201, "192.0.2.2"));
  counts.take(followerOf(201));
});
