import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { WebSocket } from "ws";
import { soon, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { aGpu } from "../../../../../../test/support/hosts/fake-gpu.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import { rent, stored } from "../../../../../../test/support/rentals.ts";

async function machine({ env }: TestApp, { machineId }: FakeHost) {
  const { rows } = await env.pool.query(
    `select is_connected, resource_type, price_device_nanos_per_hour as price,
       (select array_agg(uuid order by position) from devices d where d.machine_id = m.id and is_present) as present,
       (select count(*)::integer from devices d where d.machine_id = m.id) as known
     from machines m where id = $1`,
    [machineId],
  );
  return rows[0];
}

const handshake = (origin: string, path: string, token?: string) =>
  new Promise<number>((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const socket = new WebSocket(`ws://${origin}${path}`, { headers });
    socket.once("unexpected-response", (_request, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    socket.once("error", reject);
    socket.once("open", () => resolve(101));
  });

test("only a known token is let in, and only at its own address", async (t) => {
  const world = await testApp(t);
  assert.equal(await handshake(world.origin, "/agent"), 401);
  assert.equal(await handshake(world.origin, "/agent", "wrong"), 401);
  assert.equal(await handshake(world.origin, "/elsewhere", "wrong"), 404);
});

test("an address that shows many wrong tokens is slowed down, and the right agents from there are let in", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  await host.disconnect();
  const guess = () => handshake(world.origin, "/agent", "wrong");
  for (let round = 0; round < 60; round += 1) {
    const statuses = await Promise.all(Array.from({ length: 10 }, guess));
    assert.deepEqual([...new Set(statuses)], [401]);
  }
  assert.equal(await handshake(world.origin, "/agent"), 429);
  let isAnswered = false;
  const late = guess().finally(() => (isAnswered = true));
  assert.equal(await handshake(world.origin, "/agent/tunnel/s1-x"), 429);
  assert.equal(isAnswered, false, "it waits before the database is asked");
  const settled = async <T>(call: Promise<T>) => {
    let isDone = false;
    const done = call.finally(() => (isDone = true));
    await soon("an answer", () => {
      if (!isDone) world.clock.advance(20);
      return isDone;
    });
    return done;
  };
  await settled(late);
  await settled(host.connect());
  assert.equal((await machine(world, host)).is_connected, true);
});

test("a stranger keeps no connection by leaving its half of a refused handshake open", async (t) => {
  const world = await testApp(t);
  const [host = "", port] = world.origin.split(":");
  for (const path of ["/agent", "/agent/tunnel/s1-x", "/server/session/1"]) {
    const socket = connect({ host, port: Number(port), allowHalfOpen: true });
    const lines = [`GET ${path} HTTP/1.1`, "Host: x", "Connection: Upgrade", "Upgrade: websocket", "", ""];
    socket.write(lines.join("\r\n"));
    socket.resume().on("error", () => {});
    try {
      await once(socket, "end");
      await soon(`the connection to ${path} takes nothing more`, () => {
        if (!socket.destroyed) socket.write("x");
        return socket.destroyed;
      });
    } finally {
      socket.destroy();
    }
  }
});

test("a message other than a hello is refused before anything is stored", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  await host.disconnect();
  const wrong = [
    ["{", "malformed"],
    ['{"kind":"report","sequence":1,"desired_version":0,"instances":[],"gpus":[]}', "malformed"],
    [JSON.stringify(host.hello({ protocol_version: 99 })), "protocol_version"],
    [JSON.stringify({ ...host.hello(), machine: {} }), "malformed"],
    [JSON.stringify(host.hello({ machine: { ...host.hello().machine, cpu_cores: 2_000_000_000 } })), "malformed"],
    [JSON.stringify(host.hello({ gpus: [aGpu(0, { uuid: "same" }), aGpu(1, { uuid: "same" })] })), "invalid_args"],
    [JSON.stringify(host.hello({ gpus: [aGpu(0, { uuid: "cpu-7-0" })] })), "invalid_args"],
  ] as const;
  for (const [text, code] of wrong) {
    await host.open();
    host.sendText(text);
    assert.equal(await host.closed(), 4400);
    assert.deepEqual(
      host.received.map((message) => (message.kind === "refuse" ? message.code : message.kind)),
      [code],
      text.slice(0, 80),
    );
  }
  assert.equal((await machine(world, host)).is_connected, false);
  assert.equal(world.app.gateway.connectedCount, 0);
  assert.deepEqual(world.complaints, [], "a host's mistake is no alarm of ours");
});

test("a message that is too large, or no message at all, ends the connection and harms nobody", async (t) => {
  const world = await testApp(t);
  const [host, other] = [await world.host(), await world.host()];
  host.sendText("x".repeat(4_194_305));
  assert.equal(await host.closed(), 1009);
  await host.open();
  world.clock.jump(14_000);
  await other.report([]);
  world.clock.jump(2_000);
  world.clock.advance(5_000);
  await host.closed();
  assert.equal(world.app.gateway.connectedCount, 1, "the one that spoke stays");
  await other.report([]);
});

test("a second hello is refused, and the machine is away until it connects again", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  host.sendText(JSON.stringify(host.hello()));
  assert.equal(await host.closed(), 4400);
  await soon("the leave", async () => !(await machine(world, host)).is_connected);
  await host.connect();
  assert.equal((await machine(world, host)).is_connected, true);
});

