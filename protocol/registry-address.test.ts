import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isPublicAddress } from "../server/src/base/public-address.ts";
import { isInternetAddress, isPrivateRegistry, isRegistryAllowed, registryIn } from "./registry-address.ts";

test("a registry on the host or in its network is known by its name, in whichever form the address is written", () => {
  const inside = [
    "127.0.0.1:5000",
    "127.1:5000",
    "2130706433:5000",
    "0x7f000001:5000",
    "0x7f.0.0.1",
    "0177.0.0.1:5000",
    "017700000001:5000",
    "0.0.0.0:5000",
    "localhost",
    "localhost:5000",
    "LOCALHOST:5000",
    "localhost.:5000",
    "x.localhost:80",
    "[::1]:5000",
    "[::]:5000",
    "[::ffff:127.0.0.1]:5000",
    "[::ffff:7f00:1]:5000",
    "[fd00::1]:5000",
    "[fe80::1]:5000",
    "[2002:7f00:1::]:5000",
    "10.0.0.7:5000",
    "172.16.3.4",
    "192.168.1.1:5000",
    "100.64.0.1:5000",
    "169.254.169.254:80",
    "metadata.google.internal:80",
    "registry:5000",
    "nas.local:5000",
    "registry.lan",
    "999.1.1.1:5000",
  ];
  const outside = ["ghcr.io", "registry.example.com:5000", "8.8.8.8:5000", "134744072:5000", "[2606:4700::1111]:443"];
  for (const registry of inside) {
    assert.equal(isPrivateRegistry(registryIn(`${registry}/x:1`) ?? "none"), true, registry);
  }
  for (const registry of outside) {
    assert.equal(isPrivateRegistry(registryIn(`${registry}/x:1`) ?? "none"), false, registry);
  }
  for (const image of ["ubuntu", "library/ubuntu:22.04", "me/app@sha256:00", "localhos/x"]) {
    assert.equal(registryIn(image), undefined, image);
  }
});

test("agents and the server agree on which addresses are on the internet", () => {
  const v4 = fc.ipV4();
  const v6 = fc.ipV6();
  const near = fc.constantFrom(
    "126.255.255.255",
    "128.0.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "::1",
    "2001:200::",
    "3fff::",
  );
  fc.assert(
    fc.property(fc.oneof(v4, v6, near), (address) => {
      assert.equal(isInternetAddress(address), isPublicAddress(address), address);
    }),
    { numRuns: 1000 },
  );
});

test("a host allows a registry with its port, a host with all of its ports, or all", () => {
  assert.equal(isRegistryAllowed("127.0.0.1:5000", ["127.0.0.1:5000"]), true);
  assert.equal(isRegistryAllowed("127.0.0.1:5001", ["127.0.0.1:5000"]), false);
  assert.equal(isRegistryAllowed("127.0.0.1:5001", ["127.0.0.1"]), true);
  assert.equal(isRegistryAllowed("[::1]:5001", ["[::1]"]), true);
  assert.equal(isRegistryAllowed("registry.lan", ["*"]), true);
  assert.equal(isRegistryAllowed("registry.lan", []), false);
});
