import assert from "node:assert/strict";
import { test } from "node:test";
import { registryGate } from "./registries.ts";

const NAMES: Readonly<Record<string, readonly string[]>> = {
  "registry.example": ["8.8.8.8", "2606:4700::1111"],
  "rebound.example": ["8.8.8.8", "127.0.0.1"],
  "inner.example": ["10.1.2.3"],
  "cloud.example": ["169.254.169.254"],
  "linked.example": ["fe80::1%eth0"],
  "mapped.example": ["::ffff:127.0.0.1"],
};

const gate = (...allowed: readonly string[]) =>
  registryGate({
    allowed,
    resolve: async (name) => {
      const found = NAMES[name];
      if (found === undefined) throw new Error(`ENOTFOUND ${name}`);
      return found;
    },
  });

test("an image whose registry is on the host or in its network is refused unless the host allows that registry", async () => {
  for (const image of ["127.0.0.1:5000/x", "localhost/x", "[::1]:5000/x", "2130706433:5000/x", "nas.lan/x"]) {
    assert.match((await gate()(image)) ?? "", /in a private network.*BERTH_AGENT_ALLOW_REGISTRIES/, image);
  }
  for (const name of ["rebound", "inner", "cloud", "linked", "mapped"]) {
    assert.match((await gate()(`${name}.example:5000/x`)) ?? "", /leads into a private network/, name);
  }
  assert.equal(await gate("127.0.0.1")("127.0.0.1:5000/x"), undefined);
  assert.equal(await gate("inner.example:5000")("inner.example:5000/x"), undefined);
  assert.notEqual(await gate("inner.example:5000")("inner.example/x"), undefined);
});

test("images of the internet's registries are taken, and a name without an address is refused", async () => {
  for (const image of ["ubuntu", "me/app:1", "registry.example/x", "8.8.8.8:5000/x"]) {
    assert.equal(await gate()(image), undefined, image);
  }
  assert.match((await gate()("nowhere.example/x")) ?? "", /has no address/);
});
