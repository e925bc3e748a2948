import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { test } from "node:test";
import { soon, testApp, type TestApp } from "../../../../../test/support/app.ts";
import {
  deployed,
  put,
  shown,
  someCode,
  storedCode,
  upload,
  versionsOf,
  type TestCode,
} from "../../../../../test/support/serverless/deployments.ts";
import { CONTENT_BIT, SPELLING_BIT, turnLastBit } from "../../../../../test/support/money/last-bits.ts";

const PIECE = 1024 * 1024;

/** A deployment whose code was not uploaded yet. */
async function awaiting(world: TestApp, code: TestCode) {
  const owner = await world.caller();
  const { body } = await put(world, owner, code);
  const id = Number(body.deployment_id);
  const current = async () => (await shown(world, owner, id)).current_version_id;
  return { owner, body, id, current, path: new URL(body.upload_url).pathname };
}

function form(bytes: Buffer, end = "\r\n--between--\r\n"): Buffer {
  const head =
    '--between\r\ncontent-disposition: form-data; name="file"; filename="c"\r\ncontent-type: application/gzip\r\n\r\n';
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from(end)]);
}

/** Sends the first part of the code; the returned function sends the rest and resolves with the status. */
async function beginUpload(world: TestApp, path: string, code: TestCode): Promise<() => Promise<number>> {
  const sending = request(`http://${world.origin}${path}`, {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=between" },
  });
  const whole = form(code.bytes);
  sending.write(whole.subarray(0, PIECE + 1_000));
  await soon("a piece to be written", async () => (await storedCode(world))[1] > 0);
  return async () => {
    sending.end(whole.subarray(PIECE + 1_000));
    const [response] = await once(sending, "response");
    response.resume();
    return response.statusCode;
  };
}

test("code that is shorter or longer than announced is refused and leaves nothing behind", async (t) => {
  const world = await testApp(t);
  const code = someCode(2 * PIECE + 7);
  const { body, current } = await awaiting(world, code);
  for (const [bytes, reason] of [
    [code.bytes.subarray(0, -1), /bytes came instead/],
    [Buffer.concat([code.bytes, Buffer.alloc(3 * PIECE)]), /more than/],
    [Buffer.alloc(0), /bytes came instead/],
  ] as const) {
    const refused = await upload(world, body, bytes);
    assert.deepEqual([refused.status, refused.body["error"], refused.body["field"]], [400, "invalid_args", "file"]);
    assert.match(String(refused.body["msg"]), reason);
    assert.deepEqual(await storedCode(world), [0, 0]);
    assert.equal(await current(), null);
  }
  assert.equal((await upload(world, body, code.bytes)).status, 200);
  assert.deepEqual(await storedCode(world), [1, 2], "in pieces of at least one MiB");
  assert.deepEqual(world.complaints, []);
});

test("code that is packed again has the same hash and other bytes, and is the same code", async (t) => {
  const world = await testApp(t);
  const { hash } = someCode();
  const [first, again, third] = [3_000, 3_004, 2_996].map((size) => ({ ...someCode(size), hash }));
  assert.ok(first && again && third);
  const { owner, id, body, current } = await awaiting(world, first);
  const { body: announced } = await put(world, owner, again);
  assert.deepEqual([announced.action, announced.deployment_id], ["exists", id]);
  assert.equal((await upload(world, body, first.bytes)).status, 400, "the size that counts is the last announced");
  assert.equal((await upload(world, announced, again.bytes)).status, 200);
  const version = await current();
  assert.notEqual(version, null);
  const { body: repacked } = await put(world, owner, third);
  assert.deepEqual([repacked.action, repacked.upload_url, await current()], ["exists", undefined, version]);
  const { body: elsewhere } = await put(world, owner, third, { image: "alpine" });
  assert.deepEqual([elsewhere.action, elsewhere.upload_url], ["soft_update", undefined], "its code is there");
  assert.deepEqual(
    (await versionsOf(world, owner, id)).map((each: { readonly file_size: number }) => each.file_size),
    [3_004, 3_004],
  );
  assert.deepEqual(await storedCode(world), [1, 1]);
});

