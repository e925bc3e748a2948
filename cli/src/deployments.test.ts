import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { extract } from "tar";
import { answer } from "../test/answering-server.ts";

function aDirectory(t: TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), "berth-test-"));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Takes uploads; each is the form's fields, the file last. */
async function takeUploads(t: TestContext) {
  const forms: [string, string | Blob][][] = [];
  const server = createServer((request, response) => {
    void request.toArray().then(async (parts: Buffer[]) => {
      const headers = { "content-type": request.headers["content-type"] ?? "" };
      const form = await new Response(Buffer.concat(parts), { headers }).formData();
      forms.push([...form.entries()]);
      response.writeHead(200, { "content-type": "application/json" }).end('{"success":true}');
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { forms, url: `http://127.0.0.1:${port}/put/here` };
}

test("a directory is packed as it will lie, sent with what it should run in, and the same content is the same file", async (t) => {
  const { forms, url } = await takeUploads(t);
  const directory = path.join(aDirectory(t), "square");
  mkdirSync(path.join(directory, "srv/app"), { recursive: true });
  writeFileSync(path.join(directory, "srv/app/main.py"), "print(49)\n");
  writeFileSync(path.join(directory, "@odd name"), "x");
  const made = { success: true, action: "created", deployment_id: 5, endpoint_id: 7 };
  const { received, berth } = await answer(t, {
    "PUT /api/v0/deployments/": { body: { ...made, upload_url: url, upload_fields: { key: "k" } } },
  });
  const run = () =>
    berth("deployment", "deploy", directory, "--image", "busybox", "--ttl", "60", "--max-workers", "2", "--disk", "16");
  const { stdout, stderr } = await run();
  assert.match(stdout, /^Deployment 5 is created, with endpoint group 7\./, stderr);
  utimesSync(path.join(directory, "srv/app/main.py"), 1, 1);
  await run();
  const [[, first], [, second]] = [received[0] ?? [], received[1] ?? []];
  assert.deepEqual(first, second, "when a file was written is no matter");
  const [key, file] = forms[0] ?? [];
  assert.deepEqual(key, ["key", "k"]);
  assert.ok(file?.[1] instanceof Blob);
  const bytes = Buffer.from(await file[1].arrayBuffer());
  assert.deepEqual(first, {
    max_workers: 2,
    storage: 16,
    ttl: 60,
    name: "square",
    image: "busybox",
    file_hash: createHash("sha256").update(bytes).digest("hex"),
    file_size: bytes.length,
  });
  const target = aDirectory(t);
  writeFileSync(path.join(target, "code.tar.gz"), bytes);
  await extract({ file: path.join(target, "code.tar.gz"), cwd: target });
  assert.equal(readFileSync(path.join(target, "srv/app/main.py"), "utf8"), "print(49)\n");
  assert.equal(readFileSync(path.join(target, "@odd name"), "utf8"), "x");
  assert.deepEqual(JSON.parse(readFileSync(path.join(target, "config.json"), "utf8")), {
    name: "square",
    pip_installs: [],
    apt_gets: [],
    envs: {},
    runs: [],
  });
});

test("a configuration of one's own is sent as it is, and one that nobody could read is not sent", async (t) => {
  const { forms, url } = await takeUploads(t);
  const directory = aDirectory(t);
  const { received, berth } = await answer(t, {
    "PUT /api/v0/deployments/": {
      body: { success: true, action: "soft_update", deployment_id: 5, endpoint_id: 7, upload_url: url },
    },
  });
  writeFileSync(path.join(directory, "config.json"), "{");
  const refused = await berth("deployment", "deploy", directory, "--image", "busybox");
  assert.match(refused.stderr, /config\.json is not JSON/);
  assert.deepEqual([refused.code, received.length, forms.length], [1, 0, 0]);
  const config = '{"name": "mine", "runs": ["true"]}';
  writeFileSync(path.join(directory, "config.json"), config);
  assert.match(
    (await berth("deployment", "deploy", directory, "--image", "busybox")).stdout,
    /^Deployment 5 is changed/,
  );
  const target = aDirectory(t);
  const file = forms[0]?.[0]?.[1];
  assert.ok(file instanceof Blob);
  writeFileSync(path.join(target, "code.tar.gz"), Buffer.from(await file.arrayBuffer()));
  await extract({ file: path.join(target, "code.tar.gz"), cwd: target });
  assert.equal(readFileSync(path.join(target, "config.json"), "utf8"), config);
  assert.match((await berth("deployment", "deploy", "/nowhere", "--image", "busybox")).stderr, /not a directory/);
});

test("versions say which one runs, and which ran well last", async (t) => {
  const version = {
    id: 9,
    deployment_id: 5,
    version_label: "",
    file_hash: "ab".repeat(32),
    file_size: 12,
    state: "complete",
    is_current: true,
    is_last_healthy: false,
    image: "busybox",
    env: "",
    storage: 16,
    created_at: 1_900_000_000,
  };
  const { berth } = await answer(t, {
    "GET /api/v0/deployment/5/versions/": {
      body: { success: true, versions: [version, { ...version, id: 8, is_current: false, is_last_healthy: true }] },
    },
    "POST /api/v0/deployment/5/stop/": { body: { success: true, endpoint_state: "stopped" } },
    "DELETE /api/v0/deployment/5/": { body: { success: true } },
  });
  const [, now, before] = (await berth("deployment", "versions", "5")).stdout.split("\n");
  assert.match(now ?? "", /^ 9 .*is being rolled out/);
  assert.match(before ?? "", /^ 8 .*ran well last/);
  assert.match((await berth("deployment", "stop", "5")).stdout, /is stopped\.\n$/);
  assert.match((await berth("deployment", "delete", "5")).stdout, /^Deployment 5 is deleted/);
});
