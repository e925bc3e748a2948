import assert from "node:assert/strict";
import { test } from "node:test";
import type { Identity } from "../../../../../base/identity.ts";
import { asId, type ApiKeyId, type UserId } from "../../../../../base/ids.ts";
import { transferRules } from "./transfer-rules.ts";

const [PERSON, OTHER, TEAM] = [asId<UserId>(1), asId<UserId>(2), asId<UserId>(3)];
const identity = (userId: UserId, memberId?: UserId): Identity => ({
  userId,
  apiKeyId: asId<ApiKeyId>(1),
  memberId,
  isAdmin: false,
  permissions: undefined,
  instanceId: undefined,
});
const recipient = (id: UserId, isTeam: boolean) => ({ id, isTeam, isProven: true, parentId: undefined });

test("a transfer between two persons looks up no role, and one with a team at most two", async () => {
  let lookupCount = 0;
  const rules = transferRules(async () => {
    lookupCount += 1;
    return "owner";
  });
  assert.equal(await rules(identity(PERSON), recipient(OTHER, false), "x"), undefined);
  assert.equal(lookupCount, 0);
  assert.equal(await rules(identity(PERSON), recipient(TEAM, true), "x"), undefined);
  assert.equal(lookupCount, 1);
  assert.equal(await rules(identity(TEAM, PERSON), recipient(OTHER, false), "x"), undefined);
  assert.equal(lookupCount, 3);
});
