import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { order } from "../../test/fixtures.ts";
import { useSessionWorld } from "../../test/session-world.ts";
import { fail, type Container } from "../engine/engine.ts";

describe("a session and the notes it keeps", () => {
  const world = useSessionWorld();
  const { notebook, start, isState, running } = world;

  it("restarting the agent does not prolong a lease", async () => {
    const notesStore = notebook();
    const first = start({ notesStore });
    world.server.desire([order(1)]);
    await world.clock.until("running", isState(1, "running"));
    await world.clock.advance(3_000);
    world.server.acknowledges = false;
    world.server.welcomes = false;
    await world.clock.advance(6_000);
    await first.close();
    start({ notesStore, engine: world.engine });
    await world.clock.advance(6_000);
    assert.equal(await running(), 0);
  });

  it("a new agent adopts what runs, and its counters go on", async () => {
    const first = start();
    world.server.desire([order(1)]);
    await world.clock.until("running", isState(1, "running"));
    await world.clock.advance(5_000);
    const before = world.server.observed(1)?.counters.runningMs ?? 0;
    await first.close();
    await world.clock.advance(1_000);
    start();
    await world.clock.until("a second hello", () => world.server.peers.length >= 2);
    await world.clock.until("running", isState(1, "running"));
    assert.ok((world.server.observed(1)?.counters.runningMs ?? 0) >= before + 1_000);
    assert.equal(await running(), 1);
  });

  it("a run that begins while no server is there is noted at once, and its length every few seconds", async () => {
    const notesStore = notebook();
    start({ notesStore });
    world.server.desire([order(1)]);
    await world.clock.until("the order", () => world.server.observed(1) !== undefined);
    world.server.welcomes = false;
    world.server.peer.socket.terminate();
    await world.clock.until("running", () => notesStore.load()?.running.length === 1);
    await world.clock.advance(9_000);
    const counted = notesStore.load()?.meters["1:1"]?.run.runningMs ?? 0;
    assert.ok(counted >= 4_000 && counted <= 9_000, String(counted));
    assert.ok(!isState(1, "running")(), "nobody was told");
  });

  it("a run that ends with its container is counted to its very end, however slowly that comes and goes", async () => {
    const { engine, clock } = world;
    const ended: Container[] = [];
    const later = () =>
      new Promise<void>((resolve) => {
        const stopWaiting = clock.every(3_000, () => {
          stopWaiting();
          resolve();
        });
      });
    const stop = engine.stop.bind(engine);
    const remove = engine.remove.bind(engine);
    engine.stop = async (id, graceMs) => {
      await later();
      return stop(id, graceMs);
    };
    engine.remove = async (id) => {
      const found = await engine.inspect(id);
      if (found.ok) ended.push(found.value);
      await later();
      return remove(id);
    };
    const notesStore = notebook();
    start({ notesStore });
    world.server.desire([order(1)]);
    await clock.until("running", isState(1, "running"));
    await clock.advance(2_000);
    world.server.desire([order(1, { run: "absent" })]);
    await clock.until("its end", () => ended.length === 1);
    const ranMs = (ended[0]?.finishedAtMs ?? 0) - (ended[0]?.startedAtMs ?? 0);
    assert.ok(ranMs >= 5_000);
    await clock.until("a note of it", () => notesStore.load()?.meters["1:1"]?.run.runningMs === ranMs);
    assert.ok(!isState(1, "absent")(), "the engine still has it");
    await clock.until("gone", isState(1, "absent"));
    assert.equal(world.server.observed(1)?.counters.runningMs, ranMs);
  });

  it("notes of what nobody can be told are written every few seconds, and not at each look at the clock", async () => {
    const store = notebook();
    let count = 0;
    const save: typeof store.save = (notes) => {
      count += 1;
      store.save(notes);
    };
    world.server.welcomes = false;
    start({ notesStore: { ...store, save } });
    await world.clock.until("a hello", () => world.server.peers.length > 0);
    await world.clock.until("first notes", () => count > 0);
    const before = count;
    await world.clock.advance(15_000);
    assert.ok(count - before <= 4, String(count - before));
  });

  it("an agent that has not seen its engine yet leaves the notes of the one before as they are", async () => {
    const notesStore = notebook();
    const first = start({ notesStore });
    world.server.desire([order(1)]);
    await world.clock.until("running", isState(1, "running"));
    await first.close();
    const kept = notesStore.load();
    world.engine.list = () => Promise.resolve(fail("unreachable", "not up yet"));
    const next = start({ notesStore });
    await world.clock.until("a second hello", () => world.server.peers.length >= 2);
    await world.clock.advance(6_000);
    await next.close();
    assert.deepEqual(notesStore.load(), kept);
  });
});
