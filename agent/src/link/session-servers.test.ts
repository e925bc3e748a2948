// One host and several servers: where it goes when its server dies, and what it says where none of them is.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FakeServer, TOKEN } from "../../test/fake-server.ts";
import { order } from "../../test/fixtures.ts";
import { useSessionWorld } from "../../test/session-world.ts";

const KEY = "k".repeat(43);

describe("a session with several servers", () => {
  const world = useSessionWorld();
  const { start, isState, running } = world;

  it("goes on at another server when its own dies: what runs is not touched, and the old credential stays at home", async () => {
    const two = await FakeServer.listen();
    Object.assign(two, { heartbeatMs: 1_000, leaseMs: 10_000, identity: { key: KEY, address: two.apiUrl } });
    world.server.servers = { addresses: [world.server.apiUrl, two.apiUrl], passKey: `7.${KEY}` };
    const { host } = start();
    world.server.desire([order(1)]);
    two.desire([order(1)]);
    await world.clock.until("running", isState(1, "running"));
    const container = host.containerOf(1)?.id;
    assert.ok(container);
    world.server.welcomes = false;
    world.server.acknowledges = false;
    world.server.peer.socket.terminate();
    await world.clock.until("news at the other server", () => two.peers.at(-1)?.reports.at(-1) !== undefined);
    await world.clock.until("what runs to be told there", () => two.observed(1)?.state === "running");
    assert.equal(host.containerOf(1)?.id, container);
    assert.equal(await running(), 1);
    assert.match(two.authorizations.at(-1) ?? "", /^Bearer berth-pass\.7\./);
    assert.ok(two.authorizations.every((shown) => shown !== `Bearer ${TOKEN}`));
    assert.deepEqual(two.problems, []);
    world.server.welcomes = true;
    world.server.acknowledges = true;
    const before = world.server.peers.length;
    await two.close();
    await world.clock.until("its return", () => world.server.peers.length > before);
    assert.equal(await running(), 1);
  });

  it("says nothing at an address where no server of its installation answers, and goes on to one that is", async () => {
    const [lure, two] = [await FakeServer.listen(), await FakeServer.listen()];
    Object.assign(two, { heartbeatMs: 1_000, leaseMs: 10_000, identity: { key: KEY, address: two.apiUrl } });
    // It passes on what a real server of another address proves.
    Object.assign(lure, { identity: { key: KEY, address: two.apiUrl } });
    world.server.servers = { addresses: [lure.apiUrl, two.apiUrl], passKey: `7.${KEY}` };
    start();
    await world.clock.until("a report", () => (world.server.peers[0]?.reports.length ?? 0) > 0);
    world.server.welcomes = false;
    world.server.peer.socket.terminate();
    await world.clock.until("the other server", () => two.peers.length > 0);
    await world.clock.until("the lure to be tried", () => {
      for (const { socket } of two.peers) socket.terminate();
      return lure.authorizations.length > 0;
    });
    assert.deepEqual(lure.peers, [], "no hello");
    for (const shown of lure.authorizations) {
      assert.match(shown ?? "", /^Bearer berth-pass\.7\./);
      assert.ok(!two.authorizations.includes(shown), "what it gets opens no other server");
    }
    await Promise.all([lure.close(), two.close()]);
  });
});
