import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import { listedHost } from "../../../../../../test/support/money/contracts.ts";
import { destroy, rent, rentAndRun, setState, show, stored } from "../../../../../../test/support/rentals.ts";
import { ACTIONS, type Action } from "../rules/allowed-actions.ts";
import { ACTION_REQUESTS } from "./caller-actions.ts";

const NOTICE_MS = 30_000;

type Reached = { readonly id: number; readonly host: FakeHost };
type World = {
  readonly world: TestApp;
  readonly user: TestCaller;
  readonly rival: TestCaller;
  readonly host: FakeHost;
};

/** Makes an instance of each state that requests tell apart. */
const STATES: Readonly<Record<string, (world: World) => Promise<Reached>>> = {
  "never started": async ({ world, user, host }) => ({
    id: await rent(world, user, host, { target_state: "stopped" }),
    host,
  }),
  starting: async ({ world, user, host }) => ({ id: await rent(world, user, host), host }),
  running: async ({ world, user, host }) => ({ id: await rentAndRun(world, user, host), host }),
  "running for a bid": async ({ world, user }) => {
    const host = await world.host({ gpus: 1 });
    return { id: await rentAndRun(world, user, host, { price: 0.2 }), host };
  },
  yielding: outbid,
  "stopping, outbid": async (world) => {
    const { id, host } = await outbid(world);
    await passNotice(world);
    return { id, host };
  },
  scheduled: async (world) => {
    const { id, host } = await outbid(world);
    await passNotice(world);
    await host.obey();
    return { id, host };
  },
  stopping: async ({ world, user, host }) => {
    const id = await rentAndRun(world, user, host);
    await setState(world, user, id, "stopped");
    return { id, host };
  },
  stopped: async ({ world, user, host }) => {
    const id = await rentAndRun(world, user, host);
    await setState(world, user, id, "stopped");
    await host.obey();
    return { id, host };
  },
  "stopped by its traffic": async (world) => {
    const reached = await STATES["stopped"]?.(world);
    assert.ok(reached);
    await world.world.env.pool.query("update instances set traffic_reached_at = created_at where id = $1", [
      reached.id,
    ]);
    return reached;
  },
  "stopped after its end": async (world) => {
    const reached = await STATES["stopped"]?.(world);
    assert.ok(reached);
    await world.world.env.pool.query("update instances set end_at = created_at where id = $1", [reached.id]);
    return reached;
  },
  "being destroyed": async ({ world, user, host }) => {
    const id = await rentAndRun(world, user, host);
    await destroy(world, user, id);
    return { id, host };
  },
  destroyed: async ({ world, user, host }) => {
    const id = await rentAndRun(world, user, host);
    await destroy(world, user, id);
    await host.obey();
    return { id, host };
  },
};

async function outbid({ world, user, rival }: World): Promise<Reached> {
  const host = await world.host({ gpus: 1 });
  const id = await rentAndRun(world, user, host, { price: 0.2 });
  await rent(world, rival, host, { price: 0.5 });
  return { id, host };
}

async function passNotice({ world }: World): Promise<void> {
  world.clock.jump(NOTICE_MS + 1);
  await world.runLoop("enforce-deadlines");
}

