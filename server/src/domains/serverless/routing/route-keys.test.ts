import assert from "node:assert/strict";
import { test } from "node:test";
import type { PermissionDocument } from "../../../base/identity.ts";
import { aKey, inTransaction } from "../../../../../test/support/fixtures.ts";
import { anEndpoint, aReadyWorker, aRoutedEndpoint } from "../../../../../test/support/serverless/routed-endpoint.ts";
import { followFreezes, insertFreeze } from "../../people/accounts/for-freezes.ts";

type Misc = NonNullable<NonNullable<PermissionDocument["api"]>["misc"]>;

test("the endpoint's key may come in the body, as bearer or in the query", async (t) => {
  const { app, owner, endpoint } = await aRoutedEndpoint(t);
  await aReadyWorker(app, owner, endpoint);
  const body = { endpoint: endpoint.name, cost: 1 };
  const calls = [
    { url: "/route/", secret: endpoint.key, body },
    { url: `/route?api_key=${endpoint.key}`, body },
    { url: "/route/", secret: owner.secret, body: { ...body, api_key: endpoint.key } },
  ];
  for (const call of calls) assert.equal((await app.call({ method: "POST", ...call })).status, 200);
});

test("a wrong key, the key of another endpoint and an unknown name get the same refusal; bad fields are named", async (t) => {
  const { app, owner, endpoint, ask } = await aRoutedEndpoint(t);
  const other = await anEndpoint(app, owner, "other");
  const stranger = await app.caller();
  const wrong = [
    { api_key: "wrong" },
    { api_key: "\u2028 not even a key" },
    { api_key: other.key },
    { api_key: stranger.secret },
    { api_key: undefined },
  ];
  const message = `authenticate_endpoint_apikey: invalid api_key or endpoint ${endpoint.name} not found`;
  for (const body of wrong) {
    const { status, body: said } = await ask(body);
    assert.deepEqual([status, said.error, said.error_msg], [401, "auth_error", message]);
  }
  const unknown = await ask({ endpoint: "nobody's" });
  assert.deepEqual([unknown.status, unknown.body.error_msg], [401, message.replace(endpoint.name, "nobody's")]);
  const bad: readonly (readonly [string, unknown])[] = [
    ["cost", undefined],
    ["cost", "100"],
    ["cost", -1],
    ["endpoint", undefined],
    ["request_idx", 1.5],
    ["request_idx", -1],
    ["request_idx", 1_000_000],
    ["replay_timeout", -1],
  ];
  for (const [field, value] of bad) {
    const { status, body } = await ask({ [field]: value });
    assert.deepEqual([status, body.error, body.field, body.error_msg], [400, "invalid_args", field, body.msg], field);
  }
});

test("a key of the account opens the oldest of its endpoints with that name, and no other account's", async (t) => {
  const { app, owner, endpoint } = await aRoutedEndpoint(t);
  const worker = await aReadyWorker(app, owner, endpoint);
  const body = { endpoint: endpoint.name, cost: 1 };
  const calls = (secret: string) => [
    { url: "/route/", secret, body },
    { url: `/route/?api_key=${secret}`, body },
    { url: "/route/", body: { ...body, api_key: secret } },
    { url: "/route/", secret, body: { ...body, api_key: "wrong" } },
  ];
  const younger = await anEndpoint(app, owner);
  for (const call of calls(owner.secret)) {
    const { status, body: said } = await app.call({ method: "POST", ...call });
    assert.deepEqual([status, said.url], [200, `http://192.0.2.7:${30_000 + worker}`]);
  }
  assert.equal(app.app.routers.of(younger.id), undefined, "the other one of this name was not asked");
  const stranger = await app.caller();
  for (const call of calls(stranger.secret)) {
    const { status, body: said } = await app.call({ method: "POST", ...call });
    assert.deepEqual([status, said.error], [401, "auth_error"]);
  }
  const own = await anEndpoint(app, stranger);
  const theirs = await aReadyWorker(app, stranger, own);
  const routed = await app.call({ method: "POST", url: "/route/", secret: stranger.secret, body });
  assert.equal(routed.body.url, `http://192.0.2.7:${30_000 + theirs}`);
});

