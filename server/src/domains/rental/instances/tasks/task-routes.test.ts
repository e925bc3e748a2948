import assert from "node:assert/strict";
import { test } from "node:test";
import { soon, testApp } from "../../../../../../test/support/app.ts";
import { askLogs, fetchResult, resultPath } from "../../../../../../test/support/hosts/host-tasks.ts";
import { destroy, rent, rentAndRun, setState, show } from "../../../../../../test/support/rentals.ts";

const execute = (id: number) => `/api/v0/instances/command/${id}/`;
const snapshot = (id: number) => `/api/v0/instances/take_snapshot/${id}/`;

test("the logs of an instance are requested from its host at once, and fetched without a key when they have arrived", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const answer = await askLogs(world, user, id);
  assert.deepEqual([answer.body.success, typeof answer.body.msg], [true, "string"]);
  const path = resultPath(answer);
  const [task] = await host.tasks(1);
  assert.deepEqual(task?.action, {
    type: "logs",
    instance_id: id,
    tail_lines: 1000,
    filter: "",
    is_agent_log: false,
  });
  const early = await world.call({ url: path });
  assert.deepEqual([early.status, early.body.error], [404, "no_such_result"]);
  await host.answer(task.task_id, "one\ntwo\u0000\u{1F984}\n");

  const ready = await world.call({ url: path.replace(/\/$/, "") });
  assert.deepEqual([ready.status, ready.text], [200, "one\ntwo\u{FFFD}\u{1F984}\n"]);
  assert.match(String(ready.headers["content-type"]), /^text\/plain/);
  assert.deepEqual(
    [ready.headers["x-content-type-options"], ready.headers["cache-control"]],
    ["nosniff", "no-store"],
    "no browser treats it as a page",
  );
  const head = await world.call({ method: "HEAD", url: path });
  assert.deepEqual([head.status, head.text], [200, ""]);

  await host.answer(task.task_id, "something else", { is_success: false });
  assert.equal((await fetchResult(world, path)).text, ready.text, "a repeated answer changes nothing");
  world.clock.jump(599_000);
  assert.equal((await fetchResult(world, path)).status, 200);
  world.clock.jump(2_000);
  assert.equal((await fetchResult(world, path)).status, 404);
  assert.deepEqual(await world.runLoop("delete-expired-tasks"), { deleted: 1 });
  assert.deepEqual(world.complaints, []);
});

test("two results do not mix, and the message of a failed one is a result too", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const first = resultPath(await askLogs(world, user, id, { tail: "5", filter: "a", daemon_logs: "true" }));
  const second = resultPath(await askLogs(world, user, id, { tail: 7, filter: null, daemon_logs: "false" }));
  const [one, two] = await host.tasks(2);
  assert.ok(one?.action.type === "logs" && two?.action.type === "logs");
  assert.deepEqual([one.action.tail_lines, one.action.filter, one.action.is_agent_log], [5, "a", true]);
  assert.deepEqual([two.action.tail_lines, two.action.filter, two.action.is_agent_log], [7, "", false]);
  await host.answer(two.task_id, "the container has no logs", { is_success: false });
  assert.equal((await fetchResult(world, first)).status, 404);
  assert.deepEqual(await fetchResult(world, second), { status: 200, text: "the container has no logs" });
  await host.answer(one.task_id, "a megabyte ".padEnd(1_048_576, "x"));
  assert.equal((await fetchResult(world, first)).text.length, 1_048_576);
  for (const path of [`${first.slice(0, -2)}/`, "/api/v0/results/x/", `/api/v0/results/${"a".repeat(43)}/`]) {
    assert.equal((await fetchResult(world, path)).status, 404, path);
  }
});

test("a command runs as words, on a stopped instance too, and only ls, rm and du are commands", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await setState(world, user, id, "stopped");
  await host.obey();
  const ask = (body: unknown) => world.call({ method: "PUT", url: execute(id), secret: user.secret, body });
  const answer = await ask({ command: "rm -r 'my data'" });
  assert.equal(typeof answer.body.writeable_path, "string");
  assert.equal("text".replace(answer.body.writeable_path, ""), "text", "clients strip it from the text");
  const path = resultPath(answer);
  const [task] = await host.tasks(1);
  assert.deepEqual(task?.action, { type: "execute", instance_id: id, argv: ["rm", "-r", "my data"] });
  await host.answer(task.task_id, "");
  assert.deepEqual(await fetchResult(world, path), { status: 200, text: "" });

  for (const body of [{}, { command: "" }, { command: "cat x" }, { command: "ls | sh" }, { command: 7 }]) {
    const refused = await ask(body);
    assert.deepEqual([refused.status, refused.body.error, refused.body.field], [400, "invalid_args", "command"]);
  }
  assert.match((await ask({ command: "ls; id" })).body.msg, /; needs a shell/);
  const malformed = await world.call({ method: "PUT", url: execute(id), secret: user.secret, text: "{" });
  assert.deepEqual([malformed.status, malformed.body.error, malformed.body.msg], [483, "invalid_args", "Invalid json_body"]); // prettier-ignore
  const elsewhere = await world.call({
    method: "PUT",
    url: `/api/v0/instances/request_logs/${id}/`,
    secret: user.secret,
    text: "{",
  });
  assert.deepEqual([elsewhere.status, elsewhere.body.error], [400, "invalid_request"], "as everywhere else");
});

