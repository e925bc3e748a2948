import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import { changeBid, destroy, reboot, rent, rentAndRun, setState, show } from "../../../../../test/support/rentals.ts";

test("changing an instance", async (t) => {
  const world = await testApp(t);
  const [host, user, stranger] = [await world.host({ gpus: 8 }), await world.caller(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const url = `/api/v0/instances/${id}/`;
  const update = (body: unknown, secret: string | undefined = user.secret) =>
    world.call({ method: "PUT", url, secret, body });

  await t.test("starts, stops and labels it", async () => {
    const answer = await update({ state: "stopped" });
    assert.deepEqual([answer.status, answer.body.success, typeof answer.body.msg], [200, true, "string"]);
    assert.equal((await update({ state: "running", label: "x".repeat(1024) })).status, 200);
    assert.equal((await show(world, user, id)).label.length, 1024);
    await update({ label: "" });
    assert.equal((await show(world, user, id)).label, null);
    await host.obey();
  });

  await t.test("refuses an invalid state or label, by its name", async () => {
    for (const [field, body] of [
      ["state", {}],
      ["state", { state: null, label: null }],
      ["state", { state: "paused" }],
      ["label", { label: 7 }],
      ["label", { label: "x".repeat(1025) }],
    ] as const) {
      const answer = await update(body);
      assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
    }
    assert.equal((await update({ label: "x".repeat(1025) })).body.error, "label_too_long");
  });

  await t.test("is for its owner and keys with the permission", async () => {
    const reader = await world.caller({ permissions: { api: { instance_read: {} } } });
    const calls = [
      { method: "PUT", url, body: { state: "stopped" } },
      { method: "PUT", url, body: { label: "mine" } },
      { method: "DELETE", url, body: {} },
      { method: "PUT", url: `/api/v0/instances/reboot/${id}/`, body: {} },
      { method: "PUT", url: `/api/v0/instances/bid_price/${id}/`, body: { client_id: "me", price: 1 } },
    ] as const;
    for (const call of calls) {
      assert.equal((await world.call(call)).status, 401);
      assert.equal((await world.call({ ...call, secret: reader.secret })).status, 403);
      const hidden = await world.call({ ...call, secret: stranger.secret });
      assert.deepEqual([hidden.status, hidden.body.error], [404, "no_such_instance"]);
      const unknown = await world.call({ ...call, url: call.url.replace(`/${id}/`, "/99999/"), secret: user.secret });
      assert.equal(unknown.body.msg, hidden.body.msg.replace(String(id), "99999"), "the answer of an absent instance");
    }
    assert.equal((await show(world, user, id)).actual_status, "running");
  });

  await t.test("a repetition with the same key does it once and answers the same", async () => {
    const headers = { "idempotency-key": "reboot-1" };
    const call = {
      method: "PUT",
      url: `/api/v0/instances/reboot/${id}/`,
      secret: user.secret,
      body: {},
      headers,
    } as const;
    const first = await world.call(call);
    await host.obey();
    const generation = host.order(id)?.generation;
    assert.equal((await world.call(call)).text, first.text);
    await host.obey();
    assert.equal(host.order(id)?.generation, generation);
  });

  await t.test("only a running instance can be rebooted", async () => {
    const other = await rent(world, user, host, { target_state: "stopped" });
    const answer = await reboot(world, user, other);
    assert.deepEqual([answer.status, answer.body.error], [409, "not_running"]);
  });

  await t.test("a destroyed instance refuses further changes", async () => {
    const other = await rentAndRun(world, user, host);
    assert.equal((await destroy(world, user, other)).status, 200);
    assert.equal(
      (await destroy(world, user, other)).status,
      200,
      "a repeated call is no error while it is being destroyed",
    );
    for (const answer of [await setState(world, user, other, "running"), await changeBid(world, user, other, 1)]) {
      assert.deepEqual([answer.status, answer.body.error], [404, "no_such_instance"]);
    }
    await host.obey();
    const again = await destroy(world, user, other);
    assert.deepEqual([again.status, again.body.error], [404, "no_such_instance"]);
    const tombstone = await show(world, user, other);
    assert.deepEqual([tombstone.actual_status, tombstone.intended_status], ["destroyed", "destroyed"]);
    assert.equal(tombstone.uptime_mins, null);
    world.clock.jump(601_000);
    assert.equal(await show(world, user, other), null);
  });

  await world.assertBooks();
});

test("changing a bid", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 8 }), await world.caller()];
  const id = await rentAndRun(world, user, host, { price: 0.2 });
  const call = (body: unknown) =>
    world.call({ method: "PUT", url: `/api/v0/instances/bid_price/${id}/`, secret: user.secret, body });

  await t.test("takes effect and answers success and nothing else", async () => {
    assert.deepEqual((await call({ client_id: "me", price: 32 })).body, { success: true });
    assert.deepEqual((await call({ client_id: "me", price: 0.25 })).body, { success: true });
    const record = await show(world, user, id);
    assert.deepEqual([record.dph_base, record.is_bid], [0.25, true]);
    assert.deepEqual((await call({ client_id: "me", price: null })).body, { success: true });
    assert.equal((await show(world, user, id)).dph_base, record.min_bid, "null bids the lowest price that runs");
    assert.equal((await call({ client_id: "me", price: 0.25 })).status, 200);
  });

  await t.test("refuses an amount out of its limits or not a number, by its name", async () => {
    for (const price of [0, 0.0009, 32.000001, 128, -1, "0.3", "NaN", true, [], undefined]) {
      const answer = await call({ client_id: "me", price });
      assert.deepEqual([answer.status, answer.body.field], [400, "price"], `${String(price)}: ${answer.text}`);
    }
    for (const clientId of [undefined, null, {}]) {
      const answer = await call({ client_id: clientId, price: 0.3 });
      assert.deepEqual([answer.status, answer.body.field], [400, "client_id"], answer.text);
    }
    const text = '{"client_id":"me","price":NaN}';
    const notJson = await world.call({
      method: "PUT",
      url: `/api/v0/instances/bid_price/${id}/`,
      secret: user.secret,
      text,
    });
    assert.equal(notJson.status, 400);
    assert.equal((await show(world, user, id)).dph_base, 0.25);
  });

  await t.test("is not for an instance with a fixed price", async () => {
    const answer = await changeBid(world, user, await rent(world, user, host), 0.3);
    assert.deepEqual([answer.status, answer.body.error, answer.body.field], [400, "invalid_args", "id"]);
  });

  await t.test("of a stopped instance counts when it starts", async () => {
    await setState(world, user, id, "stopped");
    await host.obey();
    assert.equal((await changeBid(world, user, id, 0.5)).status, 200);
    await setState(world, user, id, "running");
    await host.obey();
    assert.deepEqual(
      [(await show(world, user, id)).actual_status, (await show(world, user, id)).dph_base],
      ["running", 0.5],
    );
  });

  await world.assertBooks();
});

