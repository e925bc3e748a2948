import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { soon, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { destroy, rent, rentAndRun, setState } from "../../../../../../test/support/rentals.ts";
import { anSshKey } from "../../../../../../test/support/ssh-keys.ts";
import { resolveLaunch } from "../../templates/index.ts";

const addKey = async (world: TestApp, user: TestCaller, line: string): Promise<number> => {
  const answer = await world.call({
    method: "POST",
    url: "/api/v0/ssh/",
    secret: user.secret,
    body: { ssh_key: line },
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.key.id;
};
const attach = (world: TestApp, user: TestCaller, id: number, sshKey: unknown) =>
  world.call({
    method: "POST",
    url: `/api/v0/instances/${id}/ssh/`,
    secret: user.secret,
    body: { instance_id: id, ssh_key: sshKey },
  });
const detach = (world: TestApp, user: TestCaller, id: number, keyId: number | string) =>
  world.call({ method: "DELETE", url: `/api/v0/instances/${id}/ssh/${keyId}/`, secret: user.secret });
const show = (world: TestApp, user: TestCaller, id: number) =>
  world.call({ url: `/api/v0/instances/${id}/ssh/`, secret: user.secret });
const keysOf = async (world: TestApp, user: TestCaller, id: number) => {
  const { status, body, text } = await show(world, user, id);
  assert.equal(status, 200, text);
  assert.equal(typeof body.ssh_keys, "string");
  return JSON.parse(body.ssh_keys);
};
const setSecret = async (
  world: TestApp,
  user: TestCaller,
  key: string,
  value: string,
  method: "POST" | "PUT" = "POST",
) => {
  const answer = await world.call({ method, url: "/api/v0/secrets/", secret: user.secret, body: { key, value } });
  assert.equal(answer.status, 200, answer.text);
};
const envOf = (host: FakeHost, id: number) => Object.fromEntries(host.order(id)?.env ?? []);

test("an instance begins with the account's keys of that time, and keeps them when the account's change", async (t) => {
  const world = await testApp(t);
  const [host, user, other] = [await world.host(), await world.caller(), await world.caller()];
  const [one, two] = [anSshKey("one"), anSshKey("")];
  await addKey(world, other, anSshKey("stranger"));
  const [oneId, twoId] = [await addKey(world, user, one), await addKey(world, user, two)];
  const id = await rentAndRun(world, user, host, { runtype: "ssh" });
  const shown = await keysOf(world, user, id);
  assert.deepEqual(
    shown.map(({ id: keyId, public_key: line }: { id: number; public_key: string }) => [keyId, line]),
    [
      [oneId, one],
      [twoId, two],
    ],
  );
  assert.deepEqual([shown[0].name, shown[1].name.slice(0, 7)], ["one", "SHA256:"]);
  assert.deepEqual(host.order(id)?.ssh, { authorized_keys: [one, two] });
  assert.equal(envOf(host, id)["SSH_PUBLIC_KEY"], `${one}\n${two}`);

  await world.call({ method: "DELETE", url: `/api/v0/ssh/${oneId}/`, secret: user.secret });
  await addKey(world, user, anSshKey("later"));
  assert.deepEqual(await keysOf(world, user, id), shown);
  const args = await rent(world, user, host, { runtype: "args" });
  await host.synced();
  assert.equal(host.order(args)?.ssh, null, "an image with its own access gets no keys");
  assert.match(envOf(host, args)["SSH_PUBLIC_KEY"] ?? "", / later$/);
});

test("each instance of a batch gets the keys of its user", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  const users = await Promise.all([1, 2, 3].map(() => world.caller()));
  const lines = [anSshKey("a"), anSshKey("b")];
  for (const [index, line] of lines.entries()) await addKey(world, users[index] ?? assert.fail(), line);
  const hosts = [host, await world.host(), await world.host()];
  const ids = await Promise.all(
    users.map((user, index) => rent(world, user, hosts[index] ?? host, { runtype: "ssh", label: `${index}` })),
  );
  const keys = await Promise.all(
    users.map(async (user, index) => {
      const shown = await keysOf(world, user, ids[index] ?? 0);
      return shown.map((key: { readonly public_key: string }) => key.public_key);
    }),
  );
  assert.deepEqual(keys, [[lines[0]], [lines[1]], []]);
});

test("a key is attached by its id or its text and shown as JSON text, and two fields that name two keys are refused", async (t) => {
  const world = await testApp(t);
  const [host, user, stranger] = [await world.host(), await world.caller(), await world.caller()];
  const id = await rentAndRun(world, user, host, { runtype: "ssh" });
  const [line, other] = [anSshKey("laptop"), anSshKey("desk")];
  const [keyId, otherId] = [await addKey(world, user, line), await addKey(world, user, other)];
  const put = (body: object, instance = id) =>
    world.call({ method: "PUT", url: `/api/v0/instances/${instance}/ssh/`, secret: user.secret, body });
  const first = await put({ ssh_key_id: keyId });
  assert.deepEqual(
    [first.status, first.body.msg],
    [200, `SSH key ${keyId} is attached to instance ${id}.`],
    first.text,
  );
  assert.deepEqual(JSON.parse(first.body.key), { id: keyId, name: "laptop", public_key: line });
  await soon("the host to know the key", () => host.order(id)?.ssh?.authorized_keys.includes(line) === true);
  for (const body of [{ ssh_key_id: String(keyId), ssh_key: line }, { ssh_key: line }, { ssh_key: keyId }]) {
    const again = await put(body);
    assert.deepEqual([again.status, again.body.key], [200, first.body.key], again.text);
    assert.match(again.body.msg, /already/);
  }
  const foreign = await addKey(world, stranger, anSshKey("stranger"));
  for (const [body, status, error, field] of [
    [{ ssh_key_id: otherId, ssh_key: line }, 400, "invalid_args", "ssh_key"],
    [{ ssh_key: "no key" }, 400, "invalid_ssh_key", "ssh_key"],
    [{}, 400, "no_ssh_key", "ssh_key"],
    [{ ssh_key_id: foreign }, 404, "no_such_ssh_key", undefined],
    [{ ssh_key_id: { no: 1 } }, 400, "invalid_args", "ssh_key_id"],
  ] as const) {
    const answer = await put(body);
    assert.deepEqual([answer.status, answer.body.error, answer.body.field], [status, error, field], answer.text);
  }
  assert.equal((await put({ ssh_key_id: keyId }, 99_999)).body.error, "no_such_instance");
  assert.deepEqual(
    (await keysOf(world, user, id)).map((key: { readonly id: number }) => key.id),
    [keyId],
    "a refused request attaches nothing",
  );
});

test("attaching and detaching a key reaches the host at once, and does not restart the run", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const own = anSshKey("own");
  const ownId = await addKey(world, user, own);
  const id = await rentAndRun(world, user, host, { runtype: "ssh" });
  const { generation } = host.order(id) ?? assert.fail();
  const guest = anSshKey("guest");
  const attached = await attach(world, user, id, `${guest}\n`);
  const { key, ...said } = attached.body;
  assert.deepEqual([attached.status, said], [200, { success: true, msg: said.msg }]);
  await soon("the host to know the key", () => host.order(id)?.ssh?.authorized_keys.includes(guest) === true);
  assert.deepEqual(host.order(id)?.ssh?.authorized_keys, [own, guest]);
  const [, shown] = await keysOf(world, user, id);
  const { id: guestId } = shown;
  assert.deepEqual(JSON.parse(key), shown, "the answer shows the key");
  const detached = await detach(world, user, id, ownId);
  assert.deepEqual([detached.status, detached.body.success], [200, true]);
  await soon("the host to forget the key", () => host.order(id)?.ssh?.authorized_keys.length === 1);
  assert.deepEqual(host.order(id)?.ssh?.authorized_keys, [guest]);
  assert.equal(host.order(id)?.generation, generation);
  // By its id, as the published CLI names keys of the account.
  assert.equal((await attach(world, user, id, String(ownId))).status, 200);
  const ids = (await keysOf(world, user, id)).map((key: { readonly id: number }) => key.id);
  assert.deepEqual(new Set(ids), new Set([ownId, guestId]));
  assert.equal((await world.call({ url: "/api/v0/ssh/", secret: user.secret })).body.length, 1);
});

test("a key that is attached already stays as it is", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const line = anSshKey("me");
  const keyId = await addKey(world, user, line);
  const id = await rentAndRun(world, user, host, { runtype: "ssh" });
  const before = await keysOf(world, user, id);
  for (const again of [line, line.replace(/ me$/, " renamed"), keyId, `${keyId}`]) {
    const answer = await attach(world, user, id, again);
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.body.msg, /already/);
  }
  assert.deepEqual(await keysOf(world, user, id), before);
  // The account's key was changed in place: both have a right to the number, and the instance's keeps it.
  const changed = anSshKey("changed");
  const body = { ssh_key: changed };
  await world.call({ method: "PUT", url: `/api/v0/ssh/${keyId}/`, secret: user.secret, body });
  assert.equal((await attach(world, user, id, keyId)).status, 200);
  const shown = await keysOf(world, user, id);
  assert.deepEqual(
    shown.map(({ public_key: key }: { readonly public_key: string }) => key),
    [line, changed],
  );
  assert.notEqual(shown[1].id, keyId);
});

