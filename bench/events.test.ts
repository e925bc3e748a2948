import assert from "node:assert/strict";
import { test } from "node:test";
import { asId, type UserId } from "../server/src/base/ids.ts";
import { audit, measureEvents } from "./events.ts";

test("a small benchmark of events tells each listener of its account's changes once", async () => {
  const figures = await measureEvents({ listeners: 6, accounts: 3, changes: 9, pauseMs: 1 });
  assert.equal(figures.deliveries, 18);
  assert.ok(figures.p50Ms > 0 && figures.p99Ms >= figures.p50Ms);
});

test("a change that was missed, repeated or another account's voids the figures", () => {
  const user = { id: asId<UserId>(1), email: "a@example.com", secret: "" };
  const changes = [
    { id: 1, userId: 1 },
    { id: 2, userId: 2 },
  ];
  const told = (...ids: readonly number[]) => [{ user, seen: ids.map((id) => ({ id, atMs: 0 })) }];
  audit(told(1), changes);
  for (const wrong of [told(), told(1, 1), told(1, 2)])
    assert.throws(() => audit(wrong, changes), /account 1 was told/);
});
