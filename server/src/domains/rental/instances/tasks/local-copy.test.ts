import assert from "node:assert/strict";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import { inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { freePorts } from "../../../../../../test/support/network/free-port.ts";
import { rent, rentAndRun, setState, show } from "../../../../../../test/support/rentals.ts";
import { until } from "../../../../../../test/support/until.ts";
import { prepareProxyPorts } from "../for-assembly.ts";

const HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg";
const DOCKER = { engine: { kind: "docker", version: "20.10" } } as const;
const PAIRS = 4;
const COPY = "/api/v0/commands/rsync/";

const put = (world: TestApp, user: TestCaller, body: object, url = COPY) =>
  world.call({ method: "PUT", url, secret: user.secret, body: { client_id: "me", ...body } });

const measure = (world: TestApp, user: TestCaller, body: object) =>
  world.call({ method: "POST", url: "/api/v0/commands/get_copy_size/", secret: user.secret, body });

/** A user, and a real host that is not quite there: its containers are those that the test reports. */
async function aMarket(t: TestContext) {
  const world = await testApp(t);
  const first = await freePorts(2 * PAIRS);
  await inTransaction(world.env.database, (tx) => prepareProxyPorts(tx, { first, last: first + 2 * PAIRS - 1 }));
  const host = await world.host({ gpus: 2 * PAIRS });
  await host.disconnect();
  await host.connect(DOCKER);
  await world.settled();
  return { world, host, user: await world.caller() };
}

/** Reports what the host is to do, with these ports of every container that runs. */
const report = (host: FakeHost, ports: Readonly<Record<string, number>>) =>
  host.report(
    host.obedience().map((one) => {
      // As agents of earlier versions, it knows of no copies where the image has its own access.
      const ssh_host_key = host.order(one.instance_id)?.ssh ? HOST_KEY : null;
      return { ...one, ports, ssh_host_key };
    }),
  );

/** A volume of the user on the host's own disk. */
async function aVolume(world: TestApp, user: TestCaller, host: FakeHost): Promise<number> {
  const { rows } = await world.env.pool.query<{ id: number }>(
    `with offer as (
       insert into volume_offers (machine_id, size_bytes, price_nanos_per_gb_month, end_at, created_at, updated_at, unlisted_at)
       values ($2, 1000000000, 0, '2100-01-01', now(), now(), now()) returning id
     )
     insert into volumes (user_id, machine_id, volume_offer_id, name, size_bytes, price_nanos_per_gb_month, end_at, created_at)
     select $1, $2, id, '', 1000000000, 0, '2100-01-01', now() from offer returning id`,
    [user.id, host.machineId],
  );
  return rows[0]?.id ?? 0;
}

test("a copy with the own computer gets address, port and path for rsync, and no host a task", async (t) => {
  const { world, host, user } = await aMarket(t);
  const id = await rentAndRun(world, user, host, { runtype: "ssh_direct" });
  await report(host, { "22/tcp": 40_122 });
  const { public_ipaddr: address } = await show(world, user, id);
  const common = { success: true, rsync_user: "vastai_kaalia", ssh_host_key: HOST_KEY };
  for (const local of [{ src_id: "local" }, { src_id: null }, {}]) {
    for (const url of [COPY, "/api/v0/commands/copy_direct/"]) {
      const wish = { ...local, src_path: "../here", dst_id: `C.${id}`, dst_path: "two words/" };
      const { status, body, text } = await put(world, user, wish, url);
      assert.equal(status, 200, text);
      const { msg, ...rest } = body;
      const rsync_path = `${id}/two words/`;
      assert.deepEqual(rest, { ...common, rsync_path, dst_addr: address, dst_port: 40_122 });
      assert.ok(msg.endsWith(`-e 'ssh -p 40122' YOUR_PATH 'vastai_kaalia@${address}::${rsync_path}'`), msg);
    }
  }
  const down = await put(world, user, { src_id: id, src_path: "/out", dst_id: "local", dst_path: "." });
  const { msg, ...rest } = down.body;
  assert.deepEqual(rest, { ...common, rsync_path: `${id}/out`, src_addr: address, src_port: 40_122 });
  assert.ok(msg.endsWith(`vastai_kaalia@${address}::${id}/out YOUR_PATH`), msg);
  assert.equal((await host.tasks(0)).length, 0);
});

test("a copy with the own computer names the proxy's SSH port where the instance has no port of its own", async (t) => {
  const { world, host, user } = await aMarket(t);
  const [id, notebook] = [
    await rentAndRun(world, user, host, { runtype: "ssh" }),
    await rentAndRun(world, user, host, { runtype: "jupyter" }),
  ];
  await report(host, {});
  for (const [one, offset] of [
    [id, 0],
    [notebook, 1],
  ] as const) {
    const { ssh_host, ssh_port } = await show(world, user, one);
    assert.ok(ssh_port > 0);
    const { body, text } = await put(world, user, { src_path: "a", dst_id: one, dst_path: "/a" });
    assert.deepEqual([body.dst_addr, body.dst_port], [ssh_host, ssh_port + offset], text);
  }
});

test("a copy with an instance that runs its image's own entrypoint gets a port of the proxy, and none before", async (t) => {
  const { world, host, user } = await aMarket(t);
  const id = await rentAndRun(world, user, host, { runtype: "args", env: "-p 22:22" });
  assert.deepEqual([host.order(id)?.ssh, host.order(id)?.copies], [null, { authorized_keys: [] }]);
  await host.report(host.obedience().map((one) => ({ ...one, ports: { "22/tcp": 40_122 }, ssh_host_key: HOST_KEY })));
  const before = await show(world, user, id);
  assert.deepEqual([before.ssh_idx, before.ssh_port], ["0", 40_122], "port 22 is that of the image");
  const ask = () => put(world, user, { src_path: "a", dst_id: id, dst_path: "/a" });
  const answers = await Promise.all([ask(), ask(), ask()]);
  const { ssh_host, ssh_port, ssh_idx } = await show(world, user, id);
  assert.equal(ssh_idx, "1");
  for (const { status, body, text } of [...answers, await ask()]) {
    assert.deepEqual([status, body.dst_addr, body.dst_port], [200, ssh_host, ssh_port], text);
    assert.equal(body.ssh_host_key, HOST_KEY);
  }
  await until("the proxy to listen", () => listens(ssh_port));
  for (let count = 1; count < PAIRS; count += 1) await rentAndRun(world, user, host, { runtype: "ssh" });
  const last = await rentAndRun(world, user, host, { runtype: "args" });
  await host.report(host.obedience().map((one) => ({ ...one, ssh_host_key: HOST_KEY })));
  const full = await put(world, user, { src_path: "a", dst_id: last, dst_path: "/a" });
  assert.deepEqual([full.status, full.body.error], [409, "no_ssh_access"]);
  assert.match(full.body.msg, /no proxy port left/);
});

/** True when a server accepts connections at this port. */
function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

test("a copy with the own computer is refused with the reason where rsync has no way in", async (t) => {
  const { world, host, user } = await aMarket(t);
  const stranger = await world.caller();
  const id = await rentAndRun(world, user, host, { runtype: "ssh_direct" });
  const entrypoint = await rent(world, user, host, { runtype: "args" });
  const never = await rent(world, user, host, { runtype: "ssh", target_state: "stopped" });
  await host.obey();
  await report(host, { "22/tcp": 40_122 });
  const [volume, mounted] = [await aVolume(world, user, host), await aVolume(world, user, host)];
  const volume_info = { create_new: false, volume_id: mounted, mount_path: "/models" };
  const holder = await rent(world, user, host, { runtype: "ssh", volume_info });
  const instead = await put(world, user, { src_path: "/a", dst_id: `V.${mounted}`, dst_path: "/x" });
  assert.match(instead.body.msg, new RegExp(`Use C\\.${holder}:/models/x\\.$`));
  const right = { src_id: "local", src_path: "/a", dst_id: id, dst_path: "/b" };
  const refusal = async (change: object, by = user) => {
    const { status, body } = await put(world, by, { ...right, ...change });
    return [status, body.error, body.field];
  };
  for (const [change, expected] of [
    [{ dst_id: "local" }, [400, "invalid_args", "src_id"]],
    [{ dst_id: "s3.4" }, [400, "invalid_args", "dst_id"]],
    [{ dst_id: `V.${volume}` }, [400, "invalid_args", "dst_id"]],
    [{ dst_id: "V.99999" }, [404, "no_such_volume", undefined]],
    [{ dst_id: 99_999 }, [404, "no_such_instance", undefined]],
    [{ src_path: "" }, [400, "invalid_args", "src_path"]],
    [{ src_path: undefined }, [400, "invalid_args", "src_path"]],
    [{ dst_path: "/a/../b" }, [400, "invalid_args", "dst_path"]],
    [{ dst_path: undefined }, [400, "invalid_args", "dst_path"]],
    [{ dst_id: entrypoint }, [409, "no_ssh_access", undefined]],
    [{ dst_id: never }, [409, "never_started", undefined]],
  ] as const) {
    assert.deepEqual(await refusal(change), expected, JSON.stringify(change));
  }
  assert.deepEqual(await refusal({}, stranger), [404, "no_such_instance", undefined]);
  await setState(world, user, id, "stopped");
  await host.obey();
  assert.deepEqual(await refusal({}), [409, "not_running", undefined]);
  await host.disconnect();
  world.clock.jump(61_000);
  assert.deepEqual(await refusal({}), [409, "host_offline", undefined]);

  const simulated = await world.host();
  const invented = await rentAndRun(world, user, simulated, { runtype: "ssh" });
  assert.deepEqual(await refusal({ dst_id: invented }), [409, "no_ssh_access", undefined]);
});

test("an address that a host reports reaches no shell of a client", async (t) => {
  const { world, host, user } = await aMarket(t);
  const id = await rentAndRun(world, user, host, { runtype: "ssh_direct" });
  await report(host, { "22/tcp": 40_122 });
  await world.env.pool.query(
    `update machines set facts = jsonb_set(facts, '{public_ipaddr}', '"$(reboot)"') where id = $1`,
    [host.machineId],
  );
  const { ssh_host, ssh_port } = await show(world, user, id);
  const { body, text } = await put(world, user, { src_path: "a", dst_id: id, dst_path: "/a" });
  assert.deepEqual([body.dst_addr, body.dst_port], [ssh_host, ssh_port], text);
  assert.doesNotMatch(text, /reboot/);
});

test("the size of a copy is asked of the host, and its text is behind result_url", async (t) => {
  const { world, host, user } = await aMarket(t);
  const stranger = await world.caller();
  const id = await rentAndRun(world, user, host);
  const asked = await measure(world, user, { src_id: `C.${id}`, src_path: "data/my files" });
  assert.equal(asked.status, 200, asked.text);
  const [task] = await host.tasks(1);
  assert.deepEqual(task?.action, { type: "execute", instance_id: id, argv: ["du", "-s", "-b", "/data/my files"] });
  const { pathname } = new URL(asked.body.result_url);
  assert.equal((await world.call({ url: pathname })).status, 404);
  await host.answer(task.task_id, "1234\t/data/my files\n");
  const result = await world.call({ url: pathname });
  assert.deepEqual([result.status, result.text], [200, "1234\t/data/my files\n"]);
  await measure(world, user, { src_id: String(id), src_path: "/" });
  const root = (await host.tasks(2))[1]?.action;
  assert.deepEqual(root?.type === "execute" && root.argv, ["du", "-s", "-b", "-x", "/"], "without /proc and its like");

  const [volume, mounted] = [await aVolume(world, user, host), await aVolume(world, user, host)];
  const volume_info = { create_new: false, volume_id: mounted, mount_path: "/models" };
  const holder = await rentAndRun(world, user, host, { volume_info });
  for (const [path, inside, count] of [
    ["/", "/models", 3],
    ["a b", "/models/a b", 4],
  ] as const) {
    const { status, text } = await measure(world, user, { src_id: `V.${mounted}`, src_path: path });
    assert.equal(status, 200, text);
    const action = (await host.tasks(count))[count - 1]?.action;
    assert.deepEqual(action, { type: "execute", instance_id: holder, argv: ["du", "-s", "-b", inside] });
  }
  for (const [body, status, error, field] of [
    [{ src_id: "drive", src_path: "/a" }, 400, "invalid_args", "src_id"],
    [{ src_path: "/a" }, 400, "invalid_args", "src_id"],
    [{ src_id: id }, 400, "invalid_args", "src_path"],
    [{ src_id: id, src_path: "/../etc" }, 400, "invalid_args", "src_path"],
    [{ src_id: `V.${volume}`, src_path: "/" }, 400, "invalid_args", "src_id"],
    [{ src_id: "V.99999", src_path: "/" }, 404, "no_such_volume", undefined],
    [{ src_id: 99_999, src_path: "/" }, 404, "no_such_instance", undefined],
  ] as const) {
    const answer = await measure(world, user, body);
    assert.deepEqual([answer.status, answer.body.error, answer.body.field], [status, error, field], answer.text);
  }
  assert.equal((await measure(world, stranger, { src_id: id, src_path: "/a" })).status, 404);
});