test("an attached text must be a key, and a detached key must exist", async (t) => {
  const world = await testApp(t);
  const [host, user, other] = [await world.host(), await world.caller(), await world.caller()];
  const foreignId = await addKey(world, other, anSshKey());
  const id = await rentAndRun(world, user, host, { runtype: "ssh" });
  for (const [sshKey, status, code] of [
    [undefined, 400, "no_ssh_key"],
    ["", 400, "no_ssh_key"],
    ["nonsense", 400, "invalid_ssh_key"],
    ["-----BEGIN OPENSSH PRIVATE KEY-----", 400, "invalid_ssh_key"],
    [true, 400, "invalid_args"],
    [foreignId, 404, "no_such_ssh_key"],
    ["2000000000", 404, "no_such_ssh_key"],
    ["99999999999999999999", 404, "no_such_ssh_key"],
    [-1, 404, "no_such_ssh_key"],
  ] as const) {
    const answer = await attach(world, user, id, sshKey);
    assert.deepEqual([answer.status, answer.body.error], [status, code], answer.text);
  }
  for (const [keyId, status] of [
    [foreignId, 404],
    [2_000_000_000, 404],
    [0, 404],
    ["x", 400],
  ] as const) {
    assert.equal((await detach(world, user, id, keyId)).status, status);
  }
  assert.deepEqual(await keysOf(world, user, id), []);
});

