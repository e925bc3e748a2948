import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddress } from "./worker-address.ts";

const hostPorts = new Set([80, 40_000]);

test("an address is the worker's own in every spelling", () => {
  for (const [url, ipAddress, kept] of [
    ["http://192.0.2.1:40000", "192.0.2.1", "http://192.0.2.1:40000"],
    ["HTTP://192.0.2.1", "192.0.2.1", "http://192.0.2.1:80"],
    ["http://127.0.0.1:40000/", "127.0.0.1", "http://127.0.0.1:40000"],
    ["https://[2001:DB8:0:0::1]:40000", "2001:db8::0:1", "https://[2001:db8::1]:40000"],
  ] as const) {
    assert.deepEqual(readAddress(url, { ipAddress, isOperated: true, hostPorts }), { kind: "own", url: kept });
  }
});

test("no host can lead requests to names, to this server's own link, or to an unspecified address", () => {
  for (const [hostname, ipAddress] of [
    ["169.254.169.254", "169.254.169.254"],
    ["[fe80::1]", "fe80::1"],
    ["[fd00:ec2::254]", "fd00:ec2::254%eth0"],
    ["[::ffff:a9fe:a9fe]", "::ffff:169.254.169.254"],
    ["0.0.0.0", "0.0.0.0"],
    ["[::]", "::"],
    ["224.0.0.1", "224.0.0.1"],
    ["255.255.255.255", "255.255.255.255"],
    ["localhost", "localhost"],
    ["metadata.internal", "metadata.internal"],
  ] as const) {
    assert.deepEqual(
      readAddress(`http://${hostname}:80`, { ipAddress, isOperated: true, hostPorts }),
      { kind: "foreign" },
      ipAddress,
    );
    assert.deepEqual(readAddress(`http://${hostname}:80`, { ipAddress, isOperated: true, hostPorts: undefined }), {
      kind: "foreign",
    });
  }
});

test("a host that the operator does not answer for leads no request into a private network", () => {
  for (const ipAddress of ["10.1.2.3", "172.16.0.1", "192.168.1.1", "127.0.0.1", "100.64.0.1"]) {
    const site = { ipAddress, hostPorts };
    assert.deepEqual(readAddress(`http://${ipAddress}:80`, { ...site, isOperated: false }), { kind: "private" });
    assert.equal(readAddress(`http://${ipAddress}:80`, { ...site, isOperated: true }).kind, "own");
  }
  const open = { ipAddress: "9.9.9.9", hostPorts, isOperated: false };
  assert.equal(readAddress("http://9.9.9.9:80", open).kind, "own");
  const unique = { ipAddress: "fd00::1", hostPorts, isOperated: false };
  assert.equal(readAddress("http://[fd00::1]:80", unique).kind, "private");
});
