import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePortName, portNameOf } from "./port-name.ts";

const DOMAIN = "ports.example.com";

test("a port name says the instance and the port, in any case and with the port of the server", () => {
  const name = { instanceId: 7, port: 8080 };
  assert.deepEqual(parsePortName(portNameOf(name, DOMAIN), DOMAIN), name);
  assert.deepEqual(parsePortName("7-8080.PORTS.example.com:8443", DOMAIN), name);
});

test("any other host names no port", () => {
  const labels = [
    "",
    "7",
    "7-",
    "-80",
    "0-80",
    "7-0",
    "07-80",
    "7-080",
    "7-65536",
    "2147483648-80",
    "7-80-1",
    "x7-80",
    "7-80.a",
  ];
  for (const label of labels) assert.equal(parsePortName(`${label}.${DOMAIN}`, DOMAIN), undefined, label);
  for (const host of [
    undefined,
    DOMAIN,
    `7-80.${DOMAIN}.evil.example`,
    "7-80.example.com",
    `7-80x${DOMAIN}`,
    `7-80.${DOMAIN}:x`,
  ]) {
    assert.equal(parsePortName(host, DOMAIN), undefined, host);
  }
});
