import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { test, type TestContext } from "node:test";
import { soon, testApp } from "../../../../../../test/support/app.ts";
import { simulatedShells } from "../../../../../../test/support/hosts/shell-host.ts";
import { rent, rentAndRun } from "../../../../../../test/support/rentals.ts";

async function fileWorld(t: TestContext) {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 4, ...simulatedShells(t) }), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const base = `/api/v0/instances/${id}/files/`;
  const url = (path: string, more = "") =>
    `http://${world.origin}${base}content/?path=${encodeURIComponent(path)}${more}`;
  const headers = { authorization: `Bearer ${user.secret}` };
  const list = async (path: string) => {
    const answer = await world.call({ url: `${base}?path=${encodeURIComponent(path)}`, secret: user.secret });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const namesIn = async (path: string) =>
    (await list(path)).entries.map(({ name, type }: { name: string; type: string }) => `${name} ${type}`);
  const upload = async (path: string, bytes: string | Buffer, more = "") => {
    const answer = await fetch(url(path, more), { method: "PUT", headers, body: bytes });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const download = (path: string) => fetch(url(path), { headers });
  const make = (path: unknown) =>
    world.call({ method: "POST", url: `${base}folders/`, secret: user.secret, body: { path } });
  const remove = (path: string) =>
    world.call({ method: "DELETE", url: `${base}?path=${encodeURIComponent(path)}`, secret: user.secret });
  return { world, host, user, id, base, url, headers, list, namesIn, upload, download, make, remove };
}

test("files are listed, uploaded, downloaded as they were, and deleted", async (t) => {
  const { world, user, list, namesIn, upload, download, make, remove } = await fileWorld(t);
  assert.deepEqual(await namesIn("/"), ["etc folder", "root folder", "tmp folder", "workspace folder"]);
  const [readme] = (await list("//root/./")).entries;
  assert.deepEqual(
    [readme.name, readme.type, readme.mode, readme.target, readme.leads_to, readme.is_addressable],
    ["README.txt", "file", "0644", null, null, true],
  );
  const bytes = randomBytes(3_000_000);
  assert.deepEqual(await upload("/workspace/model.bin", bytes), {
    status: 200,
    body: { success: true, path: "/workspace/model.bin" },
  });
  const got = await download("/workspace/model.bin");
  const digest = (data: Uint8Array) => createHash("sha256").update(data).digest("hex");
  assert.equal(digest(Buffer.from(await got.arrayBuffer())), digest(bytes));
  assert.deepEqual(
    ["content-type", "content-length", "content-disposition", "x-content-type-options", "content-security-policy"].map(
      (name) => got.headers.get(name),
    ),
    [
      "application/octet-stream",
      "3000000",
      `attachment; filename="model.bin"; filename*=UTF-8''model.bin`,
      "nosniff",
      "sandbox; default-src 'none'",
    ],
  );
  assert.equal((await upload("/workspace/empty", "")).status, 200);
  assert.equal((await (await download("/workspace/empty")).arrayBuffer()).byteLength, 0);
  assert.deepEqual((await make("/workspace/new")).body, { success: true, path: "/workspace/new" });
  assert.equal((await remove("/workspace/new/")).status, 200);
  assert.equal((await remove("/workspace/empty")).status, 200);
  assert.deepEqual(await namesIn("/workspace"), ["model.bin file"]);
  const log = await world.call({ url: "/api/v0/audit_logs/", secret: user.secret });
  for (const action of ["upload_file", "make_folder", "delete_file"]) assert.match(log.text, new RegExp(action));
});

test("an upload replaces nothing unless it is asked to, and leaves no draft behind", async (t) => {
  const { namesIn, upload, download } = await fileWorld(t);
  assert.equal((await upload("/tmp/a", "one")).status, 200);
  const again = await upload("/tmp/a", "two");
  assert.deepEqual([again.status, again.body["error"]], [409, "file_exists"]);
  assert.equal(await (await download("/tmp/a")).text(), "one");
  assert.equal((await upload("/tmp/a", "two", "&overwrite=true")).status, 200);
  assert.equal(await (await download("/tmp/a")).text(), "two");
  const folder = await upload("/tmp", "x", "&overwrite=true");
  assert.deepEqual([folder.status, folder.body["error"]], [409, "file_exists"]);
  const nowhere = await upload("/no/where", "x");
  assert.deepEqual([nowhere.status, nowhere.body["error"]], [404, "no_such_file"]);
  const full = await upload("/tmp/big", Buffer.alloc(9 * 2 ** 20));
  assert.deepEqual([full.status, full.body["error"]], [409, "file_refused"]);
  assert.match(String(full.body["msg"]), /No space left on device/);
  assert.deepEqual(await namesIn("/tmp"), ["a file"]);
});

test("odd names are names", async (t) => {
  const { namesIn, upload, download, make, remove } = await fileWorld(t);
  const names = ["a b", `it's "quoted"`, "line\nend", "-rf *", "%2F", "日本語", "tab\tname", "<b>x", "\u202Eevil"];
  for (const name of names) {
    assert.equal((await upload(`/tmp/${name}`, name)).status, 200, JSON.stringify(name));
    const got = await download(`/tmp/${name}`);
    assert.equal(await got.text(), name);
    assert.match(
      String(got.headers.get("content-disposition")),
      /^attachment; filename="[\w.() -]+"; filename\*=UTF-8''\S+$/,
    );
  }
  assert.deepEqual((await namesIn("/tmp")).toSorted(), names.map((name) => `${name} file`).toSorted());
  for (const name of names) assert.equal((await remove(`/tmp/${name}`)).status, 200, JSON.stringify(name));
  assert.deepEqual(await namesIn("/tmp"), []);
  assert.equal((await make("/tmp/with\nline")).status, 200);
});

test("a request that cannot be met is refused with a code and a sentence", async (t) => {
  const { world, host, user, base, headers, upload, download, make, remove } = await fileWorld(t);
  const bad = ["relative", "", "/a/../b", `/${"x".repeat(256)}`, `/${"x/".repeat(2_100)}`, "/zero\0"];
  for (const path of bad) {
    const refused = await world.call({ url: `${base}?path=${encodeURIComponent(path)}`, secret: user.secret });
    assert.deepEqual([refused.status, refused.body.field], [400, "path"], JSON.stringify(path));
    assert.equal((await upload(path, "x")).status, 400, JSON.stringify(path));
  }
  for (const path of [undefined, null, 7, {}, "/"]) assert.equal((await make(path)).status, 400, JSON.stringify(path));
  assert.equal((await remove("/")).status, 400);
  await make("/tmp/full");
  await upload("/tmp/full/file", "x");
  const answers = [
    [await remove("/tmp/full"), 409, "folder_not_empty"],
    [await remove("/tmp/none"), 404, "no_such_file"],
    [await make("/tmp/full"), 409, "file_exists"],
    [await world.call({ url: `${base}?path=/etc/hostname`, secret: user.secret }), 409, "not_a_folder"],
    [await world.call({ url: `${base}?path=/none`, secret: user.secret }), 404, "no_such_file"],
  ] as const;
  for (const [answer, status, error] of answers) {
    assert.deepEqual([answer.status, answer.body.error], [status, error], answer.text);
  }
  for (const [path, status, error] of [
    ["/tmp", 409, "not_a_file"],
    ["/tmp/none", 404, "no_such_file"],
  ] as const) {
    const answer = await download(path);
    const body = (await answer.json()) as Record<string, unknown>;
    assert.deepEqual([answer.status, body["error"]], [status, error]);
  }
  const long = await fetch(`http://${world.origin}${base}content/?path=/tmp/x`, {
    method: "PUT",
    headers: { ...headers, "content-type": "text/html" },
    body: "any type will do",
  });
  assert.equal(long.status, 200, await long.text());
  const stranger = await world.caller();
  const foreign = await world.call({ url: base, secret: stranger.secret });
  assert.deepEqual([foreign.status, foreign.body.error], [404, "no_such_instance"]);
  const stopped = await rent(world, user, host, { target_state: "stopped" });
  const early = await world.call({ url: `/api/v0/instances/${stopped}/files/`, secret: user.secret });
  assert.deepEqual([early.status, early.body.error], [409, "not_running"]);
});

test("downloads that are not read to their end leave no session, which would take a place", async (t) => {
  const { url, headers, upload } = await fileWorld(t);
  await upload("/tmp/long", Buffer.alloc(4_000_000));
  /** Begins a download and leaves after the first bytes; resolves with the status. */
  const beginDownload = () =>
    new Promise<number>((resolve, reject) => {
      const sent = httpRequest(url("/tmp/long"), { headers, agent: false }, (answer) => {
        answer.once("data", () => {
          sent.destroy();
          resolve(answer.statusCode ?? 0);
        });
      });
      sent.once("error", reject);
      sent.end();
    });
  for (let count = 0; count < 10; count += 1) {
    await soon("a place", async () => (await beginDownload()) === 200);
  }
});

test("a folder with more entries than are listed says so", async (t) => {
  const { list, make, upload } = await fileWorld(t);
  await make("/tmp/many");
  for (let count = 0; count < 150; count += 1) await upload(`/tmp/many/${count}`, "");
  const { entries, is_complete: isComplete } = await list("/tmp/many");
  assert.deepEqual([entries.length, isComplete], [150, true]);
});

test("an upload that breaks off leaves nothing behind", async (t) => {
  const { url, headers, namesIn, upload } = await fileWorld(t);
  await upload("/tmp/whole", "x");
  await new Promise<void>((resolve) => {
    const sent = httpRequest(url("/tmp/half"), { method: "PUT", headers: { ...headers, "content-length": "1000000" } });
    sent.on("error", () => {});
    sent.once("close", () => resolve());
    sent.write(Buffer.alloc(1_000), () => sent.destroy());
  });
  await soon("the draft to be gone", async () => (await namesIn("/tmp")).join() === "whole file");
});
