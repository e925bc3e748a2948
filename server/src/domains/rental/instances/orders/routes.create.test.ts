import assert from "node:assert/strict";
import { test } from "node:test";
import { creditOfUser, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { askFor, destroy, rent, show, stored } from "../../../../../../test/support/rentals.ts";

async function countRows({ env }: TestApp): Promise<Record<string, bigint>> {
  const { rows } = await env.pool.query(
    `select (select count(*) from instances) as instances, (select count(*) from volumes) as volumes,
       (select count(*) from api_keys) as keys, (select count(*) from ledger_holds) as holds,
       (select count(*) from leases) as leases, (select count(*) from idempotency_keys) as idempotency`,
  );
  return rows[0];
}

async function template(world: TestApp, user: TestCaller, fields: Record<string, unknown>): Promise<string> {
  const body = { name: "t", image: "busybox", ...fields };
  const answer = await world.call({ method: "POST", url: "/api/v0/template/", secret: user.secret, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.template.hash_id;
}

/** Lists space on the host's disk for rent; returns the volume offer. */
async function volumeOffer({ env }: TestApp, host: FakeHost): Promise<number> {
  const { rows } = await env.pool.query<{ id: number }>(
    `insert into volume_offers (machine_id, size_bytes, price_nanos_per_gb_month, end_at, created_at, updated_at)
     values ($1, 100e9::bigint, 100000000, '2027-01-01', '2026-01-01', '2026-01-01') returning id`,
    [host.machineId],
  );
  return rows[0]?.id ?? 0;
}

test("creating an instance", async (t) => {
  const world = await testApp(t);
  const host = await world.host({ gpus: 16 });
  const user = await world.caller();

  await t.test("answers with its id and key by PUT and POST, with and without the slash", async () => {
    for (const [method, slash] of [
      ["PUT", "/"],
      ["POST", "/"],
      ["PUT", ""],
    ] as const) {
      const offerId = (await world.offersOf(host)).get(1);
      const url = `/api/v0/asks/${offerId}${slash}`;
      const answer = await world.call({ method, url, secret: user.secret, body: { image: "busybox" } });
      assert.equal(answer.status, 200, answer.text);
      const { new_contract: id, instance_api_key: key, ask_id: askId, success } = answer.body;
      assert.deepEqual([success, askId, typeof id], [true, offerId, "number"]);
      const own = await world.call({ url: `/api/v0/instances/${id}/`, secret: key });
      assert.equal(own.body.instances.id, id);
      const other = await world.call({ url: `/api/v0/instances/${id + 1}/`, secret: key });
      assert.equal(other.status, 403);
      await destroy(world, user, id);
      await host.obey();
      assert.equal(
        (await world.call({ url: `/api/v0/instances/${id}/`, secret: key })).status,
        401,
        "its key no longer works",
      );
    }
  });

  await t.test("refuses each wrong member by its name and creates nothing", async () => {
    const before = await countRows(world);
    const wrong: readonly [string, Record<string, unknown>][] = [
      ["image", { image: undefined }],
      ["image", { image: "x".repeat(1025) }],
      ["image", { image: "no spaces allowed" }],
      ["price", { price: "0.3" }],
      ["price", { price: 0 }],
      ["price", { price: 128.01 }],
      ["price", { price: -1 }],
      ["disk", { disk: 7 }],
      ["disk", { disk: "big" }],
      ["disk", { disk: 100_000 }],
      ["label", { label: "x".repeat(257) }],
      ["runtype", { runtype: "carrier-pigeon" }],
      ["target_state", { target_state: "paused" }],
      ["cancel_unavail", { cancel_unavail: "yes" }],
      ["template_id", { template_id: 1 }],
      ["onstart", { onstart: "x".repeat(4097) }],
      ["env", { env: 7 }],
      ["volume_info", { volume_info: 7 }],
      ["volume_info.volume_id", { volume_info: { create_new: false } }],
      ["volume_info.mount_path", { volume_info: { volume_id: 1, mount_path: "../x" } }],
    ];
    for (const [field, body] of wrong) {
      const answer = await askFor(world, user, host, body);
      assert.equal(answer.status, 400, `${field}: ${answer.text}`);
      assert.equal(answer.body.field, field, answer.text);
      assert.deepEqual(
        [answer.body.success, typeof answer.body.error, typeof answer.body.msg],
        [false, "string", "string"],
      );
    }
    assert.deepEqual(await countRows(world), before);
  });

  await t.test("needs a key that may write instances", async () => {
    const reader = await world.caller({ permissions: { api: { instance_read: {} } } });
    const writer = await world.caller({ permissions: { api: { instance_write: {} } } });
    assert.equal((await askFor(world, { ...user, secret: "" }, host)).status, 401);
    assert.equal((await askFor(world, reader, host)).status, 403);
    assert.equal((await askFor(world, writer, host)).status, 200);
  });

  await t.test("tells an unknown offer from one that is gone", async () => {
    for (const id of [999_999, 2_147_483_647, 2_147_483_648, 0]) {
      const call = { method: "PUT", url: `/api/v0/asks/${id}/`, secret: user.secret, body: { image: "a" } } as const;
      const answer = await world.call(call);
      assert.equal(answer.status, 404, answer.text);
      assert.equal(answer.body.ask_id, id);
      assert.match(answer.body.msg, /no_such_ask/);
    }
    const offerId = (await world.offersOf(host)).get(1);
    const again = () =>
      world.call({ method: "PUT", url: `/api/v0/asks/${offerId}/`, secret: user.secret, body: { image: "a" } });
    assert.equal((await again()).status, 200);
    const gone = await again();
    assert.deepEqual([gone.status, gone.body.error, gone.body.ask_id], [410, "no_such_ask", offerId]);
  });

  await t.test("takes null for absent, and ignores unknown members", async () => {
    const nothing = { price: null, label: null, onstart: null, image_login: null, jupyter_dir: null, user: null };
    const flags = { python_utf8: false, lang_utf8: false, use_jupyter_lab: false, force: false, cancel_unavail: false };
    const body = { ...nothing, ...flags, env: {}, disk: 10, template_hash_id: null, volume_info: null, no_such: 1 };
    const record = await show(world, user, await rent(world, user, host, body));
    assert.deepEqual(
      [record.is_bid, record.label, record.disk_space, record.extra_env, record.volume_info],
      [false, null, 10, [], []],
    );
  });

  await t.test("keeps the settings of the order", async () => {
    const id = await rent(world, user, host, {
      image: "ghcr.io/some/image:2",
      env: "-e A=1 -e B='two words' -p 8081:8081/udp -h box",
      label: "training",
      disk: 33.5,
      runtype: "ssh_direct",
      onstart: "echo hi",
    });
    const record = await show(world, user, id);
    assert.deepEqual(
      [record.image_uuid, record.label, record.disk_space, record.onstart],
      ["ghcr.io/some/image:2", "training", 33.5, "echo hi"],
    );
    assert.deepEqual(record.extra_env, [
      ["A", "1"],
      ["B", "two words"],
      ["-p 8081:8081/udp", "1"],
      ["-h", "box"],
    ]);
    assert.match(record.image_runtype, /ssh/);
    await host.synced();
    const order = host.order(id);
    assert.equal(order?.hostname, "box");
    assert.deepEqual(
      order?.ports.toSorted((left, right) => left.container_port - right.container_port),
      [
        { container_port: 22, protocol: "tcp" },
        { container_port: 8081, protocol: "udp" },
      ],
    );
    assert.equal(Object.fromEntries(order?.env ?? [])["CONTAINER_ID"], String(id));
    const plain = await show(world, user, await rent(world, user, host, { args: ["sleep", "9"], onstart: "/bin/sh" }));
    assert.deepEqual([plain.image_runtype, plain.image_args], ["args", ["sleep", "9"]]);
  });

  await t.test("a renter cannot pass for the platform in its own container", async () => {
    const id = await rent(world, user, host, { env: { CONTAINER_ID: "1", CONTAINER_API_KEY: "stolen", MINE: "x" } });
    await host.synced();
    const env = host.order(id)?.env ?? [];
    assert.deepEqual(
      env.filter(([name]) => name === "CONTAINER_ID" || name === "MINE"),
      [
        ["MINE", "x"],
        ["CONTAINER_ID", String(id)],
      ],
    );
    assert.equal(env.filter(([name]) => name === "CONTAINER_API_KEY").length, 1);
  });

  await t.test("follows the four rules of precedence between a template and a request", async () => {
    const hash = await template(world, user, {
      image: "from/template",
      tag: "7",
      env: "-e KEPT=1 -e WON=template -p 80:80",
      onstart: "template",
      runtype: "ssh",
      recommended_disk_space: 20,
      volume_info: { create_new: true, volume_id: 1, size: 1, mount_path: "/data" },
    });
    const bare = await show(world, user, await rent(world, user, host, { image: null, template_hash_id: hash }));
    assert.deepEqual(
      [bare.image_uuid, bare.disk_space, bare.onstart, bare.template_hash_id, bare.volume_info],
      ["from/template:7", 20, "template", hash, []],
    );
    const body = { image: "own/image", disk: 9, onstart: "own", runtype: "args", env: { WON: "request", NEW: "2" } };
    const merged = await show(world, user, await rent(world, user, host, { ...body, template_hash_id: hash }));
    assert.deepEqual(
      [merged.image_uuid, merged.disk_space, merged.onstart, merged.image_runtype],
      ["own/image:latest", 9, "own", "args"],
    );
    assert.deepEqual(merged.extra_env, [
      ["KEPT", "1"],
      ["WON", "request"],
      ["-p 80:80", "1"],
      ["NEW", "2"],
    ]);
    const unknown = await askFor(world, user, host, { template_hash_id: "0".repeat(32) });
    assert.deepEqual([unknown.status, unknown.body.error], [404, "no_such_template"]);
  });

  await t.test("is interruptible with a price", async () => {
    const id = await rent(world, user, host, { price: 0.75 });
    const record = await show(world, user, id);
    assert.deepEqual([record.is_bid, record.dph_base], [true, 0.75]);
  });

  await t.test("holds neither devices nor credit when it starts out stopped", async () => {
    const held = (await creditOfUser(world, user)).held;
    const id = await rent(world, user, host, { target_state: "stopped" });
    const record = await show(world, user, id);
    assert.deepEqual(
      [record.actual_status, record.intended_status, record.cur_state],
      ["created", "stopped", "stopped"],
    );
    assert.equal(typeof record.status_msg, "string");
    assert.deepEqual([(await stored(world, id)).leases, (await stored(world, id)).hold], [0, null]);
    assert.equal((await creditOfUser(world, user)).held, held);
  });

  await t.test("creates nothing without enough credit, and the answer says how much is missing", async () => {
    const poor = await world.caller({ dollars: 0.01 });
    const before = await countRows(world);
    const headers = { "idempotency-key": "poor" };
    const url = `/api/v0/asks/${(await world.offersOf(host)).get(1)}/`;
    const answer = await world.call({ method: "PUT", url, secret: poor.secret, body: { image: "a" }, headers });
    assert.deepEqual([answer.status, answer.body.error], [400, "insufficient_credit"]);
    assert.ok(answer.body.shortfall > 0.03 && answer.body.shortfall < 0.05, answer.text);
    assert.deepEqual(await countRows(world), before);
  });

  await t.test("links an existing volume and rents a new one", async () => {
    const offer = await volumeOffer(world, host);
    const made = await rent(world, user, host, {
      volume_info: { create_new: true, volume_id: offer, size: 20, mount_path: "/models" },
    });
    const [volume] = (await show(world, user, made)).volume_info;
    assert.equal(volume.total_space, 20);
    const existing = { volume_info: { create_new: false, volume_id: volume.id }, target_state: "stopped" };
    const linked = await rent(world, user, host, existing);
    assert.deepEqual((await show(world, user, linked)).volume_info, [volume]);
    await host.synced();
    assert.deepEqual(host.order(made)?.mounts, [
      { volume_id: volume.id, mount_path: "/models", size_bytes: 20_000_000_000 },
    ]);
    const stranger = await askFor(world, await world.caller(), host, { volume_info: { volume_id: volume.id } });
    assert.deepEqual([stranger.status, stranger.body.error], [404, "no_such_volume"]);
  });

  await t.test("leaves nothing of a failed order among others, which go on", async () => {
    const other = await world.host({ gpus: 1 });
    const elsewhere = await volumeOffer(world, other);
    const offers = await world.offersOf(host);
    const before = await countRows(world);
    const ask = (size: number, key: string, body: object) =>
      world.call({
        method: "PUT",
        url: `/api/v0/asks/${offers.get(size)}/`,
        secret: user.secret,
        headers: { "idempotency-key": key },
        body: { image: "a", ...body },
      });
    // Volume offers are per machine: one of another machine fails, after the instance was placed.
    const volumeInfo = { create_new: true, volume_id: elsewhere, size: 1 };
    const [good, bad] = await Promise.all([ask(1, "good", {}), ask(2, "bad", { volume_info: volumeInfo })]);
    assert.deepEqual([good.status, bad.status, bad.body.field], [200, 400, "volume_info.volume_id"]);
    const after = await countRows(world);
    assert.deepEqual(after, {
      instances: before["instances"]! + 1n,
      volumes: before["volumes"],
      keys: before["keys"]! + 1n,
      holds: before["holds"]! + 1n,
      leases: before["leases"]! + 1n,
      idempotency: before["idempotency"]! + 1n,
    });
    assert.equal((await ask(2, "bad", {})).status, 200, "its idempotency key may be used again");
  });

  await world.assertBooks();
  assert.deepEqual(world.complaints, []);
});

test("a repeated creation", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 8 }), await world.caller()];
  const offers = await world.offersOf(host);
  const ask = (key: string, size: number, body: object = { image: "a" }) =>
    world.call({
      method: "PUT",
      url: `/api/v0/asks/${offers.get(size)}/`,
      secret: user.secret,
      headers: { "idempotency-key": key },
      body,
    });
  const instances = async () => (await countRows(world))["instances"];

  await t.test("returns the same bytes and creates no second instance", async () => {
    const [first, second] = [await ask("a", 1), await ask("a", 1)];
    assert.equal(first.status, 200);
    assert.equal(second.text, first.text);
    assert.equal(await instances(), 1n);
  });

  await t.test("with another body is a conflict", async () => {
    const answer = await ask("a", 1, { image: "b" });
    assert.deepEqual([answer.status, answer.body.error], [409, "idempotency_key_reused"]);
  });

  await t.test("in the same moment creates one instance", async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask("b", 2)));
    assert.deepEqual(new Set(answers.map((answer) => answer.text)).size, 1, answers.map(({ text }) => text).join("\n"));
    assert.equal(answers[0]?.status, 200);
    assert.equal(await instances(), 2n);
  });

  await t.test("is answered although its template is gone meanwhile", async () => {
    const hash = await template(world, user, { name: "short-lived" });
    const first = await ask("c", 4, { template_hash_id: hash });
    const removed = {
      method: "DELETE",
      url: "/api/v0/template/",
      secret: user.secret,
      body: { hash_id: hash },
    } as const;
    assert.equal((await world.call(removed)).status, 200);
    assert.equal((await ask("c", 4, { template_hash_id: hash })).text, first.text);
  });

  await t.test("of a bid that had to wait names the same instance again", async () => {
    const [low] = [await world.host({ gpus: 1 })];
    const url = `/api/v0/asks/${(await world.offersOf(low)).get(1)}/`;
    const call = { method: "PUT", url, secret: user.secret, headers: { "idempotency-key": "d" } } as const;
    const first = await world.call({ ...call, body: { image: "a", price: 0.01 } });
    const second = await world.call({ ...call, body: { image: "a", price: 0.01 } });
    assert.deepEqual([first.status, second.status], [400, 400]);
    assert.equal(second.body.new_contract, first.body.new_contract);
  });

  await world.assertBooks();
});
