import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, before, beforeEach, describe, it } from "node:test";
import type { DesiredInstance, LaunchCommand } from "../wire/messages.ts";
import { busyboxImage, docker, OPEN_HOST, removeLabelled } from "../../../test/support/hosts/docker.ts";
import { removeRemains } from "../../../test/support/hosts/host-remains.ts";
import { until } from "../../../test/support/until.ts";
import { FakeServer, TOKEN } from "../../test/fake-server.ts";
import { order as plainOrder } from "../../test/fixtures.ts";
import { LABEL_HOST } from "../instances/identity.ts";

// Instances have numbers that nobody else's containers on this machine have, since those make their names.
const HOST_KEY = "agent-e2e";
const MAIN = join(import.meta.dirname, "../main.ts");
const HTTPD = "mkdir -p /www && echo berth-was-here > /www/index.html && httpd -f -p 8080 -h /www";

describe("the agent with a real Docker Engine", () => {
  let image = "";
  let stateDir = "";
  let server: FakeServer;
  const agents = new Set<ChildProcess>();

  const startAgent = () => {
    const args = ["--server", server.url, "--host-key", HOST_KEY, "--state-dir", stateDir, "--no-install"];
    const ports = ["--port-range", "27500-27600", "--declare-gpus", "RTX 4090:2"];
    const env = { ...process.env, ...OPEN_HOST, BERTH_AGENT_TOKEN: TOKEN, BERTH_LOG_LEVEL: "info" };
    const agent = spawn(process.execPath, [MAIN, ...args, ...ports], { env, stdio: ["ignore", "ignore", "pipe"] });
    agents.add(agent);
    agent.once("exit", () => agents.delete(agent));
    return agent;
  };
  const kill = async (agent: ChildProcess, signal: NodeJS.Signals) => {
    const exited = once(agent, "exit");
    agent.kill(signal);
    return exited;
  };
  const order = (id: number, changes: Partial<DesiredInstance> = {}) =>
    plainOrder(id, { image, command: { mode: "shell", onstart: null, jupyter: null }, ...changes });
  const ids = async () =>
    (await docker("ps", "-aq", "--no-trunc", "--filter", `label=${LABEL_HOST}=${HOST_KEY}`))
      .split("\n")
      .filter(Boolean);
  const names = async () =>
    (await docker("ps", "-a", "--format", "{{.Names}}", "--filter", `label=${LABEL_HOST}=${HOST_KEY}`))
      .split("\n")
      .filter(Boolean);

  before(async () => {
    image = await busyboxImage();
  });
  beforeEach(async () => {
    await removeLabelled(LABEL_HOST, HOST_KEY);
    stateDir = await mkdtemp(join(tmpdir(), "berth-agent-"));
    server = await FakeServer.listen();
  });
  afterEach(async () => {
    for (const agent of agents) await kill(agent, "SIGKILL");
    await server.close();
    await removeRemains(HOST_KEY, stateDir);
    await rm(stateDir, { recursive: true, force: true });
  });
  it("creates, publishes a port that answers, stops, starts again and leaves nothing", async () => {
    startAgent();
    const command = { mode: "entrypoint", entrypointShell: HTTPD, args: null } as const;
    const ports = [{ containerPort: 8080, protocol: "tcp" as const }];
    const env: [string, string][] = [
      ["GREETING", "hello world"],
      ["NVIDIA_VISIBLE_DEVICES", "all"],
    ];
    const gpuUuids = [`declared-${HOST_KEY}-0`];
    const web = (changes: Partial<DesiredInstance>) => order(51_007, { command, ports, env, gpuUuids, ...changes });
    server.desire([web({ generation: 1 })]);
    const running = await server.untilState(51_007, "running", 1);
    assert.equal(running.statusMsg, `success, running ${image}/args`);
    const port = running.ports["8080/tcp"];
    assert.ok(port !== undefined && port >= 27_500 && port <= 27_600);
    // Its process runs a moment before it listens.
    const page = await until("its page", async () => (await fetch(`http://127.0.0.1:${port}/`)).text());
    assert.equal(page.trim(), "berth-was-here");
    const seen = await docker("exec", "berth-51007-g1", "env");
    for (const line of [
      "GREETING=hello world",
      `VAST_TCP_PORT_8080=${port}`,
      "PUBLIC_IPADDR=127.0.0.1",
      "GPU_COUNT=1",
      "NVIDIA_VISIBLE_DEVICES=void",
    ]) {
      assert.ok(seen.split("\n").includes(line), line);
    }

    await docker("exec", "berth-51007-g1", "sh", "-c", "echo kept > /root/kept");
    server.desire([web({ generation: 1, run: "stopped" })]);
    const stopped = await server.untilState(51_007, "stopped", 1);
    assert.deepEqual(stopped.ports, {});
    assert.ok(stopped.counters.runningMs > 0 && stopped.counters.receivedBytes > 0);

    server.desire([web({ generation: 2 })]);
    const again = await server.untilState(51_007, "running", 2);
    assert.equal(again.ports["8080/tcp"], port);
    assert.equal(await docker("exec", "berth-51007-g2", "cat", "/root/kept"), "kept");
    assert.deepEqual(await names(), ["berth-51007-g2"]);

    server.desire([web({ generation: 2, run: "absent" })]);
    const absent = await server.untilState(51_007, "absent", 2);
    assert.ok(absent.counters.runningMs > 0);
    assert.deepEqual(await ids(), []);
    assert.deepEqual(server.problems, []);
  });

  it("kill -9 and a new agent: the same container runs on and its counters go on", async () => {
    const first = startAgent();
    server.desire([order(51_008)]);
    const before = await server.untilState(51_008, "running");
    const [id] = await ids();
    await kill(first, "SIGKILL");
    startAgent();
    await server.until("a second agent", () => server.peers.length === 2);
    const after = await server.untilState(51_008, "running");
    assert.deepEqual(await ids(), [id]);
    assert.ok(after.counters.runningMs >= before.counters.runningMs);
  });

  it("kill -9 between the steps of a restart: the next agent finishes it from names and labels alone", async () => {
    const first = startAgent();
    server.desire([order(51_009)]);
    await server.untilState(51_009, "running", 1);
    const [id = ""] = await ids();
    server.desire([order(51_009, { generation: 1, run: "stopped" })]);
    await server.untilState(51_009, "stopped", 1);
    await kill(first, "SIGKILL");
    const startedAtMs = Date.parse(await docker("inspect", "-f", "{{.State.StartedAt}}", id));
    // The state in which an agent leaves it that dies after renaming for generation 2 and before starting.
    await docker("rename", id, `berth-51009-g2.after-${startedAtMs}`);
    await rm(join(stateDir, `notes-${HOST_KEY}.json`));
    server.desire([order(51_009, { generation: 2 })]);
    const second = startAgent();
    await server.untilState(51_009, "running", 2);
    assert.deepEqual([await ids(), await names()], [[id], ["berth-51009-g2"]]);
    // And after starting, before the last rename.
    await kill(second, "SIGKILL");
    const restarted = await docker("inspect", "-f", "{{.State.StartedAt}}", id);
    await docker("rename", id, `berth-51009-g2.after-${startedAtMs}`);
    const connections = server.peers.length;
    startAgent();
    await server.until("a third agent", () => server.peers.length > connections);
    await server.untilState(51_009, "running", 2);
    await server.until("settled name", () => server.observed(51_009)?.state === "running");
    assert.equal(await docker("inspect", "-f", "{{.State.StartedAt}}", id), restarted);
  });

  it("SIGTERM ends the agent with code 0 and leaves containers running", async () => {
    const agent = startAgent();
    server.desire([order(51_010)]);
    await server.untilState(51_010, "running");
    assert.deepEqual(await kill(agent, "SIGTERM"), [0, null]);
    const [id = ""] = await ids();
    assert.equal(await docker("inspect", "-f", "{{.State.Running}}", id), "true");
  });

  it("removes a labelled container that the server does not name, and no other", async () => {
    const labels = ["--label", `${LABEL_HOST}=${HOST_KEY}`, "--label", "berth.instance_id=4711"];
    await docker("run", "-d", "--name", "berth-4711-g3", ...labels, image);
    const stranger = await docker(
      "run",
      "-d",
      "--label",
      `${LABEL_HOST}=somebody-else`,
      "--label",
      "berth.instance_id=4712",
      image,
    );
    startAgent();
    server.desire([]);
    await server.until("the orphan gone", () => {
      const last = server.peers.at(-1)?.reports.at(-1);
      return last !== undefined && last.desiredVersion > 0 && last.instances.every((one) => one.state === "absent");
    });
    assert.deepEqual(await ids(), []);
    assert.equal(await docker("inspect", "-f", "{{.State.Running}}", stranger), "true");
    await docker("rm", "-f", stranger);
  });

  it("a process that ends by itself is reported with its code and stays ended", async () => {
    startAgent();
    const command = { mode: "entrypoint", entrypointShell: "exit 3", args: null } as const;
    server.desire([order(51_011, { command })]);
    const exited = await server.untilState(51_011, "exited", 1);
    assert.equal(exited.exitCode, 3);
    const [id = ""] = await ids();
    const started = await docker("inspect", "-f", "{{.State.StartedAt}}", id);
    const reports = server.peer.reports.length;
    await server.until("two more heartbeats", () => server.peer.reports.length > reports + 2);
    assert.equal(await docker("inspect", "-f", "{{.State.StartedAt}}", id), started);
  });

  it("a shell container runs its onstart at every start and answers a stop promptly", async () => {
    startAgent();
    const command = { mode: "shell", onstart: "echo started with $MARK", jupyter: null } as const;
    const shell = (changes: Partial<DesiredInstance>) => order(51_012, { command, env: [["MARK", "a b"]], ...changes });
    server.desire([shell({})]);
    await server.untilState(51_012, "running", 1);
    const [id = ""] = await ids();
    await untilLogged(id, 1);
    assert.equal(await docker("exec", id, "cat", "/.launch"), "shell");
    server.desire([shell({ run: "stopped" })]);
    await server.untilState(51_012, "stopped", 1);
    const code = await docker("inspect", "-f", "{{.State.ExitCode}}", id);
    assert.equal(code, "143", "it ended by itself, and was not killed when the grace was over");
    server.desire([shell({ generation: 2 })]);
    await server.untilState(51_012, "running", 2);
    await untilLogged(id, 2);
  });

  it("a tenant's container has no privileges and the limits of its order", async () => {
    startAgent();
    server.desire([order(51_013, { cpuMillis: 500, memoryBytes: 64 * 2 ** 20, hostname: "rented" })]);
    await server.untilState(51_013, "running");
    const config: unknown = JSON.parse(await docker("inspect", "-f", "{{json .HostConfig}}", "berth-51013-g1"));
    assert.partialDeepStrictEqual(config, {
      Privileged: false,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      NanoCpus: 500_000_000,
      Memory: 64 * 2 ** 20,
      MemorySwap: 64 * 2 ** 20,
      RestartPolicy: { Name: "no" },
    });
    assert.equal(await docker("exec", "berth-51013-g1", "hostname"), "rented");
    await assert.rejects(docker("exec", "berth-51013-g1", "mknod", "/tmp/disk", "b", "8", "0"));
    await assert.rejects(docker("exec", "berth-51013-g1", "mount", "-t", "tmpfs", "none", "/tmp"));
  });

  it("a container that cannot be started is reported with the engine's own words and tried again", async () => {
    startAgent();
    const command: LaunchCommand = { mode: "entrypoint", entrypointShell: null, args: ["/no/such/program"] };
    server.desire([order(51_014, { command })]);
    const failed = await server.untilState(51_014, "failed", 1);
    assert.match(failed.statusMsg, /: OCI runtime create failed: /);
    await server.until(
      "another attempt",
      () => server.peer.reports.filter((report) => report.instances[0]?.state === "starting").length > 1,
    );
    server.desire([order(51_014, { command, run: "absent" })]);
    await server.untilState(51_014, "absent", 1);
    assert.deepEqual(await ids(), []);
  });

  it("an image that no registry has is reported as failed, and its teardown is safe", async () => {
    startAgent();
    server.desire([order(51_015, { image: "127.0.0.1:1/nobody/has-this:latest" })]);
    const failed = await server.untilState(51_015, "failed", 1);
    assert.notEqual(failed.statusMsg, "");
    server.desire([order(51_015, { image: "127.0.0.1:1/nobody/has-this:latest", run: "absent" })]);
    await server.untilState(51_015, "absent", 1);
  });

  it("an instance ordered as stopped is created and not started", async () => {
    startAgent();
    server.desire([order(51_016, { run: "stopped", generation: 0 })]);
    await server.untilState(51_016, "created", 0);
    server.desire([order(51_016, { generation: 1 })]);
    await server.untilState(51_016, "running", 1);
    assert.deepEqual(await names(), ["berth-51016-g1"]);
  });

  it("a name that another control plane's container has does not stand in the way", async () => {
    const stranger = await docker("run", "-d", "--name", "berth-51017-g1", image);
    startAgent();
    server.desire([order(51_017)]);
    await server.untilState(51_017, "running", 1);
    assert.match((await names()).join(), /^berth-51017-g1\.of-[0-9a-f]{8}$/);
    await docker("rm", "-f", stranger);
    server.desire([order(51_017, { generation: 2 })]);
    await server.untilState(51_017, "running", 2);
    assert.deepEqual(await names(), ["berth-51017-g2"]);
  });

  async function untilLogged(id: string, times: number): Promise<void> {
    await until(`${times} lines of onstart`, async () => {
      const lines = (await docker("logs", id)).split("\n").filter((line) => line === "started with a b");
      return lines.length === times;
    });
  }
});
