import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import {
  aBackedUp,
  aBackupWorld,
  archiveOf,
  askedFor,
  connectFor,
  copyFiles,
  END,
  filesOf,
  listBackups,
  OF_AN_INSTANCE,
  sendBackup,
  START,
  unpack,
} from "../../../../../test/support/backups.ts";
import { soon, testApp } from "../../../../../test/support/app.ts";
import { destroy, rentAndRun } from "../../../../../test/support/rentals.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

test("a backup that the operator asks for is sent by the host, listed, and downloaded with its token, after the instance", async (t) => {
  const all = await aBackedUp(t);
  const { world, user, host, id, transferId, action, folder } = all;
  assert.deepEqual(action, { type: "back_up", transfer_id: transferId, source: { kind: "instance", id, path: "/" } });
  const pending = await listBackups(all, user);
  assert.deepEqual(
    pending.map(({ status, type, contract_id: of, info }) => [status, type, of, info]),
    [["pending", "instance", id, "the operator asked for it"]],
  );
  assert.equal((await filesOf(all, user, id)).status, 404);
  const archive = await archiveOf(t, OF_AN_INSTANCE);
  assert.match(await sendBackup(host, transferId, archive), /"is_success":true/);
  assert.equal((await connectFor(host, transferId, "send")).status, 404, "the task is over");
  await destroy(world, user, id);
  await host.obey();
  const [made] = await listBackups(all, user, id);
  assert.deepEqual([made?.["status"], made?.["machine_id"]], ["success", host.machineId]);
  assert.match(String(made?.["info"]), /^the operator asked for it; kept until \d{4}-\d\d-\d\d$/);
  assert.deepEqual(await listBackups(all, user, id + 1), []);

  const { status, body } = await filesOf(all, user, id);
  assert.equal(status, 200);
  const { authorization_token: token, expires_in_sec, truncated, files: found } = body;
  assert.deepEqual([expires_in_sec, truncated], [3600, false]);
  assert.deepEqual(
    found.map((one: { name: string; size: number }) => [one.name, one.size]),
    [[`instance-${id}.tar.gz`, archive.length]],
  );
  const url = new URL(found[0].url).pathname;
  for (const given of [{ url, headers: { authorization: token } }, { url: `${url}?Authorization=${token}` }]) {
    const file = await world.app.http.app.inject(given);
    assert.deepEqual([file.statusCode, file.headers["content-length"]], [200, String(archive.length)]);
    assert.deepEqual(file.rawPayload, archive);
  }
  const [name = ""] = await all.files();
  assert.equal((await stat(path.join(folder, name))).mode & 0o777, 0o600);
  assert.deepEqual((await unpack(t, archive)).list.at(-1), "-rw-r----- 0/0 5 ./upper/root/data/file");
  assert.deepEqual(world.complaints, []);
});

test("an operator reads how many backups are wanted, of one as of several", async (t) => {
  const { world, ask } = await aBackupWorld(t);
  const [host, user] = [await world.host({ gpus: 3 }), await world.caller()];
  const machine = `machine ${host.machineId}`;
  await rentAndRun(world, user, host);
  assert.equal(await ask(host), `1 backup of ${machine} is wanted; it is made when its turn comes.`);
  await rentAndRun(world, user, host);
  await rentAndRun(world, user, host);
  assert.equal(await ask(host), `2 backups of ${machine} are wanted; each is made when its turn comes.`);
});

test("nobody else sees a backup, and a token opens one contract for an hour", async (t) => {
  const all = await aBackedUp(t);
  const { world, user, host, id, transferId } = all;
  await sendBackup(host, transferId, await archiveOf(t, OF_AN_INSTANCE));
  const stranger = await world.caller();
  assert.deepEqual(await listBackups(all, stranger), []);
  assert.deepEqual([(await filesOf(all, stranger, id)).status, (await filesOf(all, user, id + 1)).status], [404, 404]);
  const { body } = await filesOf(all, user, id);
  const token = String(body.authorization_token);
  const url = `/api/v0/instance_backups/${id}/files/instance-${id}.tar.gz`;
  const get = async (at: string, authorization?: string) =>
    (await world.app.http.app.inject({ url: at, headers: authorization === undefined ? {} : { authorization } }))
      .statusCode;
  const other = url.replace(`/${id}/`, `/${id + 1}/`);
  const forged = token.replace(/^\d+/, String(stranger.id));
  assert.deepEqual(
    [await get(url), await get(url, `Bearer ${user.secret}`), await get(url, forged), await get(other, token)],
    [404, 404, 404, 404],
  );
  assert.equal(await get(`/api/v0/instance_backups/${id}/files/..%2F..%2Fetc%2Fpasswd`, token), 404);
  assert.equal(await get(`/api/v0/instance_backups/${id}/files/volume-${id}.tar.gz`, token), 404);
  world.clock.jump(HOUR_MS - 2_000);
  assert.equal(await get(url, token), 200);
  world.clock.jump(3_000);
  assert.equal(await get(url, token), 404);
  const [right, wrong] = [{ dst_id: id, src_path: "/upper/root/", dst_path: "/" }, `vast.${id}`];
  const mine = await rentAndRun(world, stranger, host);
  const theft = await copyFiles(all, stranger, { ...right, dst_id: mine, src_id: wrong });
  assert.deepEqual([theft.status, theft.body.error], [404, "no_such_backup"]);
});