test("an invalid task is refused by its field", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  for (const [field, body] of [
    ["tail", { tail: "many" }],
    ["tail", { tail: -1 }],
    ["tail", { tail: 100_001 }],
    ["tail", { tail: 1.5 }],
    ["filter", { filter: "x".repeat(1025) }],
    ["filter", { filter: 7 }],
  ] as const) {
    const answer = await askLogs(world, user, id, body);
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  }
  for (const [field, body] of [
    ["personal_repo", {}],
    ["container_registry", { personal_repo: "me/app", container_registry: "nowhere" }],
    ["docker_login_pass", { personal_repo: "me/app", docker_login_user: "me" }],
  ] as const) {
    const answer = await world.call({ method: "POST", url: snapshot(id), secret: user.secret, body });
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  }
});

test("another user's instance, a destroyed one and an absent one get the same answer", async (t) => {
  const world = await testApp(t);
  const [host, user, stranger] = [await world.host(), await world.caller(), await world.caller()];
  const [id, gone] = [await rentAndRun(world, user, host), await rentAndRun(world, user, host)];
  await destroy(world, user, gone);
  for (const [secret, instance] of [
    [stranger.secret, id],
    [user.secret, gone],
    [user.secret, 99_999],
    [user.secret, 2_147_483_648],
  ] as const) {
    const call = (method: "PUT" | "POST", url: string, body: unknown) => world.call({ method, url, secret, body });
    const logs = await call("PUT", `/api/v0/instances/request_logs/${instance}/`, {});
    assert.deepEqual([logs.status, logs.body.error], [404, "invalid_id"]);
    const command = await call("PUT", execute(instance), { command: "ls" });
    assert.deepEqual([command.status, command.body.error], [400, "invalid_container_id"]);
    const image = await call("POST", snapshot(instance), { personal_repo: "me/app" });
    assert.deepEqual([image.status, image.body.error], [404, "no_such_instance"]);
  }
  const writer = await world.caller({ permissions: { api: { instance_write: {} } } });
  assert.equal((await askLogs(world, writer, id)).status, 403, "reading logs takes the permission to read");
});

test("a task for a disconnected host, or an instance that was never started, is refused at once", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const never = await rent(world, user, host, { target_state: "stopped" });
  const early = await askLogs(world, user, never);
  assert.deepEqual([early.status, early.body.error], [409, "never_started"]);
  const id = await rentAndRun(world, user, host);
  await host.disconnect();
  assert.equal((await askLogs(world, user, id)).status, 200, "it may be back within the minute");
  world.clock.jump(61_000);
  assert.equal((await show(world, user, id)).actual_status, "offline");
  const away = await askLogs(world, user, id);
  assert.deepEqual([away.status, away.body.error], [409, "host_offline"]);
  assert.match(away.body.msg, /offline/);
});

test("a host that reconnects gets the tasks that it has not answered, and no other", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const [answered, open] = [resultPath(await askLogs(world, user, id)), resultPath(await askLogs(world, user, id))];
  const [first, second] = await host.tasks(2);
  assert.ok(first && second);
  await host.answer(first.task_id, "first");
  await askLogs(world, user, id);
  assert.equal((await host.tasks(3)).length, 3, "a task is sent once on a connection");
  host.terminate();
  await host.connect();
  const again = await host.tasks(2);
  assert.equal(again[0]?.task_id, second.task_id);
  assert.deepEqual(again[0].action, second.action);
  await host.answer(second.task_id, "second");
  assert.equal((await fetchResult(world, answered)).text, "first");
  assert.equal((await fetchResult(world, open)).text, "second");
  await host.disconnect();
  const late = await askLogs(world, user, id);
  await host.connect();
  assert.equal((await host.tasks(2)).length, 2);
  world.clock.jump(601_000);
  await host.connect();
  await host.report(host.obedience());
  assert.equal((await host.tasks(0)).length, 0, "the task is over");
  assert.equal((await fetchResult(world, resultPath(late))).status, 404);
});

test("a host reports on its own tasks only", async (t) => {
  const world = await testApp(t);
  const [host, thief, user] = [await world.host(), await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const path = resultPath(await askLogs(world, user, id));
  const [task] = await host.tasks(1);
  assert.ok(task);
  await thief.answer(task.task_id, "forged");
  await thief.answer("no-such-task", "forged");
  await thief.progress(task.task_id, "forged");
  assert.equal((await fetchResult(world, path)).status, 404);
  await host.answer(task.task_id, "true");
  assert.equal((await fetchResult(world, path)).text, "true");
  host.sendText(JSON.stringify({ kind: "task_result", task_id: task.task_id, is_success: true, text: 7 }));
  assert.equal(await host.closed(), 4400);
});

test("the address of a result is that of the server as the caller reached it", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const originWith = async (headers: Readonly<Record<string, string>>) => {
    const url = `/api/v0/instances/request_logs/${id}/`;
    const answer = await world.call({ method: "PUT", url, secret: user.secret, body: {}, headers });
    return new URL(answer.body.result_url).origin;
  };
  assert.equal(await originWith({ host: "berth.example:8080" }), "http://berth.example:8080");
  assert.equal(await originWith({ host: "[::1]:8080" }), "http://[::1]:8080");
  const forged = { host: "berth.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" };
  assert.equal(await originWith(forged), "http://berth.example", "a forged header of a stranger");
  for (const text of ["a b", "me@evil.example", "evil.example/x", "x?y"]) {
    assert.match(await originWith({ host: text }), /^http:\/\/127\.0\.0\.1(:\d+)?$/, text);
  }
});