test("another user's instance, a destroyed one and an absent one get the same answer", async (t) => {
  const world = await testApp(t);
  const [host, user, other] = [await world.host(), await world.caller(), await world.caller()];
  const line = anSshKey();
  await addKey(world, other, line);
  const foreign = await rentAndRun(world, other, host, { runtype: "ssh" });
  const gone = await rentAndRun(world, user, host, { runtype: "ssh" });
  await destroy(world, user, gone);
  const [key] = await keysOf(world, other, foreign);
  for (const act of [
    (id: number) => attach(world, user, id, line),
    (id: number) => detach(world, user, id, key.id),
    (id: number) => show(world, user, id),
  ]) {
    for (const id of [foreign, gone, 2_000_000_000, 3_000_000_000]) {
      const answer = await act(id);
      assert.deepEqual([answer.status, answer.body.error], [404, "no_such_instance"], answer.text);
    }
  }
  assert.equal((await keysOf(world, other, foreign)).length, 1);
  const { rows } = await world.env.pool.query("select 1 from instance_ssh_keys where instance_id = $1", [gone]);
  assert.equal(rows.length, 0, "no keys of the instance are kept");
});

test("an instance has at most 200 keys", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host, { runtype: "ssh" });
  await world.env.pool.query(
    `insert into instance_ssh_keys (instance_id, ssh_key_id, public_key, fingerprint, created_at)
     select $1, n, 'ssh-ed25519 x', n::text, now() from generate_series(1000, 1198) as n`,
    [id],
  );
  assert.equal((await attach(world, user, id, anSshKey())).status, 200);
  const answer = await attach(world, user, id, anSshKey());
  assert.deepEqual([answer.status, answer.body.error], [400, "max_ssh_keys"]);
});

