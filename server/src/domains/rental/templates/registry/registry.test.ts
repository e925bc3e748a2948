import assert from "node:assert/strict";
import diagnostics from "node:diagnostics_channel";
import { test, type TestContext } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { startFakeRegistry, type FakeRegistryOptions } from "../../../../../../test/support/network/fake-registry.ts";
import { until } from "../../../../../../test/support/until.ts";
import { createRegistryClient } from "./client.ts";
import { readChallenge, readNextLink } from "./rules/challenge.ts";

const LOGIN = { username: "puller", token: "correct-horse" } as const;
const ASK = { tags: "/api/v1/templates/fetch-tags/", login: "/api/v1/templates/validate-auth/" } as const;

/** The server beside a registry, with a caller's questions. */
async function withRegistry(t: TestContext, options: FakeRegistryOptions = {}, isPrivateAllowed = true) {
  const registry = await startFakeRegistry(options);
  t.after(() => registry.close());
  const world = await testApp(t, { notifications: { isPrivateAllowed } });
  const { secret } = await world.caller();
  const ask = (url: string, body: unknown) => world.call({ method: "POST", url, secret, body });
  const get = (image: string) =>
    world.call({ url: `/api/v0/docker/tags/?${new URLSearchParams({ image }).toString()}`, secret });
  return { world, registry, ask, get };
}

test("the tags of an image are those of its registry, all pages of them, under each way to name it", async (t) => {
  const tags = ["v1", "v2", "v3", "v4", "latest"];
  const { registry, ask, get } = await withRegistry(t, { tags: { "team/app": tags, bare: [] } });
  const { address } = registry;
  for (const body of [
    { image: `${address}/team/app` },
    { image: `${address}/team/app:v1` },
    { image: "team/app", server: address },
    { image: `${address}/team/app`, server: `http://${address}/` },
  ]) {
    const answer = await ask(ASK.tags, body);
    assert.deepEqual([answer.status, answer.body], [200, { success: true, tags }], answer.text);
  }
  assert.deepEqual((await get(`${address}/team/app`)).body, { success: true, tags });
  for (const name of ["bare", "absent"]) {
    const { status, body } = await get(`${address}/${name}`);
    const { msg, ...rest } = body;
    assert.deepEqual([status, rest], [200, { success: false, tags: [], error: "no_tags" }]);
    assert.match(msg, new RegExp(`${name}\\.$`));
  }
});

for (const kind of ["basic", "bearer"] as const) {
  test(`a login is sent when the registry asks for it, and tells a wrong one from a right one (${kind})`, async (t) => {
    const login = { ...LOGIN, kind };
    const { world, registry, ask } = await withRegistry(t, { tags: { app: ["v1"] }, login });
    const image = `${registry.address}/app`;
    const right = await ask(ASK.tags, { image, ...LOGIN });
    assert.deepEqual([right.status, right.body.tags], [200, ["v1"]], right.text);
    assert.equal(registry.asked[0]?.authorization, undefined, "nothing is sent unasked");
    const checked = await ask(ASK.login, { server: registry.address, ...LOGIN });
    assert.deepEqual(checked.body, { success: true, authenticated: true, repositories: ["app"] });
    for (const [url, given, error, field] of [
      [ASK.tags, {}, "registry_error", "username"],
      [ASK.tags, { ...LOGIN, token: "wrong" }, "registry_error", "token"],
      [ASK.login, { ...LOGIN, token: "wrong" }, "auth_failed", "token"],
    ] as const) {
      const answer = await ask(url, { ...(url === ASK.tags ? { image } : { server: registry.address }), ...given });
      assert.deepEqual([answer.status, answer.body.error, answer.body.field], [400, error, field], answer.text);
    }
    assert.ok(!world.complaints.join("").includes(LOGIN.token));
  });
}

test("a registry without logins is not said to have checked one", async (t) => {
  const { registry, ask } = await withRegistry(t);
  const { body } = await ask(ASK.login, { server: registry.address, ...LOGIN });
  assert.deepEqual(body, { success: true, authenticated: false, repositories: [] });
  assert.ok(registry.asked.every(({ authorization }) => authorization === undefined));
});

test("no question goes into the server's own network, by any name", async (t) => {
  const { registry, ask, get } = await withRegistry(t, { tags: { app: ["v1"] } }, false);
  const [, port = ""] = registry.address.split(":");
  for (const host of ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254"]) {
    const answers = [
      await get(`${host}:${port}/app`),
      await ask(ASK.tags, { image: "app", server: `${host}:${port}` }),
      await ask(ASK.login, { server: `${host}:${port}`, ...LOGIN }),
    ];
    for (const { status, body, text } of answers) {
      // A name is resolved by DNS alone, where `localhost` may be unknown.
      const isRefused = body.error === "private_registry" || (host === "localhost" && status === 400);
      assert.ok(status === 400 && isRefused, `${host}: ${text}`);
    }
  }
  const client = createRegistryClient({
    clock: new ManualClock(),
    resolve: async () => ["8.8.8.8", "127.0.0.1"],
    isPrivateAllowed: false,
  });
  assert.deepEqual(await client.listTags(`registry.example.com:${port}`, "app"), { kind: "private" });
  assert.deepEqual(registry.asked, []);
});

