// How a renter gets in: through the control plane's proxy, with keys that change while it runs, and again after the
// server or the host's agent was killed.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { docker } from "../support/hosts/docker.ts";
import { aRenter, untilUntouched, type Renter, type Shown } from "../support/renter.ts";
import { aKeyPair, type KeyPair, type OpenSsh } from "../support/hosts/ssh-client.ts";
import { startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { until } from "../support/until.ts";

describe("the ways into a rental", () => {
  let machine: ThisMachine;
  let renter: Renter;
  let friend: KeyPair;
  const cleanups: (() => Promise<unknown>)[] = [];

  /** A session that says that it is there, and stays. */
  const openSession = async (instance: Shown, way: "direct" | "proxy", keys = renter.keys): Promise<OpenSsh> => {
    const session = (await renter.client(instance, way, keys)).open("echo inside; exec sleep 600");
    cleanups.push(() => session.kill());
    await until("the session", () => session.output().includes("inside"));
    return session;
  };
  const hostname = async (id: number) => `${(await machine.containerOf(id)).slice(0, 12)}\n`;

  before(async () => {
    machine = await startThisMachine(31_100);
    cleanups.push(() => machine.close());
    renter = await aRenter(machine, "ways");
    cleanups.push(() => renter.close());
    friend = await aKeyPair(renter.folder, "friend");
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("without a port of its own it is reached through the proxy, and berth ssh finds that out", async () => {
    const instance = await renter.rentAndRun({ runtype: "ssh_proxy" });
    assert.deepEqual(instance.ports, {});
    const { ssh } = await renter.client(instance, "proxy");
    const { code, stdout, stderr } = await ssh("hostname; exit 5");
    assert.deepEqual({ code, stdout, stderr }, { code: 5, stdout: await hostname(instance.id), stderr: "" });
    const byCli = await renter.cli("ssh", "-i", renter.keys.file, String(instance.id), "hostname");
    assert.deepEqual([byCli.code, byCli.stdout, byCli.stderr], [0, await hostname(instance.id), ""]);
    const url = `ssh://root@${instance.ssh_host}:${instance.ssh_port}\n`;
    assert.equal(await renter.told("ssh-url", String(instance.id)), url);
    await renter.destroy(instance.id);
    await untilUntouched(machine, renter);
  });

  test("an attached key gets in at once by both ways; a detached one is refused and its sessions end, others stay", async () => {
    const instance = await renter.rentAndRun({ runtype: "ssh_direct" });
    const id = String(instance.id);
    await renter.inside(instance, "true");
    const attempt = async (way: "direct" | "proxy") => (await renter.client(instance, way, friend)).ssh("hostname");
    assert.match((await attempt("direct")).stderr, /Permission denied/);
    assert.match((await attempt("proxy")).stderr, /Permission denied/);

    const noKey = await renter.call("POST", `/api/v0/instances/${id}/ssh/`, { ssh_key: "ssh-ed25519 no key" });
    assert.equal(noKey.status, 400, noKey.text);
    await renter.told("attach-ssh", id, `${friend.file}.pub`);
    await until("the friend gets in", async () => (await attempt("direct")).code === 0);
    assert.equal((await attempt("proxy")).stdout, await hostname(instance.id));
    const [own, direct, proxied] = [
      await openSession(instance, "direct"),
      await openSession(instance, "direct", friend),
      await openSession(instance, "proxy", friend),
    ];

    const keys: readonly { readonly id: number; readonly public_key: string }[] = JSON.parse(
      await renter.told("show-ssh", id, "--json"),
    );
    const friendKey = keys.find(({ public_key }) => public_key === friend.publicKey);
    assert.ok(friendKey !== undefined && keys.length === 2, JSON.stringify(keys));
    await renter.told("detach-ssh", id, String(friendKey.id));
    for (const session of [direct, proxied]) assert.notEqual(await session.ended, 0);
    assert.match((await attempt("direct")).stderr, /Permission denied/);
    assert.match((await attempt("proxy")).stderr, /Permission denied/);
    assert.equal(await renter.inside(instance, "hostname"), await hostname(instance.id));
    assert.ok(own.isOpen(), own.output());
    await renter.destroy(instance.id);
    assert.notEqual(await own.ended, 0, "the session ends with the instance");
  });

  test("kill -9 of the agent and of the server in the middle of a session: it runs on, and the next ssh gets in as before", async () => {
    const instance = await renter.rentAndRun({ runtype: "ssh_direct" });
    await renter.inside(instance, "true");
    const container = await machine.containerOf(instance.id);
    const startedAt = () => docker("inspect", "-f", "{{.State.StartedAt}}", container);
    const atFirst = await startedAt();
    const interruptions: readonly [string, () => Promise<unknown>][] = [
      [
        "kill -9 of the agent",
        async () => {
          const [agent = 0] = await machine.berth().agentPids();
          process.kill(agent, "SIGKILL");
        },
      ],
      [
        "kill -9 of the server",
        async () => {
          await machine.berth().kill();
          await machine.startAgain();
        },
      ],
    ];
    for (const [what, interrupt] of interruptions) {
      const sessions = [await openSession(instance, "direct"), await openSession(instance, "proxy")];
      await interrupt();
      for (const session of sessions) assert.notEqual(await session.ended, 0, what);
      for (const way of ["direct", "proxy"] as const) {
        // The host key that was known before is the only one that this client takes.
        const { ssh } = await renter.client(instance, way);
        await until(
          `ssh, ${way}, after ${what}`,
          async () => (await ssh("hostname")).stdout === `${container.slice(0, 12)}\n`,
        );
      }
      const now = await renter.untilStatus(instance.id, "running");
      assert.deepEqual([now.ssh_host_key, now.ports], [instance.ssh_host_key, instance.ports], what);
      assert.equal(await startedAt(), atFirst, what);
    }
    assert.doesNotMatch(await renter.inside(instance, "ps"), /sleep 600/, "what the lost sessions ran has ended");
    await renter.destroy(instance.id);
    await untilUntouched(machine, renter);
  });
});
