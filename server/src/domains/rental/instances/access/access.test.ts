import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { listedHost, prepay } from "../../../../../../test/support/money/contracts.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import { destroy, rentAndRun, setState, show, stored } from "../../../../../../test/support/rentals.ts";

const HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg";

const envOf = (host: FakeHost, id: number) => new Map(host.order(id)?.env ?? []);

function jupyterOf(host: FakeHost, id: number) {
  const command = host.order(id)?.command;
  return command?.mode === "shell" ? command.jupyter : undefined;
}

async function world(t: Parameters<typeof testApp>[0]) {
  const app = await testApp(t);
  return { app, host: await app.host({ gpus: 8 }), user: await app.caller() };
}

/** The whole content of the database, as text. */
async function everything({ env }: TestApp): Promise<string> {
  const { rows } = await env.pool.query("select launch::text as text from instances");
  return JSON.stringify(rows);
}

test("a notebook server gets a token of its instance's own, which its owner sees and the server does not store", async (t) => {
  const { app, host, user } = await world(t);
  const options = { runtype: "jupyter", jupyter_dir: "/work", use_jupyter_lab: true };
  const [id, other] = [await rentAndRun(app, user, host, options), await rentAndRun(app, user, host, options)];
  const token = String((await show(app, user, id)).jupyter_token);
  assert.match(token, /^[\w-]{43}$/);
  assert.notEqual((await show(app, user, other)).jupyter_token, token);
  assert.deepEqual(jupyterOf(host, id), { token, directory: "/work", is_lab: true });
  const env = envOf(host, id);
  const names = ["JUPYTER_TOKEN", "OPEN_BUTTON_TOKEN", "JUPYTER_SERVER_ROOT", "JUPYTER_SERVER_URL", "DATA_DIRECTORY"];
  assert.deepEqual(
    names.map((name) => env.get(name)),
    [token, token, "/work", "https://0.0.0.0:8080/", "/workspace/"],
  );
  assert.equal(await show(app, await app.caller(), id), null);
  assert.ok(!(await everything(app)).includes(token));
  // The token stays after a restart, because a container keeps the one it was created with.
  await setState(app, user, id, "stopped");
  await host.obey();
  await setState(app, user, id, "running");
  await host.obey();
  assert.equal(jupyterOf(host, id)?.token, token);
});

test("a renter's own token is used, an empty one is not", async (t) => {
  const { app, host, user } = await world(t);
  const own = await rentAndRun(app, user, host, { runtype: "jupyter", env: "-e JUPYTER_TOKEN=mine" });
  assert.equal((await show(app, user, own)).jupyter_token, "mine");
  assert.equal(jupyterOf(host, own)?.token, "mine");
  const empty = await rentAndRun(app, user, host, { runtype: "jupyter", env: { JUPYTER_TOKEN: "" } });
  assert.match(String((await show(app, user, empty)).jupyter_token), /^[\w-]{43}$/);
  assert.equal(envOf(host, empty).get("JUPYTER_TOKEN"), jupyterOf(host, empty)?.token);
});

test("without Jupyter there is no token, and a renter may change variables that are only defaults", async (t) => {
  const { app, host, user } = await world(t);
  const env = { DATA_DIRECTORY: "/data/", OPEN_BUTTON_TOKEN: "open", DIRECT_PORT_START: "1", JUPYTER_TOKEN: "t" };
  const id = await rentAndRun(app, user, host, { runtype: "ssh", env });
  assert.equal(jupyterOf(host, id), null);
  const given = envOf(host, id);
  const names = ["DATA_DIRECTORY", "OPEN_BUTTON_TOKEN", "DIRECT_PORT_START", "JUPYTER_TOKEN", "JUPYTER_SERVER_URL"];
  assert.deepEqual(
    names.map((name) => given.get(name)),
    ["/data/", "open", "-1", "t", undefined],
  );
});

test("the SSH host key that a host reports is shown and stored, but only a valid one", async (t) => {
  const { app, host, user } = await world(t);
  const id = await rentAndRun(app, user, host);
  assert.equal((await show(app, user, id)).ssh_host_key, null);
  const tell = async (ssh_host_key: string | null) => {
    await host.report([{ instance_id: id, generation: 1, state: "running", ssh_host_key }]);
    return (await show(app, user, id)).ssh_host_key;
  };
  assert.equal(await tell("no key"), null);
  assert.equal(await tell(`${HOST_KEY}\n* ${HOST_KEY}`), null);
  assert.equal(await tell(`${HOST_KEY} comment`), null);
  assert.equal(await tell(`@cert-authority * ${HOST_KEY}`), null);
  assert.equal(await tell(HOST_KEY), HOST_KEY);
  assert.equal(await tell(null), HOST_KEY);
});

/** A running instance, and calls with the key inside its container, which its host can read. */
async function withOwnKey(t: Parameters<typeof testApp>[0]) {
  const app = await testApp(t);
  const [host, user] = [await listedHost(app), await app.caller({ dollars: 1_000 })];
  const id = await rentAndRun(app, user, host);
  const key = { ...user, secret: String(envOf(host, id).get("CONTAINER_API_KEY")) };
  return { app, host, user, id, key };
}

test("the key inside a container starts what it stopped itself, and nothing that its renter or a rule stopped", async (t) => {
  const { app, host, user, id, key } = await withOwnKey(t);
  assert.equal((await setState(app, key, id, "running")).status, 200, "the instance runs already");
  await setState(app, user, id, "stopped");
  await host.obey();
  const refused = await setState(app, key, id, "running");
  assert.deepEqual([refused.status, refused.body.error], [403, "not_authorized"]);
  assert.equal((await stored(app, id)).desired, "stopped");
  assert.equal((await setState(app, user, id, "running")).status, 200);
  await host.obey();
  assert.equal((await setState(app, key, id, "stopped")).status, 200);
  await host.obey();
  assert.equal((await setState(app, key, id, "running")).status, 200);
  await host.obey();
  assert.equal((await setState(app, key, id, "stopped")).status, 200);
  await setState(app, user, id, "stopped");
  assert.equal((await setState(app, key, id, "running")).status, 403, "its renter wants it stopped as well");
  const { body } = await app.call({ url: `/api/v0/instances/${id}/events/`, secret: user.secret });
  assert.ok(body.events.some(({ actor }: { readonly actor: string }) => actor === "instance_key"));
});

test("the key inside a container cannot end a prepaid rental, because the discount would go to the host", async (t) => {
  const { app, host, user, id, key } = await withOwnKey(t);
  assert.equal((await prepay(app, user, id, 576)).status, 200);
  for (const call of [() => destroy(app, key, id), () => setState(app, key, id, "stopped")]) {
    const refused = await call();
    assert.deepEqual([refused.status, refused.body.error], [403, "not_authorized"]);
  }
  assert.equal((await show(app, user, id)).actual_status, "running");
  assert.equal((await setState(app, user, id, "stopped")).status, 200);
  await host.obey();
  assert.equal((await destroy(app, user, id)).status, 200);
});
