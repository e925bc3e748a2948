import assert from "node:assert/strict";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { clientAddressBehind, parseTrustedProxies } from "./trusted-proxies.ts";

function aRequest(remoteAddress: string, forwardedFor?: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, "remoteAddress", { value: remoteAddress });
  const request = new IncomingMessage(socket);
  if (forwardedFor !== undefined) request.headers["x-forwarded-for"] = forwardedFor;
  return request;
}

test("behind a load balancer an agent's address is what a trusted proxy wrote last, and never what the agent wrote", () => {
  const cases: readonly (readonly [string, string, string | undefined, string])[] = [
    ["", "192.0.2.7", "198.51.100.4", "192.0.2.7"],
    ["1", "10.0.0.1", "203.0.113.9, 198.51.100.4", "198.51.100.4"],
    ["1", "10.0.0.1", undefined, "10.0.0.1"],
    ["10.0.0.0/8", "::ffff:10.0.0.1", "203.0.113.9, 198.51.100.4, 10.0.0.2", "198.51.100.4"],
    ["10.0.0.0/8", "198.51.100.4", "203.0.113.9", "198.51.100.4"],
  ];
  for (const [proxies, remote, forwarded, expected] of cases) {
    const trusted = parseTrustedProxies(proxies);
    assert.ok(trusted);
    const { address } = clientAddressBehind(trusted)(aRequest(remote, forwarded));
    assert.equal(address, expected, `${proxies} ${remote}`);
  }
});

test("a proxy that is named by its address and says of nobody who is behind it is no address of an agent", () => {
  const cases: readonly (readonly [string, string, string | undefined, boolean])[] = [
    ["10.0.0.0/8", "::ffff:10.0.0.1", undefined, true],
    ["10.0.0.0/8", "10.0.0.1", "10.0.0.2", true],
    ["10.0.0.0/8", "10.0.0.1", "198.51.100.4", false],
    ["10.0.0.0/8", "198.51.100.4", undefined, false],
    // It may be an agent that connects without the proxy.
    ["1", "10.0.0.1", undefined, false],
    ["", "10.0.0.1", undefined, false],
  ];
  for (const [proxies, remote, forwarded, expected] of cases) {
    const trusted = parseTrustedProxies(proxies);
    assert.ok(trusted);
    assert.equal(clientAddressBehind(trusted)(aRequest(remote, forwarded)).isProxy, expected, `${proxies} ${remote}`);
  }
});
