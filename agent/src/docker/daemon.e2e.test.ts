import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { busyboxImage, docker } from "../../../test/support/docker.ts";
import { FakeServer, TOKEN } from "../../test/fake-server.ts";
import { order } from "../../test/fixtures.ts";
import { systemClock } from "../clock.ts";

const MAIN = join(import.meta.dirname, "../main.ts");

describe("the agent when the Docker daemon goes away", () => {
  let folder = "";
  let socket = "";
  let daemon: ChildProcess | undefined;
  let agent: ChildProcess | undefined;
  let server: FakeServer;

  /**
   * A daemon of the test's own, so that stopping it disturbs nobody else; in a network namespace of its own, since a
   * daemon without a bridge removes the bridge of every other one it can see.
   */
  const startDaemon = async () => {
    const folders = [
      "--data-root",
      join(folder, "data"),
      "--exec-root",
      join(folder, "exec"),
      "-p",
      join(folder, "pid"),
    ];
    const log = openSync(join(folder, "dockerd.log"), "a");
    const args = ["-H", `unix://${socket}`, ...folders, "--bridge=none", "--iptables=false"];
    daemon = spawn("unshare", ["--net", "dockerd", ...args], { stdio: ["ignore", log, log] });
    closeSync(log);
    for (let attempt = 0; attempt < 150; attempt += 1) {
      if (
        await docker("-H", `unix://${socket}`, "version").then(
          () => true,
          () => false,
        )
      )
        return;
      await systemClock.sleep(100);
    }
    throw new Error("the daemon does not start");
  };
  const end = async (child: ChildProcess | undefined) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  };

  before(async () => {
    const image = await busyboxImage();
    folder = await mkdtemp(join(tmpdir(), "berth-daemon-"));
    socket = join(folder, "docker.sock");
    server = await FakeServer.listen();
    await startDaemon();
    await docker("save", "-o", join(folder, "image.tar"), image);
    await docker("-H", `unix://${socket}`, "load", "-i", join(folder, "image.tar"));
    const args = ["--server", server.url, "--host-key", "daemon-e2e", "--state-dir", folder, "--docker-socket", socket];
    const env = { ...process.env, BERTH_AGENT_TOKEN: TOKEN, BERTH_LOG_LEVEL: "warn" };
    agent = spawn(process.execPath, [MAIN, ...args, "--no-install"], { env, stdio: "ignore" });
    server.desire([order(1, { image, command: { mode: "shell", onstart: null, jupyter: null } })]);
    await server.untilState(1, "running");
  });
  after(async () => {
    await end(agent);
    await end(daemon);
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("says that the engine is silent and keeps reporting, then reports what the restart has ended", async () => {
    await end(daemon);
    await server.until(
      "the silence",
      () => server.observed(1)?.status_msg.startsWith("the container engine is silent") === true,
    );
    const frozen = server.observed(1)?.counters.running_ms;
    const reports = server.peer.reports.length;
    await server.until("more reports", () => server.peer.reports.length > reports + 3);
    assert.equal(server.observed(1)?.counters.running_ms, frozen);
    await startDaemon();
    // A process that ended with the daemon has ended: only a newer generation starts it again.
    await server.until("its end", () => {
      const one = server.observed(1);
      return one?.state === "exited" && one.status_msg.startsWith("the main process ended");
    });
  });
});