test("a host that sends more than a backup may have is cut off, and the row says why", async (t) => {
  const all = await aBackedUp(t);
  const { world, user, host, transferId } = all;
  const line = await connectFor(host, transferId, "send");
  await soon("the server to be ready", () => line.said.length > 0);
  line.socket.send(START);
  const piece = Buffer.alloc(400_000, 0x1f);
  for (let count = 0; count < 4; count += 1) line.socket.send(piece);
  await line.closed;
  const [row] = await listBackups(all, user);
  assert.deepEqual(
    [row?.["status"], row?.["info"]],
    ["error", "it is larger than 0.001 GB, the most that this service keeps of one contract"],
  );
  assert.deepEqual(await all.files(), []);
  assert.equal((await connectFor(host, transferId, "send")).status, 404);
  assert.deepEqual(world.complaints, []);
});

test("a host gains nothing by sending rubbish, by silence, or by saying that it is done", async (t) => {
  const all = await aBackedUp(t);
  const { world, user, host, transferId, taskId, ask, folder } = all;
  for (const messages of [[Buffer.from("early")], ["not JSON"], [START, START], [START, "{}"]]) {
    const line = await connectFor(host, transferId, "send");
    for (const message of messages) line.socket.send(message);
    if (messages[0] !== START) line.socket.send(END);
    if (messages[0] instanceof Buffer) line.socket.terminate();
    await line.closed;
  }
  /** True when the only draft has these bytes. Work on an earlier connection may end after the connection itself. */
  const holds = async (bytes: string) => {
    const names = await all.files();
    const texts = names.map((name) => readFile(path.join(folder, name), "utf8").catch(() => undefined));
    return names.length === 1 && (await texts[0]) === bytes;
  };
  const older = await connectFor(host, transferId, "send");
  older.socket.send(START);
  older.socket.send(Buffer.from("older"));
  await soon("its draft", () => holds("older"));
  const silent = await connectFor(host, transferId, "send");
  silent.socket.send(START);
  silent.socket.send(Buffer.from("silent"));
  assert.equal(await older.closed, 1006, "a newer connection of the host replaces it");
  await soon("another draft", () => holds("silent"));
  world.clock.advance(240_000);
  await silent.closed;
  await soon("the draft to be removed", async () => (await all.files()).length === 0);
  assert.equal((await listBackups(all, user))[0]?.["status"], "pending", "a broken connection is no verdict");
  // The host itself was silent for as long.
  await host.closed();
  await host.connect();
  await host.tasks(1);
  assert.match(await sendBackup(host, transferId, Buffer.from("no gzip at all")), /"is_success":false/);
  assert.match(String((await listBackups(all, user))[0]?.["info"]), /something that is no backup/);
  assert.deepEqual(await all.files(), []);
  await host.answer(taskId, "done");
  await ask(host);
  const again = await askedFor(host, 2);
  await host.answer(again.taskId, "done");
  assert.match(String((await listBackups(all, user))[0]?.["info"]), /nothing came/);
  await ask(host);
  const third = await askedFor(host, 3);
  await host.answer(third.taskId, "a\nfile\x1b vanished", { is_success: false });
  assert.equal((await listBackups(all, user))[0]?.["info"], "a file vanished");
  assert.deepEqual(world.complaints, []);
});

test("an agent that does not know backups is not asked for one, and the row says so", async (t) => {
  const all = await aBackupWorld(t);
  const { world, ask } = all;
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await host.disconnect();
  await host.connect({ makes_backups: false });
  await ask(host);
  await soon("the refusal", async () => (await listBackups(all, user, id))[0]?.["status"] === "error");
  assert.match(String((await listBackups(all, user))[0]?.["info"]), /of a version that makes no backups/);
  assert.deepEqual(await host.tasks(0), []);
  assert.equal(host.closeCode, undefined);
});