/** The body with which an action is asked for. */
function bodyOf(action: Action, id: number): object {
  switch (action) {
    case "start":
      return { state: "running" };
    case "stop":
      return { state: "stopped" };
    case "change_bid":
      return { client_id: "me", price: 0.9 };
    case "label":
      return { label: "mine" };
    case "change_traffic_limit":
      return { traffic_limit: 50 };
    case "update_template":
      return { onstart: "true" };
    case "attach_ssh_key":
      return { ssh_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJlgTgFCOiZ8P7bLDFfI2jYVYLN0qlG9Nqo0Gv9FEFWe me" };
    case "snapshot":
      return { personal_repo: "me/app", docker_login_user: "me", docker_login_pass: "secret" };
    case "copy":
      return { src_id: `C.${id}`, src_path: "/a", dst_id: `C.${id}`, dst_path: "/b" };
    case "execute":
      return { command: "ls /" };
    case "prepay":
      return { amount: 5 };
    case "terminal":
    case "files":
    case "reboot":
    case "recycle":
    case "destroy":
    case "logs":
      return {};
  }
}

function ask(world: TestApp, user: TestCaller, action: Action, id: number) {
  // A terminal is refused as files are; its own requests are WebSockets (shell/terminal.test.ts).
  const { method, path } = ACTION_REQUESTS[action === "terminal" ? "files" : action];
  return world.call({ method, url: path.replace("/1/", `/${id}/`), secret: user.secret, body: bodyOf(action, id) });
}

/** Actions after which the instance is in another state, so that the next one needs another instance. */
const CHANGING: ReadonlySet<Action> = new Set([
  "start",
  "stop",
  "reboot",
  "recycle",
  "destroy",
  "update_template",
  "change_bid",
]);

test("an allowed action is accepted in every state, and one that is not is refused for its reason or changes nothing", async (t) => {
  const world = await testApp(t, { rules: { noticeMs: NOTICE_MS } });
  const rival = await world.caller({ dollars: 1000 });
  for (const [name, reach] of Object.entries(STATES)) {
    await t.test(name, async () => {
      // An account has few requests to hosts under way at once.
      const user = await world.caller({ dollars: 1000 });
      const host = await listedHost(world, {}, { gpus: 16 });
      const parts = { world, user, rival, host };
      let { id } = await reach(parts);
      for (const action of ACTIONS) {
        const said = (await show(world, user, id)).allowed_actions[action];
        // The fake host opens no tunnels.
        if (said.allowed && (action === "terminal" || action === "files")) continue;
        const before = await stored(world, id);
        const answer = await ask(world, user, action, id);
        const what = `${action}: ${JSON.stringify(said)}, ${answer.text}`;
        if (said.allowed) {
          assert.equal(answer.status, 200, what);
          if (CHANGING.has(action)) ({ id } = await reach(parts));
          continue;
        }
        if (answer.status === 200) assert.match(said.reason, /already|by itself/, what);
        else assert.deepEqual([answer.body.msg, typeof answer.body.error], [said.reason, "string"], what);
        assert.deepEqual(await stored(world, id), before, what);
      }
    });
  }
});

test("tasks of an instance are not allowed while its host is offline", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await host.disconnect();
  world.clock.jump(61_000);
  const { allowed_actions: actions } = await show(world, user, id);
  for (const action of ["snapshot", "copy", "execute", "logs"] as const) {
    const answer = await ask(world, user, action, id);
    assert.deepEqual([actions[action].allowed, answer.body.msg], [false, actions[action].reason], action);
  }
  assert.equal(actions.stop.allowed, true, "the stop waits for the host");
});

test("actions are those of the caller's key: permissions, constraints and freezes refuse them with their reasons", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const stopOnly = { "api.instance.update": { constraints: { state: { eq: "stopped" } } } };
  for (const [document, expected] of [
    [{ instance_read: {} }, { stop: false, reboot: false, logs: true }],
    [
      { instance_read: {}, instance_write: stopOnly },
      { stop: true, start: false, reboot: false },
    ],
  ] as const) {
    const made = await world.call({
      method: "POST",
      url: "/api/v0/auth/apikeys/",
      secret: user.secret,
      body: { name: "narrow", permissions: { api: document } },
    });
    assert.equal(made.status, 200, made.text);
    const narrow = { ...user, secret: made.body.key };
    const { allowed_actions: actions } = await show(world, narrow, id);
    for (const [action, isAllowed] of Object.entries(expected))
      assert.equal(actions[action].allowed, isAllowed, action);
    const refused = await ask(world, narrow, "reboot", id);
    assert.deepEqual([refused.status, refused.body.msg], [403, actions.reboot.reason]);
    const listed = await world.call({ url: "/api/v0/instances/", secret: narrow.secret });
    assert.deepEqual(listed.body.instances[0].allowed_actions, actions, "a list says the same");
  }
});
