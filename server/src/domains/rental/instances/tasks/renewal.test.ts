import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { destroy, history, reboot, rent, rentAndRun, setState, show } from "../../../../../../test/support/rentals.ts";

const recycle = (world: TestApp, user: TestCaller, id: number) =>
  world.call({ method: "PUT", url: `/api/v0/instances/recycle/${id}/`, secret: user.secret, body: {} });

const update = (world: TestApp, user: TestCaller, id: number, body: unknown) =>
  world.call({ method: "PUT", url: `/api/v0/instances/update_template/${id}/`, secret: user.secret, body });

async function report(
  host: FakeHost,
  id: number,
  state: "pulling" | "starting" | "running" | "exited" | "failed",
  text = "",
) {
  await host.synced();
  const generation = host.order(id)?.generation ?? 0;
  await host.report([{ instance_id: id, generation, state, status_msg: text }]);
}

test("recycling creates the container again in place, and shows it", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const before = host.order(id);
  const status = async () => (await show(world, user, id)).actual_status;
  assert.deepEqual((await recycle(world, user, id)).body, { success: true });
  await host.synced();
  const after = host.order(id);
  assert.deepEqual(
    [after?.generation, after?.revision, after?.run, after?.gpu_uuids],
    [(before?.generation ?? 0) + 1, (before?.revision ?? 0) + 1, "running", before?.gpu_uuids],
    "with the same devices",
  );
  assert.equal(await status(), "recycling");
  await report(host, id, "pulling");
  assert.equal(await status(), "loading");
  await report(host, id, "running");
  assert.equal(await status(), "running");
  assert.deepEqual((await history(world, id)).at(-2), ["running", "starting", "recycle"]);

  await reboot(world, user, id);
  await host.synced();
  assert.equal(host.order(id)?.revision, after?.revision, "a reboot keeps the container");
  assert.equal(await status(), "rebooting");
  assert.equal((await recycle(world, user, id)).status, 200, "a starting one is created again as well");
  await host.synced();
  assert.equal(host.order(id)?.revision, (after?.revision ?? 0) + 1);
  await host.obey();
  assert.equal(await status(), "running");
  await world.assertBooks();
});

test("a run in place that cannot start shows the reason", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  for (const again of [recycle, reboot]) {
    await again(world, user, id);
    await report(host, id, "failed", "there is no such image");
    const shown = await show(world, user, id);
    assert.deepEqual([shown.actual_status, shown.status_msg], ["created", "there is no such image"]);
    await report(host, id, "exited");
    assert.equal((await show(world, user, id)).actual_status, "exited");
    await report(host, id, "running");
  }
});

test("only the caller's own running instance is recycled", async (t) => {
  const world = await testApp(t);
  const [host, user, stranger] = [await world.host(), await world.caller(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  assert.equal((await show(world, user, id)).actions.recycle.allowed, true);
  for (const [caller, instance] of [
    [stranger, id],
    [user, 99_999],
  ] as const) {
    const answer = await recycle(world, caller, instance);
    assert.deepEqual([answer.status, answer.body.error], [404, "no_such_instance"]);
    assert.equal((await update(world, caller, instance, { image: "alpine" })).status, 404);
  }
  await setState(world, user, id, "stopped");
  for (const settle of [() => Promise.resolve(), () => host.obey()]) {
    await settle();
    const answer = await recycle(world, user, id);
    assert.deepEqual([answer.status, answer.body.error, answer.body.field], [400, "invalid_args", "id"]);
  }
  assert.equal((await show(world, user, id)).actions.recycle.allowed, false);
  await destroy(world, user, id);
  assert.equal((await recycle(world, user, id)).status, 404);
  assert.equal((await update(world, user, id, { image: "alpine" })).status, 404);
});

test("other settings create a running container again, and disk and label stay", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host, { disk: 20, label: "mine", env: "-e A=1 -e B=2", onstart: "true" });
  const answer = await update(world, user, id, { id, image: "alpine:3", env: { B: "3" }, onstart: null, args: null });
  assert.equal(answer.status, 200, answer.text);
  const { updated_instance: record } = answer.body;
  assert.deepEqual(
    [record.id, record.image_uuid, record.extra_env, record.onstart, record.label, record.disk_space],
    [id, "alpine:3", [["A", "1"], ["B", "3"]], "true", "mine", 20], // prettier-ignore
  );
  assert.equal(record.actual_status, "recycling");
  await host.synced();
  const order = host.order(id);
  assert.deepEqual([order?.image, order?.revision, order?.disk_bytes], ["alpine:3", 1, 20e9]);
  assert.ok(order?.env.some(([name, value]) => name === "B" && value === "3"));
  assert.deepEqual((await history(world, id)).at(-1), ["running", "starting", "update_template"]);
  await host.obey();
  assert.equal((await show(world, user, id)).actual_status, "running");
  await world.assertBooks();
});

