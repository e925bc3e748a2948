import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { setPrices } from "../../../../../test/support/standing-requests.ts";

async function send(world: TestApp, user: TestCaller, method: "POST" | "PUT", body: object) {
  const answer = await world.call({ method, url: "/api/v0/template/", secret: user.secret, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.template;
}

async function ask(world: TestApp, user: TestCaller, path: string) {
  const answer = await world.call({ url: `/api/v0/template/${path}`, secret: user.secret });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

type Version = { readonly hash_id: string; readonly is_current: boolean; readonly changes: readonly object[] };

test("each version says what changed, and a restored one comes back with its password", async (t) => {
  const world = await testApp(t);
  const [user, stranger] = [await world.caller(), await world.caller()];
  const first = await send(world, user, "POST", {
    name: "mine",
    image: "registry.example/a",
    docker_login_repo: "registry.example",
    docker_login_user: "me",
    docker_login_pass: "canary-first",
    env: "-e TOKEN=one",
  });
  world.clock.jump(60_000);
  const second = await send(world, user, "PUT", { hash_id: first.hash_id, tag: "2", readme: "x".repeat(1_500) });
  world.clock.jump(60_000);
  const third = await send(world, user, "PUT", { hash_id: second.hash_id, docker_login_pass: "canary-other" });
  const { versions, next_token: next } = await ask(world, user, `${first.id}/versions/`);
  assert.equal(next, null);
  assert.deepEqual(
    versions.map((version: Version) => [version.hash_id, version.is_current, version.changes]),
    [
      [third.hash_id, true, [{ field: "docker_login_pass" }]],
      [
        second.hash_id,
        false,
        [
          { field: "tag", before: "latest", after: "2" },
          { field: "readme", before: "", after: `${"x".repeat(1_000)}…` },
        ],
      ],
      [first.hash_id, false, []],
    ],
  );
  const page = await ask(world, user, `${first.id}/versions/?limit=1`);
  const rest = await ask(world, user, `${first.id}/versions/?limit=2&after_token=${page.next_token}`);
  assert.deepEqual([...page.versions, ...rest.versions], versions);
  assert.doesNotMatch(JSON.stringify(versions), /canary/);
  world.clock.jump(60_000);
  const back = await send(world, user, "PUT", { hash_id: third.hash_id, restore_hash_id: first.hash_id });
  assert.deepEqual(back, first);
  assert.equal((await ask(world, user, `${first.id}/versions/`)).versions[0].hash_id, first.hash_id);
  const further = await send(world, user, "PUT", {
    hash_id: first.hash_id,
    restore_hash_id: second.hash_id,
    readme: "short",
  });
  assert.deepEqual([further.tag, further.readme], ["2", "short"]);
  for (const [restore, status, error] of [
    ["0".repeat(32), 404, "no_such_template"],
    [7, 400, "invalid_args"],
  ] as const) {
    const body = { hash_id: further.hash_id, restore_hash_id: restore };
    const refused = await world.call({ method: "PUT", url: "/api/v0/template/", secret: user.secret, body });
    assert.deepEqual([refused.status, refused.body.error], [status, error], refused.text);
  }
  // A version of somebody else's template is no version of one's own.
  const own = await send(world, stranger, "POST", { name: "other", image: "a" });
  const theft = { hash_id: own.hash_id, restore_hash_id: first.hash_id };
  const refused = await world.call({ method: "PUT", url: "/api/v0/template/", secret: stranger.secret, body: theft });
  assert.equal(refused.status, 404, refused.text);
  for (const id of [first.id, 2_000_000_000, "none"]) {
    const answer = await world.call({ url: `/api/v0/template/${id}/versions/`, secret: stranger.secret });
    assert.deepEqual([answer.status, answer.body.error], [404, "no_such_template"], answer.text);
  }
  const token = await world.call({ url: `/api/v0/template/${first.id}/versions/?after_token=x`, secret: user.secret });
  assert.deepEqual([token.status, token.body.error], [400, "invalid_token"]);
});

test("an outlook says where a template would start, at what price, and what keeps the other offers away", async (t) => {
  const world = await testApp(t);
  const [user, stranger] = [await world.caller(), await world.caller()];
  const hosts = [
    await world.host({ gpus: 1 }),
    await world.host({ gpus: 2 }),
    await world.host({ gpus: 1, gpuName: "H100 SXM" }),
  ];
  for (const [index, host] of hosts.entries()) await setPrices(world, host, { price: 0.5 + index / 2 });
  const filters = { gpu_name: { eq: "RTX 4090" } };
  const made = await send(world, user, "POST", { name: "t", image: "a", extra_filters: filters });
  const outlook = await ask(world, user, `${made.id}/outlook/`);
  assert.deepEqual([outlook.offers, outlook.matching, outlook.would_start, outlook.disk], [4, 3, true, 8]);
  assert.deepEqual(
    outlook.cheapest.map((offer: { readonly dph_total: number }) => offer.dph_total),
    [0.5, 1, 2],
  );
  assert.deepEqual(outlook.refused, [
    {
      field: "gpu_name",
      wanted: { eq: "RTX 4090" },
      offers: 1,
      alone: 1,
      msg: "1 of 4 offers do not meet: GPU model is RTX 4090.",
    },
  ]);
  const large = await ask(world, user, `${made.id}/outlook/?disk=1000000&num_gpus=2`);
  assert.deepEqual([large.matching, large.would_start, large.cheapest], [0, false, []]);
  assert.deepEqual(
    large.refused.map((one: { readonly field: string; readonly offers: number; readonly alone: number }) => [
      one.field,
      one.offers,
      one.alone,
    ]),
    [
      ["disk_space", 4, 1],
      ["num_gpus", 3, 0],
      ["gpu_name", 1, 0],
    ],
  );
  const bid = await ask(world, user, `${made.id}/outlook/?type=bid&gpu_name=RTX_4090`);
  assert.equal(bid.cheapest[0].dph_total, 0.25);
  const hidden = await world.call({ url: `/api/v0/template/${made.id}/outlook/`, secret: stranger.secret });
  assert.deepEqual([hidden.status, hidden.body.error], [404, "no_such_template"]);
  for (const [query, field] of [
    ["type=reserved", "type"],
    ["num_gpus=0", "num_gpus"],
    ["disk=-1", "disk"],
  ] as const) {
    const refused = await world.call({ url: `/api/v0/template/${made.id}/outlook/?${query}`, secret: user.secret });
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, new RegExp(field));
  }
});
