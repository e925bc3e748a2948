import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";

const main = path.resolve(import.meta.dirname, "main.ts");
const NOT_READY = 3;

/** A server that answers everything, and the result when it was asked for some times. */
async function serve(t: TestContext, result: string) {
  const received: unknown[] = [];
  let polls = 0;
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", () => {
      const { method, url, headers } = request;
      if (url === "/result/") {
        polls += 1;
        const isReady = headers.authorization === undefined && polls > NOT_READY;
        response.writeHead(isReady ? 200 : 404).end(isReady ? result : "{}");
        return;
      }
      received.push([`${method} ${url}`, text === "" ? undefined : JSON.parse(text)]);
      const origin = `http://${headers.host}`;
      const answer = { success: true, result_url: `${origin}/result/`, writeable_path: "", msg: "It is done." };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const dataDir = mkdtempSync(path.join(tmpdir(), "berth-cli-"));
  t.after(() => rmSync(dataDir, { recursive: true }));
  writeFileSync(path.join(dataDir, "server.url"), `http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  writeFileSync(path.join(dataDir, "admin.key"), "admin-secret\n");
  const berth = async (...args: string[]) => {
    const child = execFile(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
      env: { PATH: process.env["PATH"] ?? "", BERTH_DATA_DIR: dataDir, BERTH_REGISTRY_PASSWORD: "from-env" },
    });
    const output = { stdout: "", stderr: "" };
    child.stdout?.on("data", (chunk) => (output.stdout += String(chunk)));
    child.stderr?.on("data", (chunk) => (output.stderr += String(chunk)));
    const [code]: number[] = await once(child, "close");
    return { code: code ?? -1, ...output };
  };
  return { received, berth };
}

test("logs and execute wait for the result, fetch it without a key, and print it as it is", async (t) => {
  const { received, berth } = await serve(t, "one\ntwo\n");
  const logs = await berth("logs", "7", "--tail", "20", "--filter", "o", "--daemon");
  assert.deepEqual(logs, { code: 0, stdout: "one\ntwo\n", stderr: "" });
  const executed = await berth("execute", "7", "ls -l 'my data'", "--json");
  assert.deepEqual(JSON.parse(executed.stdout), { text: "one\ntwo\n" });
  assert.deepEqual(received, [
    ["PUT /api/v0/instances/request_logs/7/", { tail: 20, filter: "o", daemon_logs: "true" }],
    ["PUT /api/v0/instances/command/7/", { command: "ls -l 'my data'" }],
  ]);
});

test("recycle, update-template, snapshot, copy and cancel-copy send their options and nothing else", async (t) => {
  const { received, berth } = await serve(t, "");
  for (const line of [
    "recycle 7",
    "update-template 7 --image alpine --template-id 3",
    "snapshot 7 --repo me/app",
    "snapshot 7 --repo me/app --registry ghcr.io --login-user me --no-pause",
    "copy 7:/data/ V.3:/",
    "copy C.7:a:b 8:/x",
    "cancel-copy 8",
  ]) {
    const { code, stderr } = await berth(...line.split(" "));
    assert.deepEqual([code, stderr], [0, ""], line);
  }
  const image = { container_registry: "docker.io", personal_repo: "me/app", pause: "true" };
  const login = { docker_login_user: "me", docker_login_pass: "from-env" };
  assert.deepEqual(received, [
    ["PUT /api/v0/instances/recycle/7/", undefined],
    ["PUT /api/v0/instances/update_template/7/", { template_id: 3, image: "alpine" }],
    ["POST /api/v0/instances/take_snapshot/7/", image],
    ["POST /api/v0/instances/take_snapshot/7/", { ...image, container_registry: "ghcr.io", ...login, pause: "false" }],
    ["PUT /api/v0/commands/copy_direct/", { src_id: "C.7", src_path: "/data/", dst_id: "V.3", dst_path: "/" }],
    ["PUT /api/v0/commands/copy_direct/", { src_id: "C.7", src_path: "a:b", dst_id: "C.8", dst_path: "/x" }],
    ["DELETE /api/v0/commands/copy_direct/", { dst_id: "C.8" }],
  ]);
});

test("a copy without a source and an update without a change are refused", async (t) => {
  const { received, berth } = await serve(t, "");
  for (const [line, reason] of [
    ["copy 7 8:/x", /ID:PATH/],
    ["copy local:/a local:/x", /Both places are on this computer/],
    ["copy here:/a 8:/x", /instance such as 12/],
    ["cancel-copy x", /instance such as 12/],
    ["logs 7 --tail many", /whole number/],
    ["update-template 7", /--image/],
    ["snapshot 7", /--repo/],
  ] as const) {
    const { code, stderr } = await berth(...line.split(" "));
    assert.equal(code, 2, line);
    assert.match(stderr, reason);
  }
  assert.deepEqual(received, []);
});
