// A host of its own (network namespace, Docker Engine, agent) under faults: its engine restarts, its connection is cut,
// its agent is killed at any moment.
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { DesiredInstance } from "../wire/messages.ts";
import { busyboxImage } from "../../../test/support/hosts/docker.ts";
import { mountsBelow } from "../../../test/support/hosts/mounts.ts";
import { otherHost, type OtherHost } from "../../../test/support/hosts/other-host.ts";
import { until } from "../../../test/support/until.ts";
import { FakeServer } from "../../test/fake-server.ts";
import { order } from "../../test/fixtures.ts";
import { RealAgent } from "../../test/real-agent.ts";

const SUBNET = "10.213.20";
/** Moments within a job of some hundred milliseconds at which the agent is killed. */
const KILL_AFTER_MS = [0, 15, 40, 80, 130, 190, 260, 400];

describe("a host to which things happen", () => {
  let host: OtherHost;
  let agent: RealAgent;
  let server: FakeServer;
  /** On the host, and of a registry that refuses at once: asking it again, as a newer revision does, takes no time. */
  const image = "127.0.0.1:1/berth-test/busybox:latest";

  const rented = (instanceId: number, changes: Partial<DesiredInstance> = {}) =>
    order(instanceId, { image, command: { mode: "shell", onstart: null, jupyter: null }, ...changes });
  const nameOf = (id: number, generation = 1) => `berth-${id}-g${generation}`;
  const isRunning = async (name: string) =>
    (await host.docker("inspect", "-f", "{{.State.Running}}", name).catch(() => "")) === "true";
  const remove = async (...ids: readonly number[]) => {
    const gone = ids.map((id) => rented(id, { generation: server.observed(id)?.generation ?? 1, run: "absent" }));
    server.desire(gone);
    for (const id of ids) await until(`${id} gone`, () => server.observed(id)?.state === "absent");
  };
  /** Sets the lease of the next welcome, which comes at once. */
  const lease = async (leaseMs: number) => {
    server.leaseMs = leaseMs;
    const known = server.peers.length;
    server.peers.at(-1)?.socket.terminate();
    await until("another welcome", () => server.peers.length > known);
  };
  const nothingIsLeft = async () => {
    assert.equal(await host.docker("ps", "-aq"), "");
    assert.deepEqual(await mountsBelow(agent.stateDir), []);
    assert.deepEqual(await readdir(join(agent.stateDir, "disks")), []);
  };

  before(async () => {
    const local = await busyboxImage();
    host = await otherHost(SUBNET);
    await host.docker("tag", local, image);
    server = await FakeServer.listen(0, host.machine.gateway);
    const flags = ["--port-range", "27800-27820", "--docker-socket", host.socket];
    agent = await RealAgent.start("convergence-e2e", flags, { prefix: host.prefix, server });
  });
  after(async () => {
    await agent.kill("SIGKILL");
    await host.close();
    await agent.close();
  });

  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    it(`${signal} to its Docker Engine: what ran runs again, with its files, and its count goes on`, async () => {
      server.desire([rented(1)]);
      await server.untilState(1, "running");
      await host.docker("exec", nameOf(1), "sh", "-c", "echo precious > /root/kept");
      await until("seconds that were counted", () => (server.observed(1)?.counters.runningMs ?? 0) > 0);
      const counted = server.observed(1)?.counters.runningMs ?? 0;
      await host.stopDocker(signal);
      await until("the agent to notice", () => /silent/.test(server.observed(1)?.statusMsg ?? ""));
      await host.startDocker();
      await until("it runs again", () => isRunning(nameOf(1)));
      assert.equal(await host.docker("exec", nameOf(1), "cat", "/root/kept"), "precious");
      await until("the count goes on", () => (server.observed(1)?.counters.runningMs ?? 0) > counted);
      assert.equal(server.observed(1)?.state, "running");
      await remove(1);
      await nothingIsLeft();
    });
  }

  it("its Docker Engine is restarted during an eviction notice: that run is over and not begun again", async () => {
    const notice = { reason: "outbid" as const, remainingMs: 600_000, message: "" };
    server.desire([rented(5), rented(6)]);
    for (const id of [5, 6]) await server.untilState(id, "running");
    server.desire([rented(5, { notice }), rented(6)]);
    await until("it is told", () => host.docker("exec", nameOf(5), "ls", "/run/berth/interruption.json"));
    await host.stopDocker("SIGKILL");
    await host.startDocker();
    await until("the other runs again", () => isRunning(nameOf(6)));
    await until("it is stopped", () => server.observed(5)?.state === "stopped");
    assert.equal(await isRunning(nameOf(5)), false);
    await remove(5, 6);
    await nothingIsLeft();
  });

  it("a container that was removed while it ran is made again on its disk, with its files", async () => {
    server.desire([rented(4)]);
    await server.untilState(4, "running");
    await host.docker("exec", nameOf(4), "sh", "-c", "echo precious > /root/kept");
    const first = await host.docker("inspect", "-f", "{{.Id}}", nameOf(4));
    await host.docker("rm", "-f", nameOf(4));
    await until("another container", async () => {
      const now = await host.docker("inspect", "-f", "{{.Id}} {{.State.Running}}", nameOf(4)).catch(() => "");
      return now.endsWith(" true") && !now.startsWith(first);
    });
    assert.equal(await host.docker("exec", nameOf(4), "cat", "/root/kept"), "precious");
    await remove(4);
    await nothingIsLeft();
  });

  it("cut off for longer than its lease, it stops by itself what it runs, and goes on when the line is mended", async (t) => {
    await lease(3_000);
    // So short a lease ends also when a busy machine stands still, which nothing else here is to notice.
    t.after(() => lease(60_000));
    server.desire([rented(2)]);
    await server.untilState(2, "running");
    await host.machine.setLink("down");
    await until("the container stopped by the host itself", async () => !(await isRunning(nameOf(2))));
    await host.machine.setLink("up");
    await until("it runs again", () => isRunning(nameOf(2)));
    await until("the server hears of it", () => server.observed(2)?.state === "running");
    await remove(2);
    await nothingIsLeft();
  });

  it("killed at any moment of creating, restarting, remaking and removing, the next agent finishes the work", async () => {
    const steps: readonly DesiredInstance[] = [
      rented(3),
      rented(3, { generation: 2, env: [["CHANGED", "yes"]] }),
      rented(3, { generation: 3, revision: 1 }),
      rented(3, { generation: 3, revision: 1, run: "stopped" }),
      rented(3, { generation: 3, revision: 1, run: "absent" }),
    ];
    for (const [index, step] of steps.entries()) {
      const kills = KILL_AFTER_MS.filter((_, place) => place % steps.length === index || place === index);
      server.desire([step]);
      for (const ms of kills) {
        await until("a sign of life", () => (server.peers.at(-1)?.reports.length ?? 0) > 0);
        // The delay waits for nothing: it is the moment at which the agent is killed.
        await delay(ms);
        await agent.kill("SIGKILL");
        agent.spawn();
      }
      await until(`${step.run} in generation ${step.generation}`, () => {
        const seen = server.observed(3);
        return seen?.state === step.run && seen.generation === step.generation;
      });
      // A name that the one before had still to settle comes a moment after the run.
      const expected = step.run === "absent" ? "" : nameOf(3, step.generation);
      await until(`no container but "${expected}"`, async () => {
        assert.equal(await host.docker("ps", "-a", "--format", "{{.Names}}"), expected);
        return true;
      });
    }
    await nothingIsLeft();
  });
});
