import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import type { RawData, WebSocket } from "ws";
import { soon, testApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import { inTransaction } from "../../../../../../test/support/fixtures.ts";
import { startCopyTask } from "../../../rental/tasks/index.ts";

const JOINED = JSON.stringify({ kind: "transfer_joined" });
const MEANS = { random: randomBytes, encryption: { encrypt: (text: string) => text, decrypt: () => undefined } };

/** Two hosts with a copy to do from one to the other, and a third host without a part in it. */
async function aWorld(t: TestContext) {
  const world = await testApp(t);
  const user = await world.caller();
  const [here, there, other] = [await world.host(), await world.host(), await world.host()];
  await inTransaction(world.env.database, (tx) =>
    startCopyTask(tx, MEANS, {
      userId: user.id,
      source: { kind: "volume", id: 1, path: "/" },
      destination: { kind: "volume", id: 2, path: "/" },
      sourceMachineId: here.machineId,
      destinationMachineId: there.machineId,
      isFresh: true,
      isCompressed: true,
    }),
  );
  const [task] = await here.tasks(1);
  assert.ok(task?.action.type === "send");
  const { transfer_id: id } = task.action;
  return { world, here, there, other, id, task };
}

/** An admitted connection with the bytes that it received; or the status that refused it. */
async function line(host: FakeHost, path: string) {
  const socket = host.dial(path);
  const heard: (string | number)[] = [];
  socket.on("error", () => {});
  socket.on("message", (data: RawData, isBinary) => heard.push(isBinary ? (data as Buffer).length : String(data)));
  const status = await Promise.race([
    once(socket, "open").then(() => 101),
    once(socket, "unexpected-response").then(([, response]: { statusCode: number }[]) => response?.statusCode),
  ]);
  return { socket, heard, status };
}

const closed = (socket: WebSocket) => once(socket, "close").then(([code]) => code as number);

test("only the two hosts of a copy are connected, each for its own half, and only while its task is open", async (t) => {
  const { here, there, other, id, task } = await aWorld(t);
  for (const [host, path] of [
    [other, `transfer/${id}/send`],
    [other, `transfer/${id}/receive`],
    [here, `transfer/${id}/receive`],
    [there, `transfer/${id}/send`],
    [here, "transfer/unknown/send"],
    [here, `transfer/${id}/else`],
    [here, `transfer/${id}`],
  ] as const) {
    assert.equal((await line(host, path)).status, 404, path);
  }
  const first = await line(here, `transfer/${id}/send`);
  const second = await line(there, `transfer/${id}/receive`);
  assert.deepEqual([first.status, second.status], [101, 101]);
  await soon("both to be joined", () => first.heard.length === 1 && second.heard.length === 1);
  assert.deepEqual([first.heard, second.heard], [[JOINED], [JOINED]]);
  await here.answer(task.task_id, "done");
  assert.equal((await line(here, `transfer/${id}/send`)).status, 404);
  assert.equal((await line(there, `transfer/${id}/receive`)).status, 404);
});

test("bytes of one side reach the other in order, and its end ends both connections", async (t) => {
  const { here, there, id } = await aWorld(t);
  const [to, from] = [await line(there, `transfer/${id}/receive`), await line(here, `transfer/${id}/send`)];
  await soon("the sender to be told", () => from.heard.length === 1);
  from.socket.send("start");
  for (let count = 0; count < 50; count += 1) from.socket.send(Buffer.alloc(100_000));
  from.socket.send(Buffer.alloc(0));
  await soon("all of it", () => to.heard.at(-1) === 0);
  assert.deepEqual(to.heard, [JOINED, "start", ...Array.from({ length: 50 }, () => 100_000), 0]);
  const over = closed(from.socket);
  to.socket.send("end");
  to.socket.close(1000);
  assert.equal(await over, 4410);
  assert.deepEqual(from.heard, [JOINED, "end"], "what was said before arrives");
});

test("a reader that does not read pauses the writer", async (t) => {
  const { here, there, id } = await aWorld(t);
  const [to, from] = [await line(there, `transfer/${id}/receive`), await line(here, `transfer/${id}/send`)];
  await soon("both to be joined", () => from.heard.length + to.heard.length === 2);
  to.socket.pause();
  const piece = Buffer.alloc(1_000_000);
  let written = 0;
  const write = () => from.socket.send(piece, (problem) => problem ?? (written += 1));
  for (let count = 0; count < 64; count += 1) write();
  await soon("some of it to be taken", () => written > 0);
  // The kernel buffers some megabytes for two connections; the server adds one or two.
  await soon("it to come to rest", () => from.socket.bufferedAmount > 0 && written < 64);
  to.socket.resume();
  await soon("all of it", () => to.heard.length === 65);
});

test("a host that sends before the other listens is cut off, and a host that connects again replaces its older connection", async (t) => {
  const { world, here, there, id } = await aWorld(t);
  const early = await line(here, `transfer/${id}/send`);
  const cut = closed(early.socket);
  early.socket.send("hello?");
  assert.equal(await cut, 1006);
  const [older, peer] = [await line(here, `transfer/${id}/send`), await line(there, `transfer/${id}/receive`)];
  await soon("both to be joined", () => older.heard.length + peer.heard.length === 2);
  const [olderGone, peerGone] = [closed(older.socket), closed(peer.socket)];
  const newer = await line(here, `transfer/${id}/send`);
  assert.deepEqual(await Promise.all([olderGone, peerGone]), [4410, 4410]);
  const back = await line(there, `transfer/${id}/receive`);
  await soon("both to be joined again", () => newer.heard.length + back.heard.length === 2);
  const silent = [closed(newer.socket), closed(back.socket)];
  // The first check finds that they spoke since the last one, the second that they did not.
  world.clock.advance(240_000);
  assert.deepEqual(await Promise.all(silent), [1006, 1006]);
});

test("a host whose other side does not come is disconnected", async (t) => {
  const { world, here, id } = await aWorld(t);
  const alone = await line(here, `transfer/${id}/send`);
  const sentAway = closed(alone.socket);
  world.clock.advance(30_000);
  assert.equal(await sentAway, 4408);
});