test("listing instances", async (t) => {
  const world = await testApp(t);
  const [host, user, stranger] = [await world.host({ gpus: 32 }), await world.caller(), await world.caller()];
  const ids: number[] = [];
  for (let count = 0; count < 28; count += 1) {
    const label = ["blue", "red", null][count % 3];
    ids.push(await rent(world, user, host, { label, target_state: count % 2 === 0 ? "running" : "stopped" }));
  }
  await host.obey();
  const page = async (query: Record<string, unknown> = {}, secret: string | undefined = user.secret) => {
    const search = new URLSearchParams(
      Object.entries(query).map(([key, value]): [string, string] => [
        key,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
    );
    return world.call({ url: `/api/v1/instances/?${search.toString()}`, secret });
  };
  const idsOf = (answer: { body: { instances: { id: number }[] } }) => answer.body.instances.map(({ id }) => id);

  await t.test("works without parameters, twenty-five at a time, with null at the end", async () => {
    const first = await page();
    assert.deepEqual(
      [first.status, first.body.success, first.body.instances_found, first.body.total_instances],
      [200, true, 25, 28],
    );
    assert.deepEqual(first.body.label_counts, { blue: 10, red: 9, "": 9 });
    const second = await page({ after_token: first.body.next_token });
    assert.deepEqual([...idsOf(first), ...idsOf(second)], ids);
    assert.equal(second.body.next_token, null);
    for (const row of first.body.instances) {
      assert.equal(typeof row.start_date, "number");
      assert.ok(Array.isArray(row.extra_env));
      assert.ok("actual_status" in row && row.ports !== null);
    }
  });

  await t.test("any order is paged without losing or repeating a row", async () => {
    for (const order of [
      [{ col: "label", dir: "asc" }],
      [
        { col: "dph_total", dir: "desc" },
        { col: "actual_status", dir: "desc" },
      ],
      [{ col: "id", dir: "desc" }],
    ]) {
      const seen: number[] = [];
      let token: string | null = "";
      while (token !== null) {
        const answer = await page({ order_by: order, limit: 5, after_token: token });
        assert.equal(answer.status, 200, answer.text);
        seen.push(...idsOf(answer));
        token = answer.body.next_token;
      }
      assert.deepEqual(
        seen.toSorted((a, b) => a - b),
        ids,
      );
    }
  });

  await t.test("a row that disappears between two pages hides no other row", async () => {
    const first = await page({ order_by: [{ col: "id", dir: "desc" }], limit: 3 });
    const last = idsOf(first).at(-1) ?? 0;
    await destroy(world, user, last);
    const second = await page({ order_by: [{ col: "id", dir: "desc" }], limit: 3, after_token: first.body.next_token });
    const place = ids.indexOf(last);
    assert.deepEqual(idsOf(second), ids.slice(place - 3, place).toReversed());
    ids.splice(place, 1);
  });

  await t.test("follows the limits of the published contract", async () => {
    for (const [limit, found] of [
      ["100", 25],
      ["0", 5],
      ["-3", 5],
      ["7", 7],
    ] as const) {
      assert.equal((await page({ limit })).body.instances_found, found, `limit ${limit}`);
    }
    assert.equal((await page({ limit: "many" })).status, 400);
  });

  await t.test("filters by stored columns, unlabelled ones included", async () => {
    const count = async (filters: unknown) => (await page({ select_filters: filters })).body.total_instances;
    assert.equal(await count({ label: { eq: "blue" } }), (await page()).body.label_counts.blue);
    assert.equal(await count({ label: { in: [null, "red"] } }), ids.length - (await count({ label: { eq: "blue" } })));
    assert.equal(await count({ label: { in: [null] } }), (await page()).body.label_counts[""]);
    assert.equal(await count({ actual_status: { eq: "running" }, gpu_name: { in: ["RTX 4090"] } }), 14);
    assert.equal(await count({ id: { gte: ids[10], lt: ids[12] } }), 2);
    assert.equal(await count({ verification: { neq: "verified" } }), 0);
  });

  await t.test("refuses computed and unknown columns, bad tokens and malformed text", async () => {
    for (const [query, code] of [
      [{ select_filters: { dph_total: { lt: 1 } } }, "invalid_request"],
      [{ select_filters: { num_gpus: { eq: 1 } } }, "invalid_request"],
      [{ select_filters: { id: { like: 1 } } }, "invalid_args"],
      [{ select_filters: { id: { eq: "x" } } }, "invalid_args"],
      [{ select_filters: "{" }, "invalid_args"],
      [{ order_by: [{ col: "no_such" }] }, "invalid_args"],
      [{ order_by: "id" }, "invalid_args"],
      [{ after_token: "bogus" }, "invalid_token"],
      [{ after_token: Buffer.from("[1,2]").toString("base64url") }, "invalid_token"],
      [{ select_cols: "id" }, "invalid_args"],
    ] as const) {
      const answer = await page(query);
      assert.deepEqual([answer.status, answer.body.error], [400, code], `${JSON.stringify(query)} ${answer.text}`);
      assert.equal(typeof answer.body.field, "string");
    }
    assert.match((await page({ select_filters: { dph_total: { lt: 1 } } })).body.msg, /is not a valid search key/);
    assert.equal(
      (await page({ order_by: [{ col: "id", dir: "sideways" }] })).status,
      200,
      "any other word is ascending",
    );
  });

  await t.test("returns the chosen columns, unknown ones as null", async () => {
    const answer = await page({ select_cols: ["id", "label", "no_such"], limit: 1 });
    assert.deepEqual(answer.body.instances, [{ id: ids[0], label: "blue", no_such: null }]);
    assert.ok(Object.keys((await page({ select_cols: ["*"], limit: 1 })).body.instances[0]).length > 80);
  });

  await t.test("shows no instance of another user", async () => {
    assert.deepEqual((await page({}, stranger.secret)).body.instances, []);
    assert.equal(
      (await world.call({ url: `/api/v0/instances/${ids[0]}/`, secret: stranger.secret })).body.instances,
      null,
    );
    assert.equal((await page({}, "")).status, 401);
    const billing = await world.caller({ permissions: { api: { billing_read: {} } } });
    assert.equal((await page({}, billing.secret)).status, 403);
  });

  await t.test("the older list has all instances at once", async () => {
    const answer = await world.call({ url: "/api/v0/instances?owner=me", secret: user.secret });
    assert.deepEqual([answer.status, answer.body.instances_found], [200, ids.length]);
    assert.deepEqual(idsOf(answer), ids);
  });

  await t.test("an unknown id shows null", async () => {
    for (const id of ["999999", "0", "-1", "99999999999"]) {
      const answer = await world.call({ url: `/api/v0/instances/${id}/`, secret: user.secret });
      assert.deepEqual([answer.status, answer.body], [200, { instances: null }], id);
    }
    assert.equal((await world.call({ url: "/api/v0/instances/abc/", secret: user.secret })).status, 400);
  });
});

test("an instance says how long it runs, how long it ran in all, and how long its host says that it ran", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 1 }), await world.caller()];
  const id = await rent(world, user, host);
  const times = async () => {
    const record = await show(world, user, id);
    return [record.uptime_mins, record.client_run_time, record.host_run_time];
  };
  assert.deepEqual(await times(), [null, 0, 0]);
  await host.obey();
  world.clock.jump(90 * 60_000);
  await host.count();
  assert.deepEqual(await times(), [90, 1.5, 1.5]);
  await setState(world, user, id, "stopped");
  await host.obey();
  world.clock.jump(60 * 60_000);
  assert.deepEqual(await times(), [null, 1.5, 1.5]);
  await setState(world, user, id, "running");
  await host.obey();
  world.clock.jump(30 * 60_000);
  await host.count();
  assert.deepEqual(await times(), [30, 2, 2]);
});

