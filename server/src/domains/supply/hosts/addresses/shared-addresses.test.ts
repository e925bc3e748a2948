import assert from "node:assert/strict";
import { test } from "node:test";
import { asId, type UserId } from "../../../../base/ids.ts";
import { findSharedAddresses, isElsewhere, type ConnectedFrom } from "./shared-addresses.ts";

const from = (address: string | undefined, host: number, named: string): ConnectedFrom => ({
  hostId: asId<UserId>(host),
  address,
  named,
  machineCount: 2,
});

test("many hosts behind one address that none of them names are reported, and fewer hosts or those of one router are not", () => {
  const behind = (count: number) => Array.from({ length: count }, (_, host) => from("1.2.3.4", host, "192.168.1.7"));
  assert.deepEqual(findSharedAddresses(behind(4)), []);
  assert.deepEqual(findSharedAddresses(behind(5)), [
    { address: "1.2.3.4", machineCount: 10, hostCount: 5, reason: "many_hosts" },
  ]);
  assert.deepEqual(findSharedAddresses([...behind(5), from("1.2.3.4", 9, "1.2.3.4")]), []);
});

test("one host cannot make the address of others count as a proxy's, with any number of addresses", () => {
  const machines = [from("1.2.3.4", 1, "8.8.8.8"), from("1.2.3.4", 1, "9.9.9.9"), from("1.2.3.4", 2, "1.2.3.4")];
  assert.equal(isElsewhere("1.2.3.4", machines), false);
  assert.equal(isElsewhere("1.2.3.4", [...machines, from("1.2.3.4", 2, "9.9.9.9")]), true);
  assert.equal(isElsewhere("1.2.3.4", [from("1.2.3.4", 1, "8.8.8.8"), from("1.2.3.4", 2, "8.8.8.8")]), false);
});