test("a machine that reconnects replaces its old connection, whose end changes nothing", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  const user = await world.caller();
  for (let count = 0; count < 10; count += 1) {
    host.terminate();
    await host.connect();
  }
  const id = await rent(world, user, host);
  await host.obey();
  assert.equal((await stored(world, id)).phase, "running");
  await world.settled();
  assert.equal((await machine(world, host)).is_connected, true);
  assert.equal(world.app.gateway.connectedCount, 1);
});

test("a flood of reports is stored in order, and one that cannot be stored closes the connection", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rent(world, user, host);
  await host.synced();
  const states = ["pulling", "created", "starting", "running"] as const;
  const sent = Array.from({ length: 100 }, (_, index) =>
    host.report([{ instance_id: id, generation: 1, state: states[index % 4] ?? "running", status_msg: `n${index}` }]),
  );
  await Promise.all(sent);
  const { rows } = await world.env.pool.query("select observed_status_msg as text from instances where id = $1", [id]);
  assert.deepEqual(rows, [{ text: "n99" }]);
  await world.env.pool.query("alter table instances rename column observed_state to broken");
  void host.report([{ instance_id: id, generation: 1, state: "exited" }]).catch(() => {});
  assert.equal(await host.closed(), 1011);
});

test("a GPU that is known as part of another machine is not sold a second time", async (t) => {
  const world = await testApp(t);
  const [host, thief] = [await world.host({ gpus: 2 }), await world.host({ gpus: 1 })];
  await thief.disconnect();
  await assert.rejects(thief.connect({ gpus: [...thief.gpus, ...host.gpus] }), /device_taken/);
  assert.deepEqual(
    (await machine(world, host)).present,
    host.gpus.map((gpu) => gpu.uuid),
  );
  assert.deepEqual(
    (await machine(world, thief)).present,
    thief.gpus.map((gpu) => gpu.uuid),
  );
  assert.equal((await machine(world, thief)).is_connected, false, "it is not let in halfway");
});

test("a GPU that was taken out is not rented, and the share of the others grows", async (t) => {
  const world = await testApp(t);
  const host = await world.host({ gpus: 2 });
  const offers = async () => {
    await world.settled();
    const { body } = await world.call({ method: "POST", url: "/api/v0/bundles/", body: {} });
    return body.offers
      .map((offer: Record<string, unknown>) => [offer["num_gpus"], offer["gpu_frac"], offer["disk_space"]])
      .toSorted();
  };
  assert.deepEqual(await offers(), [[1, 0.5, 500], [2, 1, 1000]]); // prettier-ignore
  await host.disconnect();
  await host.connect({ gpus: [host.gpus[1] ?? aGpu(1)] });
  assert.deepEqual(await offers(), [[1, 1, 1000]]);
  await host.disconnect();
  await host.connect({ gpus: [] });
  assert.deepEqual(await offers(), [], "its cores are not rented out instead");
  const user = await world.caller();
  await host.disconnect();
  await host.connect();
  assert.equal((await offers()).length, 2);
  await rent(world, user, host, { size: 2 });
});

test("a machine without GPUs that gets some asks a GPU's price for them", async (t) => {
  const world = await testApp(t);
  const host = await world.host({ gpus: 0, facts: { is_simulated: false } });
  const before = await machine(world, host);
  assert.deepEqual([before.resource_type, before.present.length, before.price], ["cpu", 16, 10_000_000n]);
  await host.disconnect();
  const gpus = [aGpu(0), aGpu(1)];
  await host.connect({ gpus });
  const after = await machine(world, host);
  assert.deepEqual(
    [after.resource_type, after.present, after.price],
    ["gpu", gpus.map((gpu) => gpu.uuid), 450_000_000n],
  );
  assert.deepEqual([...(await world.offersOf(host)).keys()], [1, 2]);
});

test("a server that stops stores pending reports first, even if an agent keeps its connection open", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rent(world, user, host);
  await host.synced();
  const reported = host.report([{ instance_id: id, generation: 1, state: "running" }]);
  await reported;
  await world.app.gateway.close();
  assert.equal(await host.closed(), 1001);
  assert.equal((await stored(world, id)).phase, "running");
  assert.deepEqual(world.complaints, []);
});

test("a machine was in touch until its last message, even if that waited long to be stored", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rent(world, user, host);
  await host.obey();
  const holder = await world.env.pool.connect();
  await holder.query("begin");
  await holder.query("select from machines where id = $1 for update", [host.machineId]);
  world.clock.jump(5_000);
  const saidAt = world.clock.now();
  host.report([{ instance_id: id, generation: 1, state: "running", status_msg: "the last word" }]).catch(() => {});
  await soon("the report", async () => {
    const { rows } = await world.env.pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length > 0;
  });
  host.terminate();
  world.clock.jump(300_000);
  await holder.query("commit");
  holder.release();
  await soon("the leave", async () => !(await machine(world, host)).is_connected);
  const { rows } = await world.env.pool.query(
    `select last_seen_at, (select until_at from machine_spans where machine_id = machines.id) as until_at,
       lease_until_at > $2::timestamptz + interval '300 s' as is_safe
     from machines where id = $1`,
    [host.machineId, saidAt],
  );
  assert.deepEqual(rows, [{ last_seen_at: saidAt, until_at: saidAt, is_safe: true }]);
});

test("a server that stops has noted every departure that it saw: nothing is noted after it closed", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  const other = await world.env.pool.connect();
  await other.query("begin");
  await other.query("select from machines where id = $1 for update", [host.machineId]);
  host.terminate();
  await soon("the leave to be seen", () => world.app.gateway.connectedCount === 0);
  const closing = world.app.gateway.close();
  await other.query("commit");
  other.release();
  await closing;
  assert.equal((await machine(world, host))?.is_connected, false);
});