test("a registry that redirects, breaks off, floods or talks otherwise is an error, and nothing follows it", async (t) => {
  const elsewhere = await startFakeRegistry({ tags: { app: ["v1"] } });
  t.after(() => elsewhere.close());
  let trouble = "";
  const { registry, get } = await withRegistry(t, {
    instead: (request, answer) => {
      if (trouble === "redirect")
        answer.writeHead(307, { location: `http://${elsewhere.address}/v2/app/tags/list` }).end();
      else if (trouble === "flood") answer.end(`{"tags":["${"x".repeat(2_000_000)}"]}`);
      else if (trouble === "page") answer.end("<html>");
      else if (trouble === "list") answer.end('{"tags":"v1"}');
      else if (trouble === "gone") answer.destroy();
      else if (trouble === "half") {
        answer.writeHead(200, { "content-length": "100" });
        answer.write('{"tags":[', () => answer.destroy());
      } else if (trouble === "realm") {
        answer.writeHead(401, { "www-authenticate": `Bearer realm="ftp://${elsewhere.address}/token"` }).end();
      } else if (trouble === "elsewhere") {
        answer.writeHead(200, { link: `<http://${elsewhere.address}/v2/app/tags/list>; rel="next"` });
        answer.end('{"tags":["own"]}');
      } else if (trouble === "slashes") {
        const isFirst = !request.url?.startsWith("//");
        if (isFirst) answer.setHeader("link", `<http://${registry.address}//${elsewhere.address}/x>; rel="next"`);
        answer.end(JSON.stringify({ tags: [isFirst ? "own" : "own as well"] }));
      }
      return true;
    },
  });
  for (const [kind, message] of [
    ["redirect", /answered 307/],
    ["flood", /more than can be read/],
    ["page", /not answer as a registry/],
    ["list", /not answer as a registry/],
    ["gone", /could not be reached/],
    ["half", /broke off in the middle/],
    ["realm", /no https address/],
  ] as const) {
    trouble = kind;
    const { status, body } = await get(`${registry.address}/app`);
    assert.deepEqual([status, body.error, body.field], [400, "registry_error", "image"], kind);
    assert.match(body.msg, message);
  }
  trouble = "elsewhere";
  assert.deepEqual((await get(`${registry.address}/app`)).body.tags, ["own"], "no page of another server is read");
  trouble = "slashes";
  assert.deepEqual((await get(`${registry.address}/app`)).body.tags, ["own", "own as well"]);
  assert.deepEqual(elsewhere.asked, []);
});

test("a registry that does not answer is given up after ten seconds", async (t) => {
  const registry = await startFakeRegistry({ instead: () => true });
  t.after(() => registry.close());
  const clock = new ManualClock();
  const client = createRegistryClient({ clock, resolve: async () => [], isPrivateAllowed: true });
  const asked = client.listTags(registry.address, "app");
  await until("the registry to be asked", () => registry.asked.length > 0);
  clock.advance(10_000);
  assert.deepEqual(await asked, { kind: "failed", text: "did not answer in time" });
});

test("a registry that stops in the middle of its answer did not answer in time", async (t) => {
  const registry = await startFakeRegistry({ instead: (_request, answer) => answer.write('{"tags":["v1",') || true });
  t.after(() => registry.close());
  let hasBegun = false;
  const note = () => (hasBegun = true);
  diagnostics.subscribe("http.client.response.finish", note);
  t.after(() => diagnostics.unsubscribe("http.client.response.finish", note));
  const clock = new ManualClock();
  const client = createRegistryClient({ clock, resolve: async () => [], isPrivateAllowed: true });
  const asked = client.listTags(registry.address, "app");
  await until("the answer to begin", () => hasBegun);
  clock.advance(10_000);
  assert.deepEqual(await asked, { kind: "failed", text: "did not answer in time" });
});

test("wrong questions to registries are refused by name, before anything is asked", async (t) => {
  const { registry, ask, world } = await withRegistry(t);
  const cases: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
    [ASK.tags, {}, "image"],
    [ASK.tags, { image: "Not An Image" }, "image"],
    [ASK.tags, { image: 5 }, "image"],
    [ASK.tags, { image: `${registry.address}/app`, server: "ghcr.io" }, "server"],
    [ASK.tags, { image: "app", server: "word" }, "server"],
    [ASK.tags, { image: "app", server: "a b.example" }, "server"],
    [ASK.tags, { image: "app", username: "u" }, "token"],
    [ASK.tags, { image: "app", token: "t" }, "username"],
    [ASK.tags, { image: "app", username: "a:b", token: "t" }, "username"],
    [ASK.login, { server: registry.address }, "username"],
    [ASK.login, { server: "https://user@host.example/", ...LOGIN }, "server"],
    [ASK.login, { server: registry.address, username: "u".repeat(257), token: "t" }, "username"],
  ];
  for (const [url, body, field] of cases) {
    const answer = await ask(url, body);
    assert.deepEqual([answer.status, answer.body.error, answer.body.field], [400, "invalid_args", field], answer.text);
  }
  assert.equal((await world.call({ method: "POST", url: ASK.login, body: LOGIN })).status, 401);
  assert.deepEqual(registry.asked, []);
});

test("challenges and links are read as registries write them", () => {
  assert.deepEqual(readChallenge('Bearer realm="https://auth.example/token",service="s",scope="repository:a:pull"'), {
    kind: "bearer",
    realm: "https://auth.example/token",
    service: "s",
    scope: "repository:a:pull",
  });
  assert.deepEqual(readChallenge('basic realm="x"'), { kind: "basic" });
  for (const header of [undefined, "", "Digest x", "Bearer service=x"]) assert.equal(readChallenge(header), undefined);
  assert.equal(readNextLink('</v2/a/tags/list?last=b&n=2>; rel="next"'), "/v2/a/tags/list?last=b&n=2");
  for (const header of [undefined, "", '</x>; rel="prev"']) assert.equal(readNextLink(header), undefined);
});
