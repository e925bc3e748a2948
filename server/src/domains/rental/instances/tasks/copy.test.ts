import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { destroy, rent, rentAndRun, setState, show } from "../../../../../../test/support/rentals.ts";

const URL = "/api/v0/commands/copy_direct/";

const copy = (world: TestApp, user: TestCaller, body: object, url = URL) =>
  world.call({ method: "PUT", url, secret: user.secret, body: { client_id: "me", ...body } });

const cancel = (world: TestApp, user: TestCaller, dstId: unknown, url = URL) =>
  world.call({ method: "DELETE", url, secret: user.secret, body: { client_id: "me", dst_id: dstId } });

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

test("a copy between two instances is done by their host, and shown at the destination", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const [from, to] = [await rentAndRun(world, user, host), await rentAndRun(world, user, host)];
  await setState(world, user, to, "stopped");
  await host.obey();
  const idle = [(await show(world, user, from)).status_msg, (await show(world, user, to)).status_msg];
  const answer = await copy(world, user, { src_id: from, dst_id: `C.${to}`, src_path: "/data/", dst_path: "work" });
  assert.deepEqual([answer.status, answer.body.success], [200, true], answer.text);
  assert.match(answer.body.msg, /check instance status bar/);
  const [task] = await host.tasks(1);
  assert.deepEqual(task?.action, {
    type: "copy",
    source: { kind: "instance", id: from, path: "/data/" },
    destination: { kind: "instance", id: to, path: "/work" },
  });
  const note = `from C.${from} to C.${to}`;
  assert.equal((await show(world, user, to)).status_msg, `copying ${note}`);
  await host.progress(task.task_id, "45% of 3 GB");
  assert.equal((await show(world, user, to)).status_msg, `copying ${note}: 45% of 3 GB`);
  await host.progress(task.task_id, "Error: permission denied");
  assert.equal((await show(world, user, to)).status_msg, `copying ${note}`, "no host can make it look like a failure");
  await host.answer(task.task_id, "3 GB in 10 s");
  assert.equal((await show(world, user, to)).status_msg, `copy ${note} is complete`);
  const page = await world.call({ url: "/api/v1/instances/", secret: user.secret });
  const texts = page.body.instances.map((row: { status_msg: string }) => row.status_msg);
  assert.deepEqual(texts, [idle[0], `copy ${note} is complete`], "in lists too, and not at the source");
  world.clock.jump(60_000);
  assert.equal((await show(world, user, to)).status_msg, idle[1]);
  assert.deepEqual(await world.runLoop("delete-expired-tasks"), { deleted: 1 });
  assert.deepEqual(world.complaints, []);
});

test("a failed copy shows the reason for a minute", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await copy(world, user, { src_id: id, dst_id: id, src_path: "/a", dst_path: "/b" }, "/api/v0/commands/rsync");
  const [task] = await host.tasks(1);
  await host.answer(task?.task_id ?? "", "there is no /a", { is_success: false });
  assert.equal((await show(world, user, id)).status_msg, `copy from C.${id} to C.${id} ended early: there is no /a`);
  await host.report([{ instance_id: id, generation: 1, state: "failed", status_msg: "no such image" }]);
  assert.equal((await show(world, user, id)).status_msg, "no such image", "what keeps it from running comes first");
});