test("an instance is named after its template as it was rented, also after an edit", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 2 }), await world.caller()];
  const plain = await rent(world, user, host);
  assert.equal((await show(world, user, plain)).template_name, null);
  const url = "/api/v0/template/";
  const body = { name: "First name", image: "busybox" };
  const made = await world.call({ method: "POST", url, secret: user.secret, body });
  const { hash_id: hash } = made.body.template;
  const id = await rent(world, user, host, { template_hash_id: hash });
  assert.equal((await show(world, user, id)).template_name, "First name");
  const edit = { hash_id: hash, name: "Second name" };
  assert.equal((await world.call({ method: "PUT", url, secret: user.secret, body: edit })).status, 200);
  assert.equal((await show(world, user, id)).template_name, "First name");
});

test("a simulated host maps the SSH server's port of every instance with one, however it is to be reached", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 3 }), await world.caller()];
  const portsIn = async (body: Readonly<Record<string, unknown>>) => {
    const id = await rentAndRun(world, user, host, body);
    return host.desired?.instances.find((one) => one.instance_id === id)?.ports;
  };
  const ssh = { container_port: 22, protocol: "tcp" };
  assert.deepEqual(await portsIn({ runtype: "ssh_proxy" }), [ssh]);
  assert.deepEqual(await portsIn({ runtype: "ssh_direct" }), [ssh]);
  assert.deepEqual(await portsIn({ runtype: "args" }), []);
});

test("on a simulated host the SSH address is the direct port of a running instance", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 1 }), await world.caller()];
  const id = await rentAndRun(world, user, host, { runtype: "ssh_direct" });
  const report = (ports: Record<string, number>) => host.report(host.obedience().map((one) => ({ ...one, ports })));
  await report({});
  assert.equal((await show(world, user, id)).ssh_port, 0);
  await report({ "22/tcp": 40_122 });
  const record = await show(world, user, id);
  assert.deepEqual([record.ssh_host, record.ssh_port], [record.public_ipaddr, 40_122]);
  await setState(world, user, id, "stopped");
  await host.obey();
  assert.equal((await show(world, user, id)).ssh_port, 0);
});
