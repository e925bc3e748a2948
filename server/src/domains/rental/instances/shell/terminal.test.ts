import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { soon, testApp } from "../../../../../../test/support/app.ts";
import { aCaller } from "../../../../../../test/support/fixtures.ts";
import { ownShells, simulatedShells } from "../../../../../../test/support/hosts/shell-host.ts";
import { reboot, rent, rentAndRun, setState } from "../../../../../../test/support/rentals.ts";
import { done } from "../../../../../../test/support/teams.ts";
import { openTerminal, refusedTerminal } from "../../../../../../test/support/terminal.ts";

async function shellWorld(t: TestContext, shells = simulatedShells(t)) {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 8, ...shells }), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const headers = { authorization: `Bearer ${user.secret}` };
  const open = (query = "") => openTerminal(t, { origin: world.origin, id, query, headers });
  const refused = (path = `/api/v0/instances/${id}/terminal/`, given: Record<string, string> = headers) =>
    refusedTerminal(world.origin, path, given);
  return { world, host, user, id, headers, open, refused };
}

test("a terminal of a simulated instance says what it is, and does what it says", async (t) => {
  const { world, user, id, open } = await shellWorld(t);
  const terminal = await open("?cols=120&rows=40");
  await terminal.shows("This instance is simulated");
  await terminal.shows(`root@instance-${id}:/root# `);
  terminal.type("echo hellp\u007Fo wörld\r");
  await terminal.shows("\r\nhello wörld\r\n");
  terminal.resize({ type: "resize", cols: 200, rows: 50 });
  terminal.type("ls /\rcd /etc\rpwd\rcat hostname\r");
  await terminal.shows("etc/  root/  tmp/  workspace/");
  await terminal.shows("\r\n/etc\r\n");
  await terminal.shows("\r\nsimulated\r\n");
  terminal.type("rm -rf /\r");
  await terminal.shows("rm: a simulated instance has no such program");
  terminal.type("help\r");
  await terminal.shows("On a real host your own shell answers here.");
  terminal.type("exit 3\r");
  assert.deepEqual(await terminal.ended(), [1000, "The shell ended with code 3."]);
  const log = await world.call({ url: "/api/v0/audit_logs/", secret: user.secret });
  assert.match(log.text, /api\.instance\.terminal/);
});

test("a terminal is refused with the answers of any other request", async (t) => {
  const { world, host, user, id, headers, refused } = await shellWorld(t);
  const [stranger, reader] = [
    await world.caller(),
    await world.caller({ permissions: { api: { instance_read: {} } } }),
  ];
  const path = `/api/v0/instances/${id}/terminal/`;
  const cases = [
    [401, "auth_error", path, {}],
    [403, "not_authorized", path, { authorization: `Bearer ${reader.secret}` }],
    [404, "no_such_instance", path, { authorization: `Bearer ${stranger.secret}` }],
    [404, "no_such_instance", "/api/v0/instances/99999/terminal/", headers],
    [400, "invalid_args", `${path}?cols=0`, headers],
    [400, "invalid_args", `${path}?rows=many`, headers],
    [403, "foreign_origin", `${path}?api_key=${user.secret}`, { origin: "https://evil.example" }],
    [403, "foreign_origin", `${path}?api_key=${user.secret}`, { origin: "null" }],
    [403, "foreign_origin", `${path}?api_key=${user.secret}`, {}],
  ] as const;
  for (const [status, error, url, given] of cases) {
    const answer = await refused(url, given);
    assert.deepEqual([answer.status, answer.body.error], [status, error], `${url} ${JSON.stringify(answer.body)}`);
  }
  const plain = await world.call({ url: path, secret: user.secret });
  assert.deepEqual([plain.status, plain.body.error], [400, "websocket_required"]);
  const stopped = await rent(world, user, host, { target_state: "stopped" });
  const early = await refused(`/api/v0/instances/${stopped}/terminal/`);
  assert.deepEqual([early.status, early.body.error], [409, "not_running"]);
  const own = { origin: `http://${world.origin}` };
  const page = await openTerminal(t, { origin: world.origin, id, query: `?api_key=${user.secret}`, headers: own });
  await page.shows("This instance is simulated");
});