test("a repeated request is one task, and a user's open tasks are limited", async (t) => {
  const world = await testApp(t);
  const [host, user, other] = [await world.host(), await world.caller(), await world.caller()];
  const [id, theirs] = [await rentAndRun(world, user, host), await rentAndRun(world, other, host)];
  const url = `/api/v0/instances/request_logs/${id}/`;
  const call = { method: "PUT", url, secret: user.secret, body: {}, headers: { "idempotency-key": "once" } } as const;
  assert.equal((await world.call(call)).text, (await world.call(call)).text);
  assert.equal((await host.tasks(1)).length, 1);
  for (let count = 1; count < 32; count += 1) assert.equal((await askLogs(world, user, id)).status, 200);
  const refused = await askLogs(world, user, id);
  assert.deepEqual([refused.status, refused.body.error], [409, "too_many_tasks"]);
  assert.equal((await askLogs(world, other, theirs)).status, 200, "others are not kept out");
  for (const task of await host.tasks(33)) await host.answer(task.task_id, "done");
  const newest = resultPath(await askLogs(world, user, id));
  const { rows } = await world.env.pool.query("select count(*)::integer as kept from agent_tasks where user_id = $1", [
    user.id,
  ]);
  assert.deepEqual(rows, [{ kept: 32 }], "the oldest result made room");
  assert.equal((await fetchResult(world, newest)).status, 404);
});

test("tasks that are requested together stay within the limit of one user", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  for (let count = 1; count < 32; count += 1) assert.equal((await askLogs(world, user, id)).status, 200);
  const answers = await Promise.all(Array.from({ length: 16 }, () => askLogs(world, user, id)));
  const accepted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ body }) => body.error === "too_many_tasks");
  assert.deepEqual([accepted.length, refused.length], [1, 15]);
});

test("a snapshot is pushed with credentials that are stored encrypted, and shows its progress", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const idle = (await show(world, user, id)).status_msg;
  const login = { docker_login_user: "me", docker_login_pass: "canary-password" };
  const body = { id, personal_repo: "me/app", container_registry: "r.example:5000", pause: "false", ...login };
  const answer = await world.call({ method: "POST", url: snapshot(id), secret: user.secret, body });
  assert.equal(answer.status, 200, answer.text);
  const [task] = await host.tasks(1);
  assert.ok(task?.action.type === "snapshot");
  const { tag } = task.action;
  assert.match(tag, new RegExp(`^instance-${id}-\\d{8}T\\d{6}Z$`));
  assert.ok(answer.body.msg.includes(`r.example:5000/me/app:${tag}`), "its owner is told under which name");
  assert.deepEqual(task.action, {
    type: "snapshot",
    instance_id: id,
    repository: "r.example:5000/me/app",
    tag,
    registry_auth: { username: "me", password: "canary-password", serveraddress: "r.example:5000" },
    is_paused: false,
  });
  const { rows } = await world.env.pool.query("select t::text as line from agent_tasks t");
  assert.ok(!String(rows[0]?.line).includes("canary"));
  await host.progress(task.task_id, "pushing layer 2 of 5");
  assert.equal((await show(world, user, id)).status_msg, "taking a snapshot: pushing layer 2 of 5");
  host.terminate();
  await host.connect();
  assert.deepEqual((await host.tasks(1))[0]?.action, task.action, "the credentials still decrypt");
  await host.answer(task.task_id, "done");
  assert.match((await show(world, user, id)).status_msg, /^snapshot to r\.example:5000\/me\/app:\S+ is complete$/);
  const stored = await world.env.pool.query("select sealed_auth from agent_tasks");
  assert.deepEqual(stored.rows, [{ sealed_auth: null }]);
  world.clock.jump(60_000);
  assert.equal((await show(world, user, id)).status_msg, idle);
});

test("a result that cannot be stored closes the connection, so that it comes again", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const path = resultPath(await askLogs(world, user, await rentAndRun(world, user, host)));
  const [task] = await host.tasks(1);
  assert.ok(task);
  await world.env.pool.query("alter table agent_tasks rename column result to broken");
  void host.answer(task.task_id, "text").catch(() => {});
  assert.equal(await host.closed(), 1011);
  await world.env.pool.query("alter table agent_tasks rename column broken to result");
  await soon("the leave", () => world.app.gateway.connectedCount === 0);
  await host.connect();
  await host.tasks(1);
  await host.answer(task.task_id, "text");
  assert.equal((await fetchResult(world, path)).text, "text");
});
