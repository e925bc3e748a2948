import assert from "node:assert/strict";
import { test } from "node:test";
import { readEnvironment } from "./environment.ts";

const given = {
  CONTAINER_ID: "12",
  MASTER_TOKEN: "secret",
  REPORT_ADDR: "http://172.18.0.1:18432/, https://berth.example.com",
  VAST_TCP_PORT_3000: "20007",
  PUBLIC_IPADDR: "192.0.2.5",
};

test("a worker reads its identity and its address from its variables", () => {
  assert.deepEqual(readEnvironment(given, false), {
    ok: true,
    environment: {
      ...{ id: 12, token: "secret", port: 3000, innerPort: 3001, isSecure: false, isUnsecured: false },
      url: "http://192.0.2.5:20007",
      reportAddresses: ["http://172.18.0.1:18432", "https://berth.example.com"],
    },
  });
  const other = { ...given, WORKER_PORT: "9000", WORKER_HTTP_PORT: "9100", VAST_TCP_PORT_9000: "20008" };
  for (const PUBLIC_IPADDR of ["2001:db8::1", "2001:0DB8:0::1"]) {
    const read = readEnvironment({ ...other, PUBLIC_IPADDR }, false);
    assert.ok(read.ok);
    const { port, innerPort, url } = read.environment;
    assert.deepEqual([port, innerPort, url], [9000, 9100, "http://[2001:db8::1]:20008"], PUBLIC_IPADDR);
  }
  const wrong = readEnvironment({ ...other, PUBLIC_IPADDR: "2001:db8:::1" }, false);
  assert.ok(!wrong.ok);
  assert.deepEqual(wrong.problems, ["PUBLIC_IPADDR is not an address"]);
});

test("the worker's address uses TLS only with a certificate for it", () => {
  for (const [USE_SSL, hasCertificate, scheme] of [
    ["true", true, "https:"],
    ["true", false, "http:"],
    ["false", true, "http:"],
  ] as const) {
    const read = readEnvironment({ ...given, USE_SSL }, hasCertificate);
    assert.ok(read.ok);
    assert.equal(new URL(read.environment.url).protocol, scheme);
  }
});

test("each missing or invalid variable is named, and no value is shown", () => {
  const read = readEnvironment({ CONTAINER_ID: "x", MASTER_TOKEN: "two words", PUBLIC_IPADDR: "a b" }, false);
  assert.ok(!read.ok);
  assert.deepEqual(read.problems, [
    "CONTAINER_ID is not the number of an instance",
    "MASTER_TOKEN is not a token",
    "REPORT_ADDR is not set",
    "VAST_TCP_PORT_3000 is not set",
    "PUBLIC_IPADDR is not an address",
  ]);
  assert.equal(read.speaker, undefined);
});