test("a stopped instance has its new settings at its next start", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const [id, never] = [await rentAndRun(world, user, host), await rent(world, user, host, { target_state: "stopped" })];
  await setState(world, user, id, "stopped");
  await host.obey();
  const answer = await update(world, user, id, { image: "alpine" });
  assert.equal(answer.body.updated_instance.actual_status, "stopped");
  await setState(world, user, id, "running");
  await host.synced();
  assert.deepEqual([host.order(id)?.image, host.order(id)?.revision], ["alpine:latest", 1]);
  assert.equal((await update(world, user, never, { image: "alpine" })).status, 200);
  assert.equal((await show(world, user, never)).image_uuid, "alpine:latest");
});

test("a template is taken by its hash, or by its id if it is visible", async (t) => {
  const world = await testApp(t);
  const [host, user, stranger] = [await world.host(), await world.caller(), await world.caller()];
  const id = await rentAndRun(world, user, host, { env: "-e OWN=1" });
  const make = async (by: TestCaller, body: object) => {
    const answer = await world.call({ method: "POST", url: "/api/v0/template/", secret: by.secret, body });
    return answer.body.template;
  };
  const own = await make(user, { name: "own", image: "alpine", env: "-e T=1", private: true });
  const foreign = await make(stranger, { name: "foreign", image: "debian", private: true });
  const open = await make(stranger, { name: "open", image: "ubuntu", private: false });
  for (const [body, image, hash] of [
    [{ template_hash_id: own.hash_id }, "alpine:latest", own.hash_id],
    [{ template_id: open.id }, "ubuntu:latest", open.hash_id],
    [{ template_id: String(own.id), image: "alpine:3" }, "alpine:3", own.hash_id],
    [{ template_hash_id: foreign.hash_id }, "debian:latest", foreign.hash_id],
  ] as const) {
    const answer = await update(world, user, id, body);
    assert.equal(answer.status, 200, answer.text);
    const { updated_instance: record } = answer.body;
    assert.deepEqual([record.image_uuid, record.template_hash_id], [image, hash]);
  }
  for (const [body, status, field] of [
    [{ template_id: foreign.id }, 404, "template_id"],
    [{ template_id: 99_999 }, 404, "template_id"],
    [{ template_hash_id: "0".repeat(32) }, 404, "template_hash_id"],
    [{}, 400, "image"],
    [{ image: null }, 400, "image"],
    [{ image: "UPPER" }, 400, "image"],
    [{ env: { "-p": "x" } }, 400, "env"],
    [{ env: "-v V.1:/data" }, 400, "env"],
    [{ args: 7 }, 400, "args"],
  ] as const) {
    const answer = await update(world, user, id, body);
    assert.deepEqual([answer.status, answer.body.field], [status, field], `${JSON.stringify(body)} ${answer.text}`);
  }
  assert.equal((await show(world, user, id)).image_uuid, "debian:latest", "a refusal changes nothing");
});
