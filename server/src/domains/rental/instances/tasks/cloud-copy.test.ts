import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { rentAndRun, setState, show } from "../../../../../../test/support/rentals.ts";
import { until } from "../../../../../../test/support/until.ts";

const COPIES = "/api/v0/commands/rclone/";
const CONNECTIONS = "/api/v0/users/cloud/";
const KEYS = { access_key: "AKIACANARY012345", secret_access_key: "storage-secret-canary" };

async function aConnection(world: TestApp, { secret }: TestCaller): Promise<number> {
  const body = { provider: "s3", user_given_name: "backups", ...KEYS, endpoint: "https://s3.example.com" };
  return (await world.call({ method: "POST", url: CONNECTIONS, secret, body })).body.id;
}

const send = (world: TestApp, { secret }: TestCaller, body: object, method: "POST" | "DELETE" = "POST") =>
  world.call({ method, url: COPIES, secret, body });

/** Tables whose rows hold the text in clear. */
async function tablesWith({ env }: TestApp, text: string): Promise<readonly string[]> {
  const { rows } = await env.pool.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public'",
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const seen = await env.pool.query(`select 1 from ${name} as t where position($1 in t::text) > 0`, [text]);
    if (seen.rows.length > 0) found.push(name);
  }
  return found;
}

test("an instance is copied to a storage: the host alone gets the keys, and its end is at an address", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const [id, selected] = [await rentAndRun(world, user, host), await aConnection(world, user)];
  await setState(world, user, id, "stopped");
  await host.obey();
  const wish = { instance_id: String(id), selected: String(selected), src: "/out", dst: "/bucket/out/" };
  const started = await send(world, user, {
    ...wish,
    transfer: "instance TO cloud",
    flags: ["--update"],
    api_key: "x",
  });
  assert.equal(started.status, 200, started.text);
  const [task] = await host.tasks(1);
  const { task_id: taskId = "", action } = task ?? {};
  assert.deepEqual(action, {
    ...{ type: "cloud_copy", place: { kind: "instance", id, path: "/out" }, is_upload: true, flags: ["--update"] },
    ...{ connection: `s3.${selected}`, cloud_path: "bucket/out/" },
    settings: { provider: "s3", ...KEYS, endpoint: "https://s3.example.com" },
  });
  for (const key of Object.values(KEYS)) assert.deepEqual(await tablesWith(world, key), []);
  assert.equal((await show(world, user, id)).status_msg, `copying from C.${id} to s3.${selected}`);
  await host.progress(taskId, "1.0 of 2.0 MB");
  assert.equal((await show(world, user, id)).status_msg, `copying from C.${id} to s3.${selected}: 1.0 of 2.0 MB`);
  const result = () => world.call({ url: new URL(started.body.result_url).pathname });
  assert.equal((await result()).status, 404);
  world.clock.jump(3_600_000);
  await host.answer(taskId, "copied 2.0 MB in 3 files");
  assert.equal((await show(world, user, id)).status_msg, `copy from C.${id} to s3.${selected} is complete`);
  assert.equal((await result()).text, "copied 2.0 MB in 3 files", "a copy may take longer than a result is kept");
  world.clock.jump(600_000);
  assert.equal((await result()).status, 404);
});

test("a copy from a storage is cancelled by its instance; a stranger's instance or connection is not found", async (t) => {
  const world = await testApp(t);
  const [host, user, stranger] = [await world.host(), await world.caller(), await world.caller()];
  const [id, selected] = [await rentAndRun(world, user, host), await aConnection(world, user)];
  const wish = { instance_id: id, selected, src: "bucket", dst: "/in", transfer: "Cloud To Instance" };
  assert.equal((await send(world, user, wish)).status, 200);
  const [task] = await host.tasks(1);
  assert.equal(task?.action.type === "cloud_copy" && task.action.is_upload, false);
  assert.equal((await show(world, user, id)).status_msg, `copying from s3.${selected} to C.${id}`);
  const theirs = await send(world, stranger, { ...wish, selected: await aConnection(world, stranger) });
  assert.deepEqual([theirs.status, theirs.body.error], [404, "no_such_instance"]);
  assert.equal((await send(world, stranger, { ...wish, instance_id: id })).body.error, "no_such_connection");
  assert.equal((await send(world, stranger, { dst_id: id }, "DELETE")).status, 404);
  assert.match((await send(world, user, { dst_id: id }, "DELETE")).body.msg, /is cancelled/);
  assert.deepEqual(await host.cancelled(), [task?.task_id]);
  assert.match((await send(world, user, { dst_id: id }, "DELETE")).body.msg, /^Nothing is being copied/);
});

test("an agent that cannot copy with clouds is not asked: the copy ends with the reason", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const [id, selected] = [await rentAndRun(world, user, host), await aConnection(world, user)];
  await host.disconnect();
  await host.connect({ copies_to_clouds: false });
  const wish = { instance_id: id, selected, src: "/a", dst: "bucket", transfer: "Instance To Cloud" };
  const { body } = await send(world, user, wish);
  const result = await until("the answer in its place", async () => {
    const answer = await world.call({ url: new URL(body.result_url).pathname });
    return answer.status === 200 ? answer.text : undefined;
  });
  assert.match(result, /install rclone/);
});

test("a wrong field of a cloud copy is named", async (t) => {
  const world = await testApp(t);
  const user = await world.caller();
  const selected = await aConnection(world, user);
  const wish = { instance_id: 7, selected, src: "/a", dst: "bucket/b", transfer: "Instance To Cloud" };
  const wrong: readonly (readonly [object, string])[] = [
    [{ ...wish, transfer: "Cloud To Cloud" }, "transfer"],
    [{ ...wish, transfer: undefined }, "transfer"],
    [{ ...wish, instance_id: "s3.1" }, "instance_id"],
    [{ ...wish, selected: "0x1" }, "selected"],
    [{ ...wish, selected: undefined }, "selected"],
    [{ ...wish, src: "/a/../b" }, "src"],
    [{ ...wish, src: "" }, "src"],
    [{ ...wish, dst: "/" }, "dst"],
    [{ ...wish, dst: "bucket/../other" }, "dst"],
    [{ ...wish, dst: "bucket\n" }, "dst"],
    [{ ...wish, flags: ["--config=/etc/passwd"] }, "flags"],
    [{ ...wish, flags: ["--update", "--rc"] }, "flags"],
    [{ ...wish, transfer: "Cloud To Instance", src: "", dst: "/a" }, "src"],
  ];
  for (const [body, field] of wrong) {
    const answer = await send(world, user, body);
    assert.deepEqual([answer.status, answer.body.field], [400, field], `${JSON.stringify(body)}: ${answer.text}`);
  }
  assert.equal((await send(world, user, {}, "DELETE")).body.field, "dst_id");
});