test("code whose announced size changed during its upload has the size that arrived", async (t) => {
  const world = await testApp(t);
  const code = someCode(2 * PIECE);
  const { owner, path, id } = await awaiting(world, code);
  const finish = await beginUpload(world, path, code);
  await put(world, owner, { ...someCode(5), hash: code.hash });
  assert.equal(await finish(), 200);
  const [version] = await versionsOf(world, owner, id);
  assert.deepEqual([version.state, version.file_size], ["complete", 2 * PIECE]);
});

test("code whose announced size shrank during its upload is refused where it exceeds the total limit", async (t) => {
  const world = await testApp(t);
  const code = someCode(2 * PIECE);
  const { owner, path, current } = await awaiting(world, code);
  const finish = await beginUpload(world, path, code);
  await put(world, owner, { ...someCode(5), hash: code.hash });
  for (let count = 0; count < 16; count += 1) {
    const others = { name: `other-${count}`, file_size: 256 * PIECE - (count === 0 ? 5 : 0) };
    assert.equal((await put(world, owner, someCode(), others)).status, 200);
  }
  assert.equal(await finish(), 400);
  assert.deepEqual([await storedCode(world), await current()], [[0, 0], null]);
});

test("an upload that breaks off leaves nothing behind, and the next one succeeds", async (t) => {
  const world = await testApp(t);
  const code = someCode(4 * PIECE);
  const { body, path, current } = await awaiting(world, code);
  const sending = request(`http://${world.origin}${path}`, {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=between", "content-length": 2 * code.bytes.length },
  });
  sending.on("error", () => {});
  sending.write(form(code.bytes.subarray(0, 3 * PIECE), ""));
  await soon("a piece to be written", async () => (await storedCode(world))[1] > 0);
  sending.destroy();
  await soon("the upload to be forgotten", async () => (await storedCode(world))[0] === 0);
  assert.equal(await current(), null);
  assert.equal((await upload(world, body, code.bytes)).status, 200);
  assert.notEqual(await current(), null);
});

test("the unfinished upload of a server that ended is deleted after two hours, and complete code is not", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const { id } = await deployed(world, owner, someCode());
  await world.env.pool.query(
    "insert into deployment_files (deployment_id, file_hash, size_bytes, created_at) values ($1, $2, 9, $3)",
    [id, "0".repeat(64), world.clock.now()],
  );
  world.clock.jump(7_199_000);
  assert.deepEqual(await world.runLoop("forget-broken-uploads"), { deleted: 0 });
  world.clock.jump(2_000);
  assert.deepEqual(await world.runLoop("forget-broken-uploads"), { deleted: 1 });
  assert.deepEqual(await storedCode(world), [1, 1]);
});

test("two concurrent uploads of the same code are kept once", async (t) => {
  const world = await testApp(t);
  const code = someCode(2 * PIECE);
  const { owner, id, body, current } = await awaiting(world, code);
  const both = await Promise.all([upload(world, body, code.bytes), upload(world, body, code.bytes)]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  );
  assert.equal((await storedCode(world))[0], 1);
  const [version] = await versionsOf(world, owner, id);
  assert.equal(await current(), version.id);
  const { rows } = await world.env.pool.query("select generation from worker_groups");
  assert.deepEqual(rows, [{ generation: 1 }], "the second upload recreates no worker");
});

test("more than four uploads at once are refused", async (t) => {
  const world = await testApp(t);
  const code = someCode();
  const { body, id } = await awaiting(world, code);
  for (let count = 0; count < 4; count += 1) {
    await world.env.pool.query(
      "insert into deployment_files (deployment_id, file_hash, size_bytes, created_at) values ($1, $2, 9, $3)",
      [id, "0".repeat(64), world.clock.now()],
    );
  }
  const refused = await upload(world, body, code.bytes);
  assert.deepEqual([refused.status, refused.body["error"]], [409, "too_many_uploads"]);
});

