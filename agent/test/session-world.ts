import assert from "node:assert/strict";
import { afterEach, beforeEach } from "node:test";
import { parseServerUrl } from "../../protocol/index.ts";
import { simulatedDisks } from "../src/disks/index.ts";
import type { Engine } from "../src/engine/engine.ts";
import { noGpuAccess } from "../src/gpu/index.ts";
import { LABEL_HOST } from "../src/instances/identity.ts";
import { silentLog, type Log } from "../src/base/log.ts";
import { noNetwork } from "../src/network/network.ts";
import type { Notes, NotesStore } from "../src/instances/notes.ts";
import type { ProofStore } from "../src/link/proof.ts";
import { noRegistries } from "../src/images/registries.ts";
import { startHost, type RunningHost } from "../src/run-host.ts";
import { KnownServers } from "../src/link/servers.ts";
import type { KeptServers } from "../src/link/servers-store.ts";
import { createSimulatedEngine } from "../src/simulated/engine.ts";
import { inventMachine } from "../src/simulated/machine.ts";
import { FakeServer, TOKEN } from "./fake-server.ts";
import { Loopback } from "./loopback.ts";
import { ManualClock } from "./manual-clock.ts";

export const HOST_KEY = "session-test";
const portRange = { first: 30_000, last: 30_100 };

export type SessionWorld = {
  readonly server: FakeServer;
  readonly clock: ManualClock;
  readonly engine: Engine;
  /** Notes that outlive a host within one test. */
  readonly notebook: () => NotesStore;
  /** Starts a host, which is closed after the test. */
  readonly start: (changes?: {
    notesStore?: NotesStore;
    engine?: Engine;
    proofStore?: ProofStore;
    log?: Log;
  }) => RunningHost;
  /** Returns a question that is true when the newest report shows an instance in this state. */
  readonly isState: (instanceId: number, state: string, generation?: number) => () => boolean;
  /** How many containers of the host run. */
  readonly running: () => Promise<number>;
};

/** An agent that joined at this server, and keeps what it is told of others while the test lasts. */
function knownOf(url: string): KnownServers {
  const home = parseServerUrl(url);
  assert.ok(home);
  let kept: KeptServers | undefined;
  return new KnownServers({ home, token: TOKEN, store: { load: () => kept, save: (servers) => (kept = servers) } });
}

/** Gives each test of the surrounding `describe` a new server, clock and engine, and tidies up after it. */
export function useSessionWorld(): SessionWorld {
  let server: FakeServer;
  let loopback: Loopback;
  let clock: ManualClock;
  let engine: Engine;
  const hosts: RunningHost[] = [];

  const notebook = (): NotesStore => {
    let kept: Notes | undefined;
    return { load: () => kept, save: (notes) => (kept = structuredClone(notes)) };
  };
  const start: SessionWorld["start"] = (changes = {}) => {
    const publicIpaddr = "127.0.0.1";
    const inventory = inventMachine({ hostKey: HOST_KEY, number: 1, publicIpaddr, portRange });
    const host = startHost({
      clock,
      random: () => 0.5,
      log: silentLog,
      servers: knownOf(server.url).choose(() => 0.5),
      hostKey: HOST_KEY,
      bootId: "boot-1",
      engine,
      disks: simulatedDisks(),
      network: noNetwork,
      ssh: undefined,
      commonMounts: [],
      sandbox: undefined,
      inventory,
      gpuAccess: noGpuAccess,
      isDiskLow: () => Promise.resolve(false),
      publicIpaddr,
      bindAddress: publicIpaddr,
      portRange,
      isPortFree: () => Promise.resolve(true),
      refuseRegistry: noRegistries,
      localImages: [],
      notesStore: notebook(),
      delayMs: 0,
      ...changes,
    });
    hosts.push(host);
    return host;
  };
  const isState: SessionWorld["isState"] =
    (instanceId, state, generation = 1) =>
    () => {
      const one = server.observed(instanceId);
      return one?.state === state && one.generation === generation;
    };
  const running = async () => {
    const listed = await engine.list(LABEL_HOST, HOST_KEY);
    assert.ok(listed.ok);
    return listed.value.filter((one) => one.phase === "running").length;
  };

  beforeEach(async () => {
    server = await FakeServer.listen();
    server.heartbeatMs = 1_000;
    server.leaseMs = 10_000;
    loopback = await Loopback.open();
    // No time passes while a message is on its way.
    clock = new ManualClock(() => loopback.pass());
    engine = createSimulatedEngine({ clock, random: () => 0.5 });
  });
  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.close();
    await server.close();
    loopback.close();
    assert.deepEqual(server.problems, []);
  });

  return {
    get server() {
      return server;
    },
    get clock() {
      return clock;
    },
    get engine() {
      return engine;
    },
    notebook,
    start,
    isState,
    running,
  };
}
