// Files of backups on their way to another instance or volume.
import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import {
  aBackedUp,
  aBackupWorld,
  archiveOf,
  askedFor,
  aVolume,
  copyFiles,
  filesOf,
  receiveFiles,
  sendBackup,
  unpack,
} from "../../../../../test/support/backups.ts";
import { destroy, rentAndRun } from "../../../../../test/support/rentals.ts";

test("files of a backup are copied to another instance in the shape that its path has", async (t) => {
  const all = await aBackedUp(t);
  const { world, user, host, id, transferId } = all;
  const script = `mkdir -p upper/opt/venv/bin upper/cache && echo lib > upper/cache/lib && ln upper/cache/lib upper/opt/venv/lib &&
    ln upper/cache/lib upper/opt/venv/bin/lib2 && ln -s ../lib upper/opt/venv/bin/soft && chown 12:34 upper/opt/venv &&
    chmod 2750 upper/opt/venv && mknod upper/opt/venv/gone c 0 0`;
  await sendBackup(host, transferId, await archiveOf(t, script));
  await destroy(world, user, id);
  await host.obey();
  const to = await rentAndRun(world, user, host);
  let count = 1;
  const receive = async (srcPath: string) => {
    const answer = await copyFiles(all, user, {
      src_id: `vast.${id}`,
      dst_id: to,
      src_path: srcPath,
      dst_path: "/back",
    });
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.body.msg, new RegExp(`^Copying from vast.${id} to C.${to}: check instance status bar`));
    count += 1;
    const asked = await askedFor(host, count);
    assert.deepEqual(asked.action.type === "receive" && asked.action.destination.path, "/back");
    const received = await receiveFiles(host, asked.transferId);
    await host.answer(asked.taskId, "done");
    return received;
  };
  const folder = await receive("/upper/opt/venv");
  assert.deepEqual(folder.start, { kind: "transfer_start", shape: "folder", name: "" });
  const unpacked = await unpack(t, folder.archive);
  assert.equal(await readFile(path.join(unpacked.folder, "venv/lib"), "utf8"), "lib\n");
  assert.equal(await readFile(path.join(unpacked.folder, "venv/bin/lib2"), "utf8"), "lib\n");
  const found = await stat(path.join(unpacked.folder, "venv"));
  assert.deepEqual([found.uid, found.gid, found.mode & 0o7777], [12, 34, 0o2750]);
  assert.ok(unpacked.list.every((line) => !line.includes("gone")));
  assert.equal((await stat(path.join(unpacked.folder, "venv/lib"))).nlink, 2);

  const contents = await receive("upper/opt/venv/");
  assert.equal(contents.start["shape"], "contents");
  const below = (await unpack(t, contents.archive)).list.map((line) => line.split(" ")[3]);
  assert.deepEqual(new Set(below), new Set(["./", "./bin/", "./bin/lib2", "./bin/soft", "./lib"]));

  const file = await receive("/upper/cache/lib");
  assert.deepEqual(file.start, { kind: "transfer_start", shape: "file", name: "lib" });
  assert.deepEqual((await unpack(t, file.archive)).list, ["-rw-r--r-- 0/0 4 ./lib"]);

  const nothing = await receive("/upper/opt/none");
  assert.deepEqual(nothing.start["text"], "there is nothing at /upper/opt/none in the backup");
  const outside = await copyFiles(all, user, { src_id: `vast.${id}`, dst_id: to, src_path: "/opt", dst_path: "/" });
  assert.deepEqual([outside.status, outside.body.field], [400, "src_path"]);
  for (const [change, field] of [
    [{ dst_id: "local" }, "src_id"],
    [{ dst_id: `vast.${id}` }, "dst_id"],
    [{ src_id: "vast.0" }, "src_id"],
    [{ src_id: "vast.99999999999" }, "src_id"],
  ] as const) {
    const wish = { src_id: `vast.${id}`, dst_id: to, src_path: "/upper/", dst_path: "/", ...change };
    const refused = await copyFiles(all, user, wish);
    assert.deepEqual([refused.status, refused.body.field], [400, field], refused.text);
  }
  assert.deepEqual(world.complaints, []);
});

test("an instance and a volume of the same id have two files, and a path says which one is copied", async (t) => {
  const all = await aBackupWorld(t);
  const { world, ask } = all;
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await aVolume(all, user, host, new Date("2100-01-01"), id);
  await ask(host);
  for (const { task_id: taskId, action } of await host.tasks(2)) {
    assert.ok(action.type === "back_up", taskId);
    const script = action.source.kind === "volume" ? "echo volume > file" : "mkdir upper && echo instance > upper/file";
    await sendBackup(host, action.transfer_id, await archiveOf(t, script));
  }
  const { body } = await filesOf(all, user, id);
  assert.deepEqual(
    body.files.map(({ name }: { name: string }) => name),
    [`instance-${id}.tar.gz`, `volume-${id}.tar.gz`],
  );
  let count = 2;
  for (const [srcPath, expected] of [
    ["/upper/file", "instance\n"],
    ["/file", "volume\n"],
  ] as const) {
    const wish = { src_id: `vast.${id}`, dst_id: `V.${id}`, src_path: srcPath, dst_path: "/" };
    assert.equal((await copyFiles(all, user, wish)).status, 200);
    count += 1;
    const { archive } = await receiveFiles(host, (await askedFor(host, count)).transferId);
    assert.equal(await readFile(path.join((await unpack(t, archive)).folder, "file"), "utf8"), expected);
  }
});
