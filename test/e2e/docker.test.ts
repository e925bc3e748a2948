// This machine's own Docker Engine as the host: what is rented is a real container.
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { discard, startBerth, type Berth } from "../support/berth.ts";
import { curl } from "../support/network/curl.ts";
import { busyboxImage, docker } from "../support/hosts/docker.ts";
import { freePort } from "../support/network/free-port.ts";
import { mountsBelow } from "../support/hosts/mounts.ts";
import { removeRemains } from "../support/hosts/host-remains.ts";
import { REGISTRY_LOGIN, startPrivateRegistry, type Registry } from "../support/hosts/registry.ts";
import { until } from "../support/until.ts";

const HOST_LABEL = "berth.host_key";
const INSTANCE_LABEL = "berth.instance_id";
const CONTENT = "hello from a rented machine";
/** The image's own program is replaced: it serves a page, and writes to it who asked for what. */
const SERVE = `mkdir -p /www && echo ${CONTENT} > /www/index.html && exec httpd -f -p 8080 -h /www`;

describe("renting this machine", () => {
  let berth: Berth;
  let registry: Registry;
  let image = "";
  let hostKey = "";
  let key = "";
  let port = 0;
  const cleanups: (() => Promise<unknown>)[] = [];

  const call = (method: string, path: string, body?: unknown) =>
    curl(method, `${berth.url}${path}`, { key, ...(body === undefined ? {} : { body }) });
  const done = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const show = async (id: number) => (await done("GET", `/api/v0/instances/${id}/`)).instances;
  const untilStatus = (id: number, status: string) =>
    until(`instance ${id} is ${status}`, async () => {
      const instance = await show(id);
      return instance.actual_status === status ? instance : undefined;
    });
  const containers = async (id: number) =>
    (
      await docker(
        "ps",
        "-aq",
        "--no-trunc",
        "--filter",
        `label=${HOST_LABEL}=${hostKey}`,
        "--filter",
        `label=${INSTANCE_LABEL}=${id}`,
      )
    )
      .split("\n")
      .filter(Boolean);
  const containerOf = async (id: number) => {
    const [found, ...more] = await containers(id);
    assert.ok(found !== undefined && more.length === 0, `instance ${id} has one container`);
    return found;
  };
  const inspect = (container: string, format: string) => docker("inspect", "-f", format, container);
  const anOffer = async (): Promise<number> => {
    const [offer] = await until("an offer of this machine", async () => {
      const { offers } = await done("POST", "/api/v0/bundles/", { num_gpus: { eq: 0 }, order: [["dph_total", "asc"]] });
      return offers.length > 0 && offers;
    });
    assert.equal(offer.resource_type, "cpu");
    assert.equal(offer.is_simulated, false);
    return offer.id;
  };
  const rent = (body: object): Promise<number> =>
    until("a rental", async () => {
      const answer = await call("PUT", `/api/v0/asks/${await anOffer()}/`, { disk: 8, ...body });
      // The search may still show an offer that was rented a moment ago: on 410 the caller searches again.
      if (answer.status === 410) return undefined;
      assert.equal(answer.status, 200, answer.text);
      return answer.body.new_contract;
    });
  const page = async (instance: { readonly ports: Record<string, { readonly HostPort: string }[]> }) => {
    const hostPort = instance.ports["8080/tcp"]?.[0]?.HostPort;
    assert.ok(hostPort !== undefined, JSON.stringify(instance.ports));
    const answer = await until("the page", async () => {
      const shown = await curl("GET", `http://127.0.0.1:${hostPort}/`);
      return shown.status === 200 && shown;
    });
    return { text: answer.text.trim(), port: Number(hostPort) };
  };
  const runningMs = async (id: number) => {
    const [row] = await berth.sql("select sum(running_ms)::bigint as ms from instance_runs where instance_id = $1", [
      id,
    ]);
    return Number(row?.["ms"]);
  };
  /** Everything that a rental could leave behind. The agent's own network is none of it: it stays as long as the agent. */
  const leftovers = async () => ({
    containers: await docker("ps", "-aq", "--no-trunc", "--filter", `label=${HOST_LABEL}=${hostKey}`),
    mounts: await mountsBelow(berth.dataDir),
    disks: await readdir(join(berth.dataDir, "agent/disks")).catch(() => []),
  });
  /** The disk goes after the container. */
  const untilNothingIsLeft = () =>
    until("no trace of a rental", async () => {
      assert.deepEqual(await leftovers(), { containers: "", mounts: [], disks: [] });
      return true;
    });
  const destroy = async (id: number) => {
    await done("DELETE", `/api/v0/instances/${id}/`);
    await until(`nothing of instance ${id} is left`, async () => (await containers(id)).length === 0);
  };
  /** Starts it again on the same data and address, as an operator would after a crash. */
  const startAgain = async () => {
    berth = await startBerth({ dataDir: berth.dataDir, port });
  };

  before(async () => {
    image = await busyboxImage();
    registry = await startPrivateRegistry();
    cleanups.push(() => registry.close());
    port = await freePort();
    berth = await startBerth({ port });
    cleanups.push(() => removeRemains(hostKey, berth.dataDir));
    cleanups.push(() => discard(berth));
    key = String((await berth.admin("user", "create", "renter@example.com", "--credit", "50"))["api_key"]);
    const [machine] = await until("this machine on the market", async () => {
      const machines = await berth.sql("select host_key from machines where is_connected");
      return machines.length === 1 && machines;
    });
    hostKey = String(machine?.["host_key"]);
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("a rental is a container with the merged environment and a port that answers; it stops, starts, reboots with its data and leaves nothing", async () => {
    const template = await done("POST", "/api/v0/template/", {
      name: "web",
      image,
      env: "-e FROM_TEMPLATE=kept -e SHARED=template -p 8080:8080",
      onstart: SERVE,
      runtype: "args",
    });
    const id = await rent({
      template_hash_id: template.template.hash_id,
      env: { SHARED: "request", FROM_REQUEST: "two words", NVIDIA_VISIBLE_DEVICES: "all" },
    });
    const running = await untilStatus(id, "running");
    assert.equal(running.is_simulated, false);
    assert.match(running.status_msg, /^success, running /);
    const container = await containerOf(id);
    assert.ok((await docker("ps", "-q", "--no-trunc")).split("\n").includes(container));

    const env = (await docker("exec", container, "env")).split("\n");
    const web = await page(running);
    assert.equal(web.text, CONTENT);
    for (const line of [
      "FROM_TEMPLATE=kept",
      "SHARED=request",
      "FROM_REQUEST=two words",
      `CONTAINER_ID=${id}`,
      `VAST_CONTAINERLABEL=C.${id}`,
      `VAST_TCP_PORT_8080=${web.port}`,
      "PUBLIC_IPADDR=127.0.0.1",
      "NVIDIA_VISIBLE_DEVICES=void",
    ]) {
      assert.ok(env.includes(line), `${line} in ${env.join(" ")}`);
    }
    const ownKey = env.find((line) => line.startsWith("CONTAINER_API_KEY="))?.split("=")[1];
    const byItself = await curl("GET", `${berth.url}/api/v0/instances/${id}/`, { key: ownKey ?? "" });
    assert.equal(byItself.body.instances.id, id);

    await docker("exec", container, "sh", "-c", "echo precious > /root/kept");
    await done("PUT", `/api/v0/instances/${id}/`, { state: "stopped" });
    await untilStatus(id, "stopped");
    assert.equal(await inspect(container, "{{.State.Running}}"), "false");

    await done("PUT", `/api/v0/instances/${id}/`, { state: "running" });
    const again = await untilStatus(id, "running");
    assert.equal(await containerOf(id), container);
    assert.equal(await docker("exec", container, "cat", "/root/kept"), "precious");
    assert.equal((await page(again)).text, CONTENT);

    const startedAt = await inspect(container, "{{.State.StartedAt}}");
    await done("PUT", `/api/v0/instances/reboot/${id}/`);
    await until(
      "a later start of the same container",
      async () =>
        (await inspect(container, "{{.State.StartedAt}} {{.State.Running}}")) !== `${startedAt} true` &&
        (await inspect(container, "{{.State.Running}}")) === "true",
    );
    await untilStatus(id, "running");
    assert.equal(await docker("exec", container, "cat", "/root/kept"), "precious");

    await destroy(id);
    assert.ok((await anOffer()) > 0, "the machine's offers are back");
    await untilNothingIsLeft();
  });

  test("a running rental does not notice restarts and kill -9 of the server and of the agent, and its counters go on", async () => {
    const id = await rent({ image, runtype: "args", env: "-p 8080:8080", onstart: SERVE });
    const running = await untilStatus(id, "running");
    const container = await containerOf(id);
    const startedAt = await inspect(container, "{{.State.StartedAt}}");
    const web = await page(running);
    await until("seconds that were counted", async () => (await runningMs(id)) > 0);

    const interruptions: readonly [string, () => Promise<unknown>][] = [
      [
        "kill -9 of the agent",
        async () => {
          const [agent = 0] = await berth.agentPids();
          process.kill(agent, "SIGKILL");
          await until("another agent", async () => (await berth.agentPids()).some((pid) => pid !== agent));
        },
      ],
      [
        "a restart",
        async () => {
          assert.deepEqual(await berth.stop(), { code: 0, signal: null });
          await startAgain();
        },
      ],
      [
        "kill -9 of the server",
        async () => {
          await berth.kill();
          await startAgain();
        },
      ],
    ];
    for (const [what, interrupt] of interruptions) {
      const counted = await runningMs(id);
      await interrupt();
      assert.equal((await curl("GET", `http://127.0.0.1:${web.port}/`)).text.trim(), CONTENT, what);
      await until(`the count goes on after ${what}`, async () => (await runningMs(id)) > counted);
      await untilStatus(id, "running");
      assert.equal(await containerOf(id), container, what);
      assert.equal(await inspect(container, "{{.State.StartedAt}}"), startedAt, what);
    }
    const [events] = await berth.sql("select count(*)::int as runs from instance_runs where instance_id = $1", [id]);
    assert.equal(events?.["runs"], 1, "nothing was restarted");
    await destroy(id);
  });

  test("a private image comes with the right login; a wrong one and a missing image say why, and the next try works", async () => {
    const reference = await registry.push(image, "private/app:1");
    const login = (password: string) => `-u ${REGISTRY_LOGIN.user} -p ${password} ${registry.address}`;
    const untilMessage = (id: number, pattern: RegExp) =>
      until(`a message like ${pattern} of instance ${id}`, async () => pattern.test((await show(id)).status_msg ?? ""));

    const wrong = await rent({ image: reference, image_login: login("wrong-password"), runtype: "args" });
    await untilMessage(wrong, /unauthorized|denied|no basic auth|authentication/i);
    assert.notEqual((await show(wrong)).actual_status, "running");
    assert.ok(!(await show(wrong)).status_msg.includes("wrong-password"));
    await destroy(wrong);

    const missing = await rent({
      image: `${registry.address}/private/app:2`,
      image_login: login(REGISTRY_LOGIN.password),
      runtype: "args",
    });
    await untilMessage(missing, /not found|unknown|manifest/i);
    await destroy(missing);

    const right = await rent({ image: reference, image_login: login(REGISTRY_LOGIN.password), runtype: "args" });
    const running = await untilStatus(right, "running");
    assert.ok(!JSON.stringify(running).includes(REGISTRY_LOGIN.password));
    assert.ok(!(await docker("inspect", await containerOf(right))).includes(REGISTRY_LOGIN.password));
    await destroy(right);
    await untilNothingIsLeft();
  });
});