test("a terminal ends within seconds when its instance stops or restarts, its key is deleted, or its owner is frozen", async (t) => {
  const { world, host, user, id, open } = await shellWorld(t);
  const end = async (happen: () => Promise<unknown>) => {
    const terminal = await open();
    await terminal.shows("# ");
    await happen();
    world.clock.advance(2_000);
    return terminal.ended();
  };
  assert.deepEqual(
    await end(async () => {
      await reboot(world, user, id);
      await host.obey();
    }),
    [4409, `Instance ${id} was restarted. Open the terminal again.`],
  );
  assert.deepEqual(
    await end(async () => {
      await setState(world, user, id, "stopped");
      await host.obey();
    }),
    [4409, `Instance ${id} is not running.`],
  );
  await setState(world, user, id, "running");
  await host.obey();
  const admin = await aCaller(world.env.database, { isAdmin: true });
  const [code, reason] = await end(() =>
    done(world, admin.secret, "POST", "/admin/freezes/", { user: String(user.id), reason: "a test" }),
  );
  assert.deepEqual([code, /account is frozen: a test/.test(reason)], [4403, true], reason);
  await world.env.pool.query("update users set freeze_id = null where id = $1", [user.id]);
  assert.deepEqual(
    await end(() => world.env.pool.query("update api_keys set deleted_at = now() where user_id = $1", [user.id])),
    [4403, "The key or session that opened this is over."],
  );
});

test("text that is no size ends the terminal with the reason, and a closed one frees its place", async (t) => {
  const { open, refused } = await shellWorld(t);
  for (const bad of [{ type: "resize", cols: 0, rows: 5 }, { type: "resize", cols: 5, rows: 100_000 }, "x", null]) {
    const terminal = await open();
    terminal.resize(bad);
    const [code, reason] = await terminal.ended();
    assert.deepEqual([code, reason.startsWith("A text message must be")], [4400, true]);
  }
  const many = [];
  for (let count = 0; count < 8; count += 1) many.push(await open());
  const ninth = await refused();
  assert.deepEqual([ninth.status, ninth.body.error], [409, "too_many_terminals"]);
  many[0]?.socket.close();
  await many[0]?.ended();
  let again: Awaited<ReturnType<typeof open>> | undefined;
  await soon("a place", async () => {
    again = await open().catch(() => undefined);
    return again !== undefined;
  });
});

test("output that the client does not read stays bounded, pauses the shell, and goes on when it reads", async (t) => {
  let printed = 0;
  const piece = Buffer.alloc(65_536, "x");
  const shells = ownShells(t, (channel) => {
    const print = () => {
      while (channel.writable) {
        printed += piece.length;
        if (!channel.write(piece)) return void channel.once("drain", print);
      }
    };
    channel.on("error", () => undefined);
    print();
  });
  const { open } = await shellWorld(t, shells);
  const terminal = await open();
  terminal.socket.pause();
  let before = -1;
  let stillCount = 0;
  await soon("the shell to stand still", () => {
    stillCount = printed === before ? stillCount + 1 : 0;
    before = printed;
    return stillCount > 200;
  });
  assert.ok(printed < 64 * 2 ** 20, `${printed} bytes wait for a client that does not read`);
  const read = terminal.text().length;
  terminal.socket.resume();
  await soon("the shell to go on", () => terminal.text().length > read + 2 * before);
});

test("a server that stops tells its terminals, and ends", async (t) => {
  const { world, open } = await shellWorld(t);
  const terminal = await open();
  await terminal.shows("# ");
  const closed = world.close();
  assert.deepEqual(await terminal.ended(), [1001, "This server is stopping. Open the terminal again in a moment."]);
  await closed;
});