test("volumes of the same host are copied from and to", async (t) => {
  const world = await testApp(t);
  const [host, user, stranger] = [await world.host(), await world.caller(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const [volume, other, foreign] = [
    await aVolume(world, user, host),
    await aVolume(world, user, host),
    await aVolume(world, stranger, host),
  ];
  const from = { src_id: `C.${id}`, src_path: "/out" };
  assert.equal((await copy(world, user, { ...from, dst_id: `V.${volume}`, dst_path: "/" })).status, 200);
  assert.equal((await show(world, user, id)).status_msg, `copying from C.${id} to V.${volume}`);
  const between = { src_id: `V.${volume}`, src_path: "/", dst_id: `V.${other}`, dst_path: "/" };
  assert.equal((await copy(world, user, between)).status, 200);
  const [first, second] = await host.tasks(2);
  assert.deepEqual(first?.action.type === "copy" && first.action.destination, {
    kind: "volume",
    id: volume,
    path: "/",
  });
  assert.deepEqual(second?.action.type === "copy" && second.action.source, { kind: "volume", id: volume, path: "/" });
  for (const dst of [`V.${foreign}`, "V.99999"]) {
    const answer = await copy(world, user, { ...from, dst_id: dst, dst_path: "/" });
    assert.deepEqual([answer.status, answer.body.error], [404, "no_such_volume"]);
    assert.equal((await cancel(world, user, dst)).status, 404);
  }
  assert.match((await cancel(world, user, `V.${other}`)).body.msg, /is cancelled/);
  assert.deepEqual(await host.cancelled(), [second?.task_id]);
});

test("a copy is cancelled by its destination, on the host at once or when it reconnects", async (t) => {
  const world = await testApp(t);
  const [host, user, stranger] = [await world.host(), await world.caller(), await world.caller()];
  const [from, to] = [await rentAndRun(world, user, host), await rentAndRun(world, user, host)];
  const wish = { src_id: from, dst_id: to, src_path: "/a", dst_path: "/b" };
  await copy(world, user, wish);
  const [first] = await host.tasks(1);
  assert.match((await cancel(world, user, from)).body.msg, /Nothing is being copied/);
  for (const [caller, id] of [
    [stranger, to],
    [user, 99_999],
  ] as const) {
    const answer = await cancel(world, caller, id);
    assert.deepEqual([answer.status, answer.body.error], [404, "no_such_instance"]);
  }
  const done = await cancel(world, user, `C.${to}`, "/api/v0/commands/rsync/");
  assert.deepEqual([done.status, done.body.success], [200, true]);
  assert.deepEqual(await host.cancelled(), [first?.task_id]);
  assert.equal((await show(world, user, to)).status_msg, `copy from C.${from} to C.${to} was cancelled`);
  await host.answer(first?.task_id ?? "", "cancelled", { is_success: false });
  assert.match((await cancel(world, user, to)).body.msg, /Nothing is being copied/);

  await copy(world, user, wish);
  const second = (await host.tasks(2))[1];
  await host.disconnect();
  assert.equal((await cancel(world, user, to)).status, 200);
  await host.connect();
  assert.deepEqual(await host.cancelled(), [second?.task_id]);
  assert.equal((await host.tasks(0)).length, 0);
});

test("a copy between other places is refused with the possible ones", async (t) => {
  const world = await testApp(t);
  const [host, user, stranger] = [await world.host({ gpus: 4 }), await world.caller(), await world.caller()];
  const [id, theirs] = [await rentAndRun(world, user, host), await rentAndRun(world, stranger, host)];
  const never = await rent(world, user, host, { target_state: "stopped" });
  const right = { src_id: id, dst_id: id, src_path: "/a", dst_path: "/b" };
  for (const [change, status, error, field] of [
    [{ src_path: undefined }, 400, "invalid_args", "src_path"],
    [{ src_path: "" }, 400, "invalid_args", "src_path"],
    [{ src_path: "/a/../b" }, 400, "invalid_args", "src_path"],
    [{ dst_path: null }, 400, "invalid_args", "dst_path"],
    [{ dst_path: "/a/b" }, 400, "invalid_args", "dst_path"],
    [{ src_id: null }, 409, "no_ssh_access", undefined],
    [{ src_id: "local" }, 409, "no_ssh_access", undefined],
    [{ dst_id: "s3.4" }, 400, "invalid_args", "dst_id"],
    [{ dst_id: 0 }, 400, "invalid_args", "dst_id"],
    [{ src_id: theirs }, 404, "no_such_instance", undefined],
    [{ dst_id: theirs }, 404, "no_such_instance", undefined],
    [{ dst_id: 99_999 }, 404, "no_such_instance", undefined],
    [{ dst_id: never }, 409, "never_started", undefined],
  ] as const) {
    const answer = await copy(world, user, { ...right, ...change });
    assert.deepEqual(
      [answer.status, answer.body.error, answer.body.field],
      [status, error, field],
      `${JSON.stringify(change)} ${answer.text}`,
    );
  }
  assert.match((await copy(world, user, { ...right, src_path: "" })).body.msg, /^Invalid src_path\./);
  assert.match((await cancel(world, user, "drive")).body.msg, /^Invalid dst_id\./);
  await host.disconnect();
  world.clock.jump(61_000);
  assert.deepEqual([(await copy(world, user, right)).body.error], ["host_offline"]);
  assert.equal((await host.tasks(0)).length, 0, "no host got a task");
  await destroy(world, user, id);
  assert.equal((await copy(world, user, right)).status, 404);
});

test("a copy to another machine is a task of both hosts, and over when one of them reports its end", async (t) => {
  const world = await testApp(t);
  const [here, there, user] = [await world.host(), await world.host(), await world.caller()];
  const [from, to] = [await rentAndRun(world, user, here), await rentAndRun(world, user, there)];
  const wish = { src_id: from, dst_id: to, src_path: "/a/", dst_path: "/b" };
  assert.equal((await copy(world, user, wish)).status, 200);
  const [[sending], [receiving]] = [await here.tasks(1), await there.tasks(1)];
  assert.ok(sending?.action.type === "send" && receiving?.action.type === "receive");
  const { transfer_id } = sending.action;
  const half = {
    transfer_id,
    source: { kind: "instance", id: from, path: "/a/" },
    destination: { kind: "instance", id: to, path: "/b" },
    is_compressed: true,
  };
  assert.deepEqual(sending.action, { type: "send", ...half });
  assert.deepEqual(receiving.action, { type: "receive", ...half, is_fresh: false });
  const note = `from C.${from} to C.${to}`;
  const notes = async () => [(await show(world, user, from)).status_msg, (await show(world, user, to)).status_msg];
  assert.deepEqual(await notes(), [`copying ${note}`, `copying ${note}`]);
  await there.answer(receiving.task_id, "the disk is full", { is_success: false });
  const ended = `copy ${note} ended early: the disk is full`;
  assert.deepEqual(await notes(), [ended, ended]);
  await here.answer(sending.task_id, "done");
  assert.deepEqual(await notes(), [ended, ended], "the first answer counts");

  assert.equal((await copy(world, user, wish)).status, 200);
  const [sent, received] = [(await here.tasks(2))[1], (await there.tasks(2))[1]];
  assert.match((await cancel(world, user, to)).body.msg, /is cancelled/);
  assert.deepEqual([await here.cancelled(), await there.cancelled()], [[sent?.task_id], [received?.task_id]]);
});