test("secrets of the account are variables of its containers, below the renter's own and the platform's", async (t) => {
  const world = await testApp(t);
  const [host, user, other] = [await world.host({ gpus: 4 }), await world.caller(), await world.caller()];
  await setSecret(world, user, "HF_TOKEN", "hf_1");
  await setSecret(world, user, "SHARED", "of-the-account");
  await setSecret(world, user, "DATA_DIRECTORY", "secret");
  await setSecret(world, other, "FOREIGN", "x");
  const body = { name: "t", image: "busybox", env: "-e FROM_TEMPLATE=1 -e SHARED=of-the-template" };
  const { template } = (await world.call({ method: "POST", url: "/api/v0/template/", secret: user.secret, body })).body;
  const plain = await rentAndRun(world, user, host, { env: { SHARED: "of-the-request", CONTAINER_ID: "lie" } });
  assert.deepEqual(pick(envOf(host, plain), ["HF_TOKEN", "SHARED", "FOREIGN", "CONTAINER_ID", "DATA_DIRECTORY"]), {
    HF_TOKEN: "hf_1",
    SHARED: "of-the-request",
    FOREIGN: undefined,
    CONTAINER_ID: String(plain),
    DATA_DIRECTORY: "secret",
  });
  const templated = await rent(world, user, host, { image: undefined, template_hash_id: template.hash_id });
  await host.synced();
  assert.deepEqual(pick(envOf(host, templated), ["HF_TOKEN", "SHARED", "FROM_TEMPLATE"]), {
    HF_TOKEN: "hf_1",
    SHARED: "of-the-template",
    FROM_TEMPLATE: "1",
  });
  const names = (host.order(plain)?.env ?? []).map(([name]) => name);
  assert.equal(new Set(names).size, names.length, "each variable occurs once");
});

test("a start takes the secrets of that time; a later change of them sends no order", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  await setSecret(world, user, "TOKEN", "old");
  const id = await rentAndRun(world, user, host);
  const version = host.desired?.version;
  await setSecret(world, user, "TOKEN", "new", "PUT");
  await world.settled();
  assert.equal(host.desired?.version, version);
  await setState(world, user, id, "stopped");
  await host.obey();
  await setState(world, user, id, "running");
  await host.obey();
  assert.equal(envOf(host, id)["TOKEN"], "new");
});

test("the password of a registry is stored encrypted, and reaches the host as it was given", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const login = { username: "me", password: "canary-login-password", serveraddress: "ghcr.io" };
  const given = { image: "ghcr.io/me/x", image_login: `-u me -p ${login.password} ghcr.io` };
  const id = await rentAndRun(world, user, host, given);
  assert.deepEqual(host.order(id)?.registry_auth, login);
  const { rows } = await world.env.pool.query("select launch ->> 'sealed' as sealed from instances where id = $1", [
    id,
  ]);
  assert.match(rows[0].sealed, /^sealed1:/);
  const put = async (launch: object) => {
    await world.env.pool.query("update instances set launch = $2 where id = $1", [id, JSON.stringify(launch)]);
    await setState(world, user, id, "stopped");
    await host.obey();
    await setState(world, user, id, "running");
    await host.obey();
    return host.order(id)?.registry_auth;
  };
  const earlier = resolveLaunch(undefined, given);
  assert.deepEqual(await put(earlier), login, "in clear from the first days");
  const password = world.encryption.encrypt(login.password, `instance registry password ${id}`);
  assert.deepEqual(
    await put({ ...earlier, registry_auth: { ...login, password } }),
    login,
    "the one encrypted setting",
  );
  const lost = { ...earlier, sealed: `sealed1:${randomBytes(48).toString("base64url")}` };
  assert.equal(await put(lost), null, "a password that no longer decrypts gives no login");
});

function pick(record: Readonly<Record<string, string>>, names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, record[name]]));
}
