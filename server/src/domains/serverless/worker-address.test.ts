import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddress } from "./worker-address.ts";

const hostPorts = new Set([80, 40_000]);

test("an address is the worker's own in every way of writing it", () => {
  for (const [url, ipAddress, kept] of [
    ["http://192.0.2.1:40000", "192.0.2.1", "http://192.0.2.1:40000"],
    ["HTTP://192.0.2.1", "192.0.2.1", "http://192.0.2.1:80"],
    ["http://127.0.0.1:40000/", "127.0.0.1", "http://127.0.0.1:40000"],
    ["https://[2001:DB8:0:0::1]:40000", "2001:db8::0:1", "https://[2001:db8::1]:40000"],
  ] as const) {
    assert.deepEqual(readAddress(url, { ipAddress, hostPorts }), { kind: "own", url: kept });
  }
});

test("no host can lead requests to names, to this server's own link, or to nobody in particular", () => {
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
    assert.deepEqual(readAddress(`http://${hostname}:80`, { ipAddress, hostPorts }), { kind: "foreign" }, ipAddress);
    assert.deepEqual(readAddress(`http://${hostname}:80`, { ipAddress, hostPorts: undefined }), { kind: "foreign" });
  }
});
