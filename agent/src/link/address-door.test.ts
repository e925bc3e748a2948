import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import { ManualClock } from "../../test/manual-clock.ts";
import { openAddressDoor } from "./address-door.ts";

const PLACE = { publicIpaddr: "127.0.0.1", bindAddress: "127.0.0.1" };

async function read(port: number): Promise<string> {
  let text = "";
  for await (const chunk of connect({ host: "127.0.0.1", port }).setEncoding("utf8")) text += String(chunk);
  return text;
}

/** A port that was free a moment ago. */
async function aFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test("callers at the door get the nonce of this connection, also those who came before it did, and nobody after 20 seconds", async () => {
  const clock = new ManualClock();
  const port = await aFreePort();
  const door = await openAddressDoor({ ...PLACE, clock, random: () => 0, portRange: { first: port, last: port } });
  assert.equal(door?.port, port);
  const early = read(port);
  door?.answer("nonce");
  assert.deepEqual([await early, await read(port)], ["nonce", "nonce"]);
  await clock.advance(20_001);
  await assert.rejects(read(port), /ECONNREFUSED/);
});

test("no door is opened where none is free, or for a name", async (t) => {
  const clock = new ManualClock();
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const input = { ...PLACE, clock, random: () => 0.5, portRange: { first: port, last: port } };
  assert.equal(await openAddressDoor(input), undefined);
  assert.equal(await openAddressDoor({ ...input, publicIpaddr: "host.example" }), undefined);
});