test("an address that is for another use, was changed, or has expired is refused", async (t) => {
  const world = await testApp(t);
  const code = someCode();
  const { owner, body, id, path } = await awaiting(world, code);
  const [other, done] = [await awaiting(world, code), await deployed(world, owner, code, { name: "done" })];
  const token = path.split("/").at(-2) ?? "";
  const { body: link } = await world.call({
    url: `/api/v0/deployment/${done.id}/download_url/`,
    secret: owner.secret,
  });
  const paths = [
    path.replace(`/${id}/`, `/${other.id}/`),
    path.replace(
      token,
      token.replace(/^\d+/, (version) => String(Number(version) + 1)),
    ),
    path.replace(
      token,
      token.replace(/\.(\d+)\./, (_, until) => `.${Number(until) + 1}.`),
    ),
    path.replace(token, turnLastBit(token, CONTENT_BIT)),
    path.replace(token, turnLastBit(token, SPELLING_BIT)),
    path.replace(token, "x"),
    new URL(link.download_url).pathname,
  ];
  for (const wrong of paths) {
    const refused = await upload(world, { upload_url: `http://x${wrong}` }, code.bytes);
    assert.deepEqual([refused.status, refused.body["error"]], [404, "no_such_file"], wrong);
  }
  assert.equal((await world.call({ url: path })).status, 404, "it is for putting, not for fetching");
  world.clock.jump(3_600_000);
  assert.equal((await upload(world, body, code.bytes)).status, 404);
  const { body: again } = await put(world, owner, code);
  assert.equal((await upload(world, again, code.bytes)).status, 200);
});

test("a body that is not a form with a file is refused", async (t) => {
  const world = await testApp(t);
  const code = someCode();
  const { path } = await awaiting(world, code);
  const post = (type: string, payload: Buffer) =>
    fetch(`http://${world.origin}${path}`, {
      method: "POST",
      headers: { "content-type": type },
      body: Uint8Array.from(payload),
    });
  const multipart = "multipart/form-data; boundary=between";
  for (const [type, payload, status] of [
    ["application/json", Buffer.from("{}"), 415],
    ["application/gzip", code.bytes, 415],
    ["multipart/form-data", form(code.bytes), 400],
    [multipart, Buffer.from("nonsense"), 400],
    [multipart, Buffer.from("--between--\r\n"), 400],
    [multipart, Buffer.from('--between\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--between--\r\n'), 400],
    [multipart, form(code.bytes, ""), 400],
    [multipart, form(code.bytes, "\r\n--between"), 400],
  ] as const) {
    const answer = await post(type, payload);
    assert.equal(answer.status, status, `${type} ${payload.subarray(-20).toString("latin1")} ${await answer.text()}`);
  }
  assert.deepEqual(await storedCode(world), [0, 0]);
  assert.deepEqual(world.complaints, []);
  assert.equal((await post(multipart, form(code.bytes))).status, 200);
});

test("code that arrives after another version was requested is kept, and not run", async (t) => {
  const world = await testApp(t);
  const [early, late] = [someCode(), someCode()];
  const { owner, body, id, current } = await awaiting(world, early);
  const { body: newer } = await put(world, owner, late);
  assert.equal((await upload(world, body, early.bytes)).status, 200);
  assert.equal(await current(), null);
  assert.equal((await upload(world, newer, late.bytes)).status, 200);
  const [version] = await versionsOf(world, owner, id);
  assert.deepEqual([version.file_hash, await current()], [late.hash, version.id]);
});

test("a deployment that is deleted during an upload takes the upload along", async (t) => {
  const world = await testApp(t);
  const code = someCode(3 * PIECE);
  const { owner, path, id } = await awaiting(world, code);
  const sending = request(`http://${world.origin}${path}`, {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=between" },
  });
  const whole = form(code.bytes);
  sending.write(whole.subarray(0, 2 * PIECE));
  await soon("a piece to be written", async () => (await storedCode(world))[1] > 0);
  await world.call({ method: "DELETE", url: `/api/v0/deployment/${id}/`, secret: owner.secret });
  sending.end(whole.subarray(2 * PIECE));
  const [answer] = await once(sending, "response");
  assert.equal(answer.statusCode, 404);
  answer.resume();
  assert.deepEqual(await storedCode(world), [0, 0]);
});