test("a server that dies in the midst leaves no half backup, and the next one receives a whole one", async (t) => {
  const first = await aBackedUp(t);
  const { world, host, user, transferId, folder } = first;
  const line = await connectFor(host, transferId, "send");
  await soon("the server to be ready", () => line.said.length > 0);
  line.socket.send(START);
  line.socket.send(Buffer.alloc(10_000, 0x1f));
  await soon("a draft", async () => (await first.files()).length === 1);
  const [draft = ""] = await first.files();
  await world.close();
  await line.closed;
  // A crash leaves its draft; the close above has removed it.
  await writeFile(path.join(folder, draft), "half", { mode: 0o600 });
  await writeFile(path.join(folder, "notes.txt"), "the operator's own");
  const next = await testApp(t, {
    env: world.env,
    clock: world.clock,
    backups: { directory: folder, limitBytes: 1e6, keptDays: 30 },
  });
  await host.connectTo(next.origin);
  assert.match(await sendBackup(host, transferId, await archiveOf(t, OF_AN_INSTANCE)), /"is_success":true/);
  assert.equal((await listBackups({ world: next }, user))[0]?.["status"], "success");
  await next.runLoop("delete-backups");
  assert.deepEqual((await first.files()).length, 2);
  assert.ok(!(await first.files()).includes(draft));
  await next.close();
});

test("a backup that never comes is given up after a day, and one that was made is deleted after its days", async (t) => {
  const all = await aBackedUp(t);
  const { world, user, host, id, transferId, ask } = all;
  world.clock.jump(DAY_MS - 1_000);
  await world.runLoop("start-backups");
  assert.equal((await listBackups(all, user))[0]?.["status"], "pending");
  world.clock.jump(2_000);
  await world.runLoop("start-backups");
  assert.match(String((await listBackups(all, user))[0]?.["info"]), /did not send it within a day/);
  assert.equal((await connectFor(host, transferId, "send")).status, 404);

  await ask(host);
  const again = await askedFor(host, 2);
  await sendBackup(host, again.transferId, await archiveOf(t, OF_AN_INSTANCE));
  world.clock.jump(30 * DAY_MS - 1_000);
  assert.deepEqual(await world.runLoop("delete-backups"), { expired: 0, deleted: 0 });
  assert.equal((await filesOf(all, user, id)).status, 200);
  world.clock.jump(1_000);
  assert.deepEqual(await world.runLoop("delete-backups"), { expired: 1, deleted: 1 });
  assert.deepEqual([await all.files(), (await filesOf(all, user, id)).status], [[], 404]);
  assert.deepEqual(
    (await listBackups(all, user)).map(({ status }) => status),
    ["error"],
  );
});

test("a host sends two backups at a time, and a second request while one is under way asks for no second one", async (t) => {
  const all = await aBackupWorld(t);
  const { world, ask } = all;
  const [host, user] = [await world.host({ gpus: 4 }), await world.caller()];
  for (let count = 0; count < 3; count += 1) await rentAndRun(world, user, host);
  await ask(host);
  await ask(host);
  assert.equal((await host.tasks(2)).length, 2);
  const { transferId } = await askedFor(host, 2);
  await sendBackup(host, transferId, await archiveOf(t, OF_AN_INSTANCE));
  await world.runLoop("start-backups");
  assert.equal((await host.tasks(3)).length, 3);
  assert.equal((await listBackups(all, user)).length, 3);
});

test("without a folder the lists are empty and say why, and nothing is asked of a host", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const { body } = await world.call({ url: "/api/v0/instance_backups/", secret: user.secret });
  assert.deepEqual(body.backups, []);
  assert.match(body.msg, /^This service makes no backups, since its operator has set no folder/);
  const missing = await filesOf({ world }, user, id);
  assert.deepEqual([missing.status, missing.body.error], [404, "no_such_backup"]);
  assert.match(missing.body.msg, /Keep files on a volume, or copy them elsewhere/);
  for (const name of ["queue-backups", "start-backups", "delete-backups"]) await world.runLoop(name);
  assert.deepEqual(await host.tasks(0), []);
  for (const url of [
    "/api/v0/instance_backups/?contract_id=x",
    "/api/v0/instance_backups/?contract_id=0",
    "/api/v0/instance_backups/x/download/",
    "/api/v0/instance_backups/99999999999/download/",
  ]) {
    const answer = await world.call({ url, secret: user.secret });
    assert.deepEqual([answer.status, answer.body.field], [400, "contract_id"], answer.text);
  }
});
