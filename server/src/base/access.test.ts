import assert from "node:assert/strict";
import { test } from "node:test";
import type { Constraints, Identity, PermissionDocument } from "./identity.ts";
import { asId, type ApiKeyId, type InstanceId, type UserId } from "./ids.ts";
import { refuseOperation, refuseParameters, satisfies } from "./access.ts";

const unscoped: Identity = {
  userId: asId<UserId>(1),
  apiKeyId: asId<ApiKeyId>(1),
  memberId: undefined,
  isAdmin: false,
  permissions: undefined,
  instanceId: undefined,
};
const scoped = (api: NonNullable<PermissionDocument["api"]>): Identity => ({ ...unscoped, permissions: { api } });
const ofInstance: Identity = { ...unscoped, instanceId: asId<InstanceId>(7) };
const show = { operation: "api.instance.show", permission: "instance_read" } as const;
const destroy = { operation: "api.instance.destroy", permission: "instance_write" } as const;
const constrainedTo = (constraints: Constraints) => scoped({ instance_read: { "api.instance.show": { constraints } } });

test("a key without permissions may do all but what administrators do", () => {
  assert.equal(refuseOperation(unscoped, destroy), undefined);
  assert.equal(refuseOperation(unscoped, { operation: "api.x.y", permission: "admin" })?.kind, "forbidden");
});

test("an administrator's key is one for administration only while it is not narrowed", () => {
  const access = { operation: "api.x.y", permission: "admin" } as const;
  assert.equal(refuseOperation({ ...unscoped, isAdmin: true }, access), undefined);
  assert.equal(refuseOperation({ ...scoped({ misc: {} }), isAdmin: true }, access)?.kind, "forbidden");
  assert.equal(refuseOperation({ ...ofInstance, isAdmin: true }, access)?.kind, "forbidden");
});

test("an empty category grants all of it and a filled one only what it names", () => {
  assert.equal(refuseOperation(scoped({ instance_read: {} }), show), undefined);
  assert.equal(refuseOperation(scoped({ instance_read: { "api.instance.show": {} } }), show), undefined);
  assert.equal(refuseOperation(scoped({ instance_read: { "api.instance.list": {} } }), show)?.kind, "forbidden");
  assert.equal(refuseOperation(scoped({ instance_read: {} }), destroy)?.kind, "forbidden");
});

test("a route that needs no key still refuses a key without its category", () => {
  const access = { operation: "api.user.create", permission: "optional", keyPermission: "user_write" } as const;
  assert.equal(refuseOperation(scoped({ user_read: {} }), access)?.kind, "forbidden");
  assert.equal(refuseOperation(scoped({ user_write: {} }), access), undefined);
  assert.equal(refuseOperation(scoped({}), { operation: "api.offer.search", permission: "optional" }), undefined);
});

test("a constrained parameter must be there and meet every comparison", () => {
  const caller = constrainedTo({ id: { gte: 5, lte: 9 } });
  assert.equal(refuseParameters(caller, show, [{ id: "7" }]), undefined);
  for (const parts of [[], [{}], [{ id: "4" }], [{ id: 10 }], [{ id: [7] }], [{ id: "" }], [{ id: true }]]) {
    assert.equal(refuseParameters(caller, show, parts)?.kind, "forbidden", JSON.stringify(parts));
  }
});

test("a constraint cannot be met in one part of the request and broken in another", () => {
  const caller = constrainedTo({ id: { eq: 7 } });
  assert.equal(refuseParameters(caller, show, [{ id: "7" }, {}, { id: 7 }]), undefined);
  assert.equal(refuseParameters(caller, show, [{ id: "7" }, {}, { id: 8 }])?.kind, "forbidden");
  assert.equal(refuseParameters(caller, show, [{}, { id: "7" }, { id: 8 }])?.kind, "forbidden");
});

test("a constraint on a name that every object inherits is not met by inheritance", () => {
  assert.equal(refuseParameters(constrainedTo({ toString: { eq: "x" } }), show, [{}])?.kind, "forbidden");
});

test("an instance's key may do four things, to its own instance alone", () => {
  for (const name of ["show", "update", "reboot", "destroy"]) {
    const access = { operation: `api.instance.${name}`, permission: "instance_write" } as const;
    assert.equal(refuseOperation(ofInstance, access), undefined);
    assert.equal(refuseParameters(ofInstance, access, [{ id: "7" }]), undefined);
    for (const parts of [[], [{ id: "8" }], [{ id: "07" }], [{ id: "7" }, { id: 8 }], [{ id: ["7"] }]]) {
      assert.equal(refuseParameters(ofInstance, access, parts)?.kind, "forbidden", JSON.stringify(parts));
    }
  }
  for (const access of [
    { operation: "api.instance.list", permission: "instance_read" } as const,
    { operation: "api.apikey.create", permission: "user_write" } as const,
    { operation: "api.x.y", permission: "any" } as const,
  ]) {
    assert.equal(refuseOperation(ofInstance, access)?.kind, "forbidden");
  }
});

test("an instance's key may ask for code of a deployment, and for nothing else of one", () => {
  const download = { operation: "api.deployment.download", permission: "instance_read" } as const;
  assert.equal(refuseOperation(ofInstance, download), undefined);
  // Which deployment that may be is for the handler to say.
  assert.equal(refuseParameters(ofInstance, download, [{ id: "8" }]), undefined);
  for (const name of ["show", "list", "versions", "delete", "delete_named", "deploy", "start", "stop", "heartbeat"]) {
    const access = { operation: `api.deployment.${name}`, permission: "instance_write" } as const;
    assert.equal(refuseOperation(ofInstance, access)?.kind, "forbidden", name);
  }
});

test("numbers compare as numbers, and text that is no number compares with none", () => {
  assert.ok(satisfies("10", "gte", 9) && satisfies(10, "lte", "10.0") && !satisfies("9", "gte", "10"));
  for (const value of ["", " ", "x", true, null, undefined, {}, [5]]) {
    assert.ok(!satisfies(value, "lte", 9) && !satisfies(value, "gte", -9), JSON.stringify(value));
  }
  assert.ok(!satisfies(1, "between", 1));
});
