import assert from "node:assert/strict";
import { noRegistries } from "../images/registries.ts";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { DesiredInstance, Notice } from "../wire/messages.ts";
import { order } from "../../test/fixtures.ts";
import { ManualClock } from "../../test/manual-clock.ts";
import { simulatedDisks } from "../disks/index.ts";
import type { Engine } from "../engine/engine.ts";
import { Host } from "../instances/host.ts";
import { silentLog } from "../base/log.ts";
import { noNetwork } from "../network/network.ts";
import type { Notes } from "../instances/notes.ts";
import { createSimulatedEngine } from "../simulated/engine.ts";

const NOTICE_MS = 30_000;
const notice: Notice = { reason: "on_demand", remainingMs: NOTICE_MS, message: "rented on demand" };

describe("a host with an eviction notice for an instance", () => {
  let clock: ManualClock;
  let engine: Engine;
  let host: Host;
  let version = 0;

  const startHost = async (notes?: Notes) => {
    const spec = { hostKey: "notice", publicIpaddr: "127.0.0.1", bindAddress: "127.0.0.1", cpuCores: 4 };
    host = new Host({
      ...{ clock, engine, notes, disks: simulatedDisks(), network: noNetwork, ssh: undefined, bootId: "boot" },
      settings: {
        spec: { ...spec, realGpuUuids: new Set() },
        portRange: { first: 30_000, last: 30_100 },
        stopGraceMs: 10_000,
        leaseGraceMs: 2_000,
        commonMounts: [],
        localImages: [],
      },
      random: () => 0.5,
      isPortFree: () => Promise.resolve(true),
      refuseRegistry: noRegistries,
      log: silentLog,
      isDiskLow: () => Promise.resolve(false),
      onChange: () => undefined,
    });
    await host.begin();
  };
  const desire = (...instances: readonly DesiredInstance[]) => {
    version += 1;
    host.setDesired({ kind: "desired", version, instances: [...instances], volumes: [] });
  };
  const seen = (instanceId = 1) => host.report().instances.findLast((one) => one.instanceId === instanceId);
  const until = (state: string, generation = 1) =>
    clock.until(state, () => seen()?.state === state && seen()?.generation === generation);
  const runs = async () => {
    desire(order(1));
    await until("running");
  };

  beforeEach(async () => {
    clock = new ManualClock();
    engine = createSimulatedEngine({ clock, random: () => 0.5 });
    await startHost();
  });
  afterEach(() => host.close());

  it("lets it run to the end, stops it, and starts it again in a newer generation only", async () => {
    await runs();
    desire(order(1, { notice }));
    await clock.advance(NOTICE_MS - 100);
    assert.equal(seen()?.state, "running");
    await clock.advance(300);
    assert.equal(seen()?.state, "stopped");
    desire(order(1, { notice }));
    await clock.advance(5_000);
    desire(order(1));
    await clock.advance(5_000);
    assert.equal(seen()?.state, "stopped");
    desire(order(1, { generation: 2 }));
    await until("running", 2);
    await clock.advance(NOTICE_MS);
    assert.equal(seen()?.state, "running");
  });

  it("stops it as soon as the checkpoint command is done, with any exit code", async () => {
    await runs();
    desire(order(1, { notice, checkpointCommand: "./save" }));
    await clock.advance(1_000);
    assert.equal(seen()?.state, "stopped");
  });

  it("an order without a notice takes it back", async () => {
    await runs();
    desire(order(1, { notice }));
    await clock.advance(10_000);
    desire(order(1));
    await clock.advance(2 * NOTICE_MS);
    assert.equal(seen()?.state, "running");
  });

  it("a nearer end counts at once, a farther one not at all", async () => {
    await runs();
    desire(order(1, { notice }));
    desire(order(1, { notice: { ...notice, remainingMs: 2_000 } }));
    desire(order(1, { notice }));
    await clock.advance(2_300);
    assert.equal(seen()?.state, "stopped");
  });

  it("a run that has ended by itself is stopped, and what has not begun does not begin", async () => {
    desire(order(1, { image: "example/app:exit-0" }));
    await until("exited");
    desire(order(1, { image: "example/app:exit-0", notice }), order(2, { notice }));
    await clock.advance(1_000);
    assert.deepEqual([seen()?.state, seen(2)?.state], ["stopped", "created"]);
  });

  it("another agent goes on with the end that the first had fixed, and leaves what was over as it is", async () => {
    await runs();
    desire(order(1, { notice }));
    await clock.advance(20_000);
    const noted = (): Notes => {
      const notes = host.notes();
      assert.ok(notes);
      return { bootId: "boot", lease: { grantedAtMs: 0, leaseMs: 0 }, ...notes };
    };
    let notes = noted();
    // The engine outlives the agent.
    engine.close = () => undefined;
    host.close();
    await startHost(notes);
    desire(order(1, { notice }));
    await clock.advance(9_800);
    assert.equal(seen()?.state, "running");
    await clock.advance(500);
    assert.equal(seen()?.state, "stopped");
    notes = noted();
    host.close();
    await startHost(notes);
    desire(order(1));
    await clock.advance(5_000);
    assert.equal(seen()?.state, "stopped");
  });
});
