import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AppError } from "../../../../base/errors.ts";
import type {
  Constraints,
  Grant,
  Identity,
  PermissionCategory,
  PermissionDocument,
} from "../../../../base/identity.ts";
import { asId, type ApiKeyId, type UserId } from "../../../../base/ids.ts";
import { refuseOperation, refuseParameters } from "../../../../base/access.ts";
import { intersect, isWithin, parsePermissions, type Permissions } from "./rules/permissions.ts";

// Few names and values, so that documents and calls meet.
const categories = fc.constantFrom<PermissionCategory>("instance_read", "user_write", "misc");
const operations = fc.constantFrom("api.instance.show", "api.instance.destroy", "api.apikey.create");
const bounds = fc.oneof(
  fc.integer({ min: -1, max: 3 }),
  fc.constantFrom<string | boolean>("1", "2", "01", "x", "", " 2 ", true, false, "true"),
);
const numbers = fc.oneof(fc.integer({ min: -1, max: 3 }), fc.constantFrom("1", "2", "1.5"));
const comparisons = fc
  .record({ eq: bounds, lte: numbers, gte: numbers }, { requiredKeys: [] })
  .filter((comparison) => Object.keys(comparison).length > 0);
const constraints: fc.Arbitrary<Constraints> = fc.dictionary(fc.constantFrom("id", "price"), comparisons);
const grants: fc.Arbitrary<Grant> = fc.oneof(fc.constant({}), fc.record({ constraints }));
const documents: fc.Arbitrary<PermissionDocument> = fc.oneof(
  { arbitrary: fc.constant({}), weight: 1 },
  {
    arbitrary: fc.record({
      api: fc.dictionary(categories, fc.dictionary(operations, grants, { maxKeys: 3 }), { maxKeys: 3 }),
    }),
    weight: 9,
  },
);
const permissions: fc.Arbitrary<Permissions> = fc.oneof(fc.constant(undefined), documents);
const parts = fc.array(fc.dictionary(fc.constantFrom("id", "price"), bounds, { maxKeys: 2 }), { maxLength: 2 });

function identity(granted: Permissions): Identity {
  const ids = { userId: asId<UserId>(1), apiKeyId: asId<ApiKeyId>(1), memberId: undefined };
  return { ...ids, isAdmin: false, permissions: granted, instanceId: undefined };
}

function isAllowed(
  granted: Permissions,
  call: { operation: string; permission: PermissionCategory; parts: readonly Record<string, unknown>[] },
): boolean {
  const caller = identity(granted);
  const access = { operation: call.operation, permission: call.permission };
  return refuseOperation(caller, access) === undefined && refuseParameters(caller, access, call.parts) === undefined;
}

test("a key within another allows no call that the other refuses", () => {
  let withinCount = 0;
  const calls = fc.record({ operation: operations, permission: categories, parts });
  fc.assert(
    fc.property(permissions, permissions, fc.array(calls, { minLength: 5, maxLength: 20 }), (child, parent, asked) => {
      if (!isWithin(child, parent)) return;
      withinCount += 1;
      for (const call of asked) assert.ok(!isAllowed(child, call) || isAllowed(parent, call), JSON.stringify(call));
    }),
    { numRuns: 5_000 },
  );
  assert.ok(withinCount > 100, "the property was tried on few pairs");
});

test("a call is within the intersection of two documents exactly when it is within both", () => {
  const calls = fc.record({ operation: operations, permission: categories, parts });
  let bothCount = 0;
  fc.assert(
    fc.property(permissions, permissions, fc.array(calls, { minLength: 5, maxLength: 20 }), (left, right, asked) => {
      const both = intersect(left, right);
      for (const call of asked) {
        const expected = isAllowed(left, call) && isAllowed(right, call);
        if (expected && left !== undefined && right !== undefined) bothCount += 1;
        assert.equal(isAllowed(both, call), expected, JSON.stringify(call));
      }
      assert.ok(isWithin(both, left) && isWithin(both, right));
    }),
    { numRuns: 5_000 },
  );
  assert.ok(bothCount > 100, "the property was tried on few calls that both allow");
});

test("narrowing a document any further stays within it", () => {
  fc.assert(
    fc.property(documents, constraints, (parent, more) => {
      const narrowed = Object.entries(parent.api ?? {}).map(([category, children]) => {
        const entries = Object.entries(children ?? {}).map(([operation, grant]) => {
          const kept = Object.entries(grant.constraints ?? {});
          return [operation, { constraints: { ...more, ...Object.fromEntries(kept) } }];
        });
        return [category, Object.fromEntries(entries)];
      });
      assert.ok(isWithin({ api: Object.fromEntries(narrowed) }, parent));
    }),
  );
});

test("every document is within itself and within everything, and everything is within no document", () => {
  fc.assert(
    fc.property(documents, (document) => {
      assert.ok(isWithin(document, document));
      assert.ok(isWithin(document, undefined));
      assert.ok(!isWithin(undefined, document));
    }),
  );
});

test("a document that was read once reads as the same again", () => {
  fc.assert(
    fc.property(documents, (document) => {
      const parsed = parsePermissions(document);
      assert.deepEqual(parsePermissions(JSON.parse(JSON.stringify(parsed))), parsed);
      assert.ok(isWithin(parsed, document) && isWithin(document, parsed));
    }),
  );
});

test("an unknown entry is refused by name instead of being dropped", () => {
  const refused: readonly [unknown, string][] = [
    [5, "permissions"],
    [["instance_read"], "permissions"],
    [{ api: [] }, "permissions.api"],
    [{ api: null }, "permissions.api"],
    [{ api: { instance_read: {} }, extra: {} }, "permissions.extra"],
    [{ api: { instances: {} } }, "permissions.api.instances"],
    [{ api: { constructor: {} } }, "permissions.api.constructor"],
    [{ api: { misc: true } }, "permissions.api.misc"],
    [{ api: { misc: { show: {} } } }, "permissions.api.misc.show"],
    [{ api: { misc: { "api.a.b": { params: {} } } } }, "permissions.api.misc.api.a.b.params"],
    [{ api: { misc: { "api.a.b": { constraints: { id: {} } } } } }, "permissions.api.misc.api.a.b.constraints.id"],
    [
      { api: { misc: { "api.a.b": { constraints: { id: { lt: 1 } } } } } },
      "permissions.api.misc.api.a.b.constraints.id.lt",
    ],
    [
      { api: { misc: { "api.a.b": { constraints: { id: { lte: "x" } } } } } },
      "permissions.api.misc.api.a.b.constraints.id.lte",
    ],
    [{ read: true, admin: true }, "permissions.admin"],
    [{ read: "yes" }, "permissions.read"],
  ];
  for (const [document, field] of refused) {
    assert.throws(
      () => parsePermissions(document),
      (error) => error instanceof AppError && error.code === "invalid_permissions" && error.extra["field"] === field,
      JSON.stringify(document),
    );
  }
});

test("the short form grants reading and changing separately", () => {
  const readOnly = parsePermissions({ read: true, write: false });
  assert.deepEqual(Object.keys(readOnly.api ?? {}).toSorted(), [
    "billing_read",
    "instance_read",
    "machine_read",
    "team_read",
    "user_read",
  ]);
  assert.ok(parsePermissions({ write: true }).api?.instance_write !== undefined);
  assert.ok(isAllowed(readOnly, { operation: "api.instance.show", permission: "instance_read", parts: [] }));
  assert.ok(!isAllowed(readOnly, { operation: "api.instance.destroy", permission: "instance_write", parts: [] }));
});