test("an endpoint may be asked for by its id, which counts before a name, with its own key or the account's", async (t) => {
  const { app, owner, endpoint } = await aRoutedEndpoint(t);
  const worker = await aReadyWorker(app, owner, endpoint);
  const ask = (secret: string, body: object) =>
    app.call({ method: "POST", url: "/route/", secret, body: { cost: 1, latency: 0.2, guid: 5, ...body } });
  for (const secret of [endpoint.key, owner.secret]) {
    const { status, body } = await ask(secret, { endpoint_id: endpoint.id, endpoint: "another name" });
    assert.deepEqual([status, body.endpoint, body.url], [200, endpoint.name, `http://192.0.2.7:${30_000 + worker}`]);
  }
  const [younger, stranger] = [await anEndpoint(app, owner), await app.caller()];
  for (const [secret, id] of [
    [stranger.secret, endpoint.id],
    [endpoint.key, younger.id],
    [owner.secret, 2_000_000_000],
  ] as const) {
    const { status, body } = await ask(secret, { endpoint_id: id });
    assert.deepEqual([status, body.error], [401, "auth_error"]);
  }
  const unnamed = await ask(endpoint.key, {});
  assert.deepEqual([unnamed.status, unnamed.body.field], [400, "endpoint"]);
});

test("a narrowed key of the account asks for workers only with the permission for serverless calls", async (t) => {
  const { app, owner, endpoint } = await aRoutedEndpoint(t);
  await aReadyWorker(app, owner, endpoint);
  const ask = async (misc: Misc | undefined) => {
    const permissions = { api: { user_read: {}, ...(misc === undefined ? {} : { misc }) } };
    const { secret } = await inTransaction(app.env.database, (tx) => aKey(tx, owner, { permissions }));
    const body = { endpoint: endpoint.name, cost: 1 };
    const { status, body: said } = await app.call({ method: "POST", url: "/route/", secret, body });
    return status === 200 ? typeof said.url : [status, said.error];
  };
  const only = (name: string) => ({ "api.route.request": { constraints: { endpoint: { eq: name } } } });
  assert.equal(await ask({}), "string");
  assert.equal(await ask(only(endpoint.name)), "string");
  assert.deepEqual(await ask(undefined), [403, "not_authorized"]);
  assert.deepEqual(await ask({ "api.endpoint.list": {} }), [403, "not_authorized"]);
  assert.deepEqual(await ask(only("other")), [403, "not_authorized"]);
});

test("a frozen account's key asks for no worker", async (t) => {
  const { app, owner, endpoint } = await aRoutedEndpoint(t);
  await aReadyWorker(app, owner, endpoint);
  const admin = await app.caller();
  await inTransaction(app.env.database, async (tx) => {
    await insertFreeze(tx, { userId: owner.id, reason: "review", frozenBy: admin.id });
    await followFreezes(tx, owner.id);
  });
  await app.settled();
  const body = { endpoint: endpoint.name, cost: 1 };
  const { status, body: said } = await app.call({ method: "POST", url: "/route/", secret: owner.secret, body });
  assert.deepEqual([status, said.error], [403, "account_frozen"]);
});

test("guessing keys is slowed down; clients with a valid key are not, however many ask at once", async (t) => {
  const { app, owner, endpoint, ask } = await aRoutedEndpoint(t);
  await aReadyWorker(app, owner, endpoint);
  const first = await Promise.all(Array.from({ length: 700 }, () => ask({ cost: 1 })));
  assert.deepEqual(new Set(first.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(first.map(({ body }) => body.request_idx)).size, 700, "each has a number of its own");
  const guesses = await Promise.all(Array.from({ length: 700 }, (_, index) => ask({ api_key: `guess-${index}` })));
  const ofAccount = await Promise.all(Array.from({ length: 700 }, () => ask({ cost: 1, api_key: owner.secret })));
  assert.deepEqual(new Set(ofAccount.map(({ status }) => status)), new Set([200]), "its key is remembered");
  const refused = guesses.filter(({ status }) => status === 429);
  assert.ok(refused.length >= 100, `${refused.length} were too many`);
  assert.equal((await ask()).status, 200);
});
