// Backups that are made because a rental is about to end.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aBackupWorld,
  archiveOf,
  askedFor,
  aVolume,
  filesOf,
  listBackups,
  OF_AN_INSTANCE,
  sendBackup,
} from "../../../../../test/support/backups.ts";
import { testApp } from "../../../../../test/support/app.ts";
import { rentAndRun } from "../../../../../test/support/rentals.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

test("a volume is backed up at its end as an instance is, and one that ends later is not", async (t) => {
  const all = await aBackupWorld(t);
  const { world } = all;
  const [host, user] = [await world.host(), await world.caller()];
  const inHours = (hours: number) => new Date(world.clock.now().getTime() + hours * HOUR_MS);
  const id = await aVolume(all, user, host, inHours(24));
  await aVolume(all, user, host, inHours(25));
  assert.deepEqual(await world.runLoop("queue-backups"), { queued: 1 });
  await world.runLoop("start-backups");
  const { transferId, action } = await askedFor(host);
  assert.deepEqual(action.type === "back_up" && action.source, { kind: "volume", id, path: "/" });
  await sendBackup(host, transferId, await archiveOf(t, "echo kept > file"));
  assert.deepEqual(await world.runLoop("queue-backups"), { queued: 0 });
  const { body } = await filesOf(all, user, id);
  assert.deepEqual(
    body.files.map(({ name }: { name: string }) => name),
    [`volume-${id}.tar.gz`],
  );
});

test("an instance that ends within a day is backed up once, however many servers look", async (t) => {
  const all = await aBackupWorld(t);
  const { world, folder } = all;
  const [host, user] = [await world.host(), await world.caller()];
  const [id, later] = [await rentAndRun(world, user, host), await rentAndRun(world, user, host)];
  const end = (days: number, of: number) =>
    world.env.pool.query("update instances set end_at = $2 where id = $1", [
      of,
      new Date(world.clock.now().getTime() + days * DAY_MS),
    ]);
  await end(1, id);
  await end(3, later);
  const second = await testApp(t, {
    env: world.env,
    clock: world.clock,
    backups: { directory: folder, limitBytes: 1e6, keptDays: 30 },
  });
  const queue = () => Promise.all([world.runLoop("queue-backups"), second.runLoop("queue-backups")]);
  await queue();
  await queue();
  await Promise.all([world.runLoop("start-backups"), second.runLoop("start-backups")]);
  const { transferId, action } = await askedFor(host);
  assert.deepEqual(action.type === "back_up" && action.source.id, id);
  await sendBackup(host, transferId, await archiveOf(t, OF_AN_INSTANCE));
  await queue();
  assert.deepEqual(
    (await listBackups(all, user)).map(({ contract_id: of, status, info }) => [of, status, String(info).split(";")[0]]),
    [[id, "success", "the rental was about to end"]],
  );
  await host.disconnect();
  world.clock.jump(2 * DAY_MS);
  await queue();
  assert.equal((await listBackups(all, user)).length, 1, "a host that is away is not asked");
  await host.connect();
  await queue();
  assert.equal((await listBackups(all, user)).length, 2);
  await second.close();
});

test("a backup at the end that fails is tried again twice, half a day later each", async (t) => {
  const all = await aBackupWorld(t);
  const { world } = all;
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const endAt = new Date(world.clock.now().getTime() + DAY_MS);
  await world.env.pool.query("update instances set end_at = $2 where id = $1", [id, endAt]);
  for (const count of [1, 2, 3]) {
    assert.deepEqual(await world.runLoop("queue-backups"), { queued: 1 });
    await world.runLoop("start-backups");
    await host.answer((await askedFor(host, count)).taskId, "a file vanished", { is_success: false });
    world.clock.jump(13 * HOUR_MS - 1_000);
    assert.deepEqual(await world.runLoop("queue-backups"), { queued: 0 });
    world.clock.jump(2_000);
  }
  assert.deepEqual(await world.runLoop("queue-backups"), { queued: 0 });
});
