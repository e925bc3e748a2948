import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aMemberWith, aTeam, ask, done, join, type TestTeam } from "../../../../../test/support/teams.ts";
import type { Constraints, Grant, PermissionCategory, PermissionDocument } from "../../../base/identity.ts";
import { isWithin } from "../accounts/for-teams.ts";

// Few names and values, so that documents and calls meet.
const categories = fc.constantFrom<PermissionCategory>("instance_read", "billing_write", "misc");
const operations = fc.constantFrom("api.instance.show", "api.billing.transfer_credit", "api.offer.search_asks");
const constraints: fc.Arbitrary<Constraints> = fc.dictionary(
  fc.constantFrom("id", "amount"),
  fc.record({ eq: fc.integer({ min: 0, max: 2 }), lte: fc.integer({ min: 0, max: 2 }) }, { requiredKeys: ["lte"] }),
  { minKeys: 1 },
);
const grants: fc.Arbitrary<Grant> = fc.oneof(fc.constant({}), fc.record({ constraints }));
const documents: fc.Arbitrary<PermissionDocument> = fc.record({
  api: fc.dictionary(categories, fc.dictionary(operations, grants, { maxKeys: 2 }), { maxKeys: 3 }),
});
/**
 * The permissions of a member and those of a request: often equal, since documents drawn separately seldom allow each
 * other anything.
 */
const askings = fc
  .tuple(fc.array(documents, { minLength: 3, maxLength: 3 }), fc.nat(2), fc.nat(2))
  .map(([drawn, ofKey, ofAsked]) => {
    const [roleDocument, keyDocument, asked] = [drawn[0]!, drawn[ofKey]!, drawn[ofAsked]!];
    return { roleDocument, keyDocument, asked };
  });
/** Permissions that let the holder try: to change members and roles, and to create keys. */
const TRYING = { team_read: {}, team_write: {}, user_write: {}, user_read: {} };
const withTrying = ({ api }: PermissionDocument): PermissionDocument => ({ api: { ...api, ...TRYING } });

describe("permissions in a team", () => {
  let app: TestApp;
  let team: TestTeam;
  const cleanups: (() => Promise<void> | void)[] = [];
  before(async () => {
    const scope = { after: (fn: () => Promise<void> | void) => void cleanups.push(fn) };
    app = await testApp(scope as Parameters<typeof testApp>[0]);
  });
  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });

  test("nobody creates, changes, gives or takes away more than the role and the key allow together", async () => {
    let refusedCount = 0;
    let allowedCount = 0;
    await fc.assert(
      fc.asyncProperty(askings, async ({ roleDocument, keyDocument, asked }) => {
        team = await aTeam(app, await app.caller({ dollars: 0 }));
        const { person, secret: roleKey } = await aMemberWith(app, team, withTrying(roleDocument));
        const ownKey = { name: "narrow", team_id: team.id, permissions: withTrying(keyDocument) };
        const { key } = await done(app, person.secret, "POST", "/auth/apikeys/", ownKey);
        const other = await app.caller({ dollars: 0 });
        await join(app, team, other);
        const name = `r ${randomUUID()}`;
        const existing = await done(app, team.secret, "POST", "/team/roles/", { name, permissions: asked });
        const plain = { name: `p ${randomUUID()}`, permissions: { api: {} } };
        const changed = await done(app, team.secret, "POST", "/team/roles/", plain);

        for (const [secret, isAllowed] of [
          [roleKey, isWithin(asked, withTrying(roleDocument))],
          [key, isWithin(asked, withTrying(roleDocument)) && isWithin(asked, withTrying(keyDocument))],
        ] as const) {
          const email = `${randomUUID()}@example.com`;
          const [newRole, expected] = [{ name: randomUUID(), permissions: asked }, isAllowed ? 200 : 403];
          for (const [method, path, body] of [
            ["POST", "/team/roles/", newRole],
            ["PUT", `/team/roles/${changed.id}/`, { permissions: asked }],
            ["POST", "/team/invite/", { email, role: name }],
            ["POST", "/auth/apikeys/", { name: "n", permissions: asked }],
          ] as const) {
            const answer = await ask(app, secret, method, path, body);
            assert.equal(answer.status, expected, `${method} ${path} ${answer.text}`);
          }
          if (!isAllowed) refusedCount += 1;
          else allowedCount += 1;
          await done(app, team.secret, "PUT", `/team/roles/${changed.id}/`, { permissions: { api: {} } });
        }
        // A member with more permissions than the caller's must not be demoted, and a role with more not be emptied or
        // deleted.
        await done(app, team.secret, "PUT", `/team/members/${other.id}/roles/`, { role_id: existing.id });
        if (isWithin(asked, withTrying(roleDocument))) return;
        for (const [method, path, body] of [
          ["PUT", `/team/roles/${existing.id}/`, { permissions: { api: {} } }],
          ["DELETE", `/team/roles/${encodeURIComponent(name)}/`, undefined],
          ["PUT", `/team/members/${other.id}/roles/`, { role_id: changed.id }],
          ["DELETE", `/team/members/${other.id}/`, undefined],
        ] as const) {
          const answer = await ask(app, roleKey, method, path, body);
          assert.deepEqual([answer.status, answer.body.error], [403, "missing_permissions"], `${method} ${path}`);
        }
      }),
      { numRuns: 40 },
    );
    assert.ok(refusedCount > 5 && allowedCount > 5, `${refusedCount} refused, ${allowedCount} allowed`);
  });
});
