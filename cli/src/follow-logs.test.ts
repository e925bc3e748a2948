import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { newLines } from "./commands/instance/follow-logs.ts";

const main = path.resolve(import.meta.dirname, "main.ts");

type Answer = (response: ServerResponse, lastEventId: string | null) => void;

/** A server whose answers for logs come in turn, and the command against it. */
async function follow(t: TestContext, answers: readonly Answer[], args: readonly string[] = []) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://localhost");
    asked.push(`${request.method} ${url.pathname}${url.search}`);
    answers[asked.length - 1]?.(response, url.searchParams.get("last_event_id"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const dataDir = mkdtempSync(path.join(tmpdir(), "berth-cli-"));
  t.after(() => rmSync(dataDir, { recursive: true }));
  writeFileSync(path.join(dataDir, "server.url"), `http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  writeFileSync(path.join(dataDir, "admin.key"), "admin-secret\n");
  const child = execFile(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", main, "logs", "7", "--follow", ...args],
    { env: { PATH: process.env["PATH"] ?? "", BERTH_DATA_DIR: dataDir } },
  );
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk) => (output.stdout += String(chunk)));
  child.stderr?.on("data", (chunk) => (output.stderr += String(chunk)));
  const [code]: number[] = await once(child, "close");
  return { code, asked, ...output };
}

const logged = (id: string, text: string, stream = "stdout") =>
  `id: ${id}\nevent: log\ndata: ${JSON.stringify({ stream, at: 1, text })}\n\n`;
const END = "event: end\ndata: {}\n\n";
const stream = (response: ServerResponse, frames: string) =>
  response.writeHead(200, { "content-type": "text/event-stream" }).end(`retry: 1\n\n${frames}`);

test("a followed log goes on behind the last line after a connection broke, puts pieces together, and ends", async (t) => {
  const { code, stdout, stderr, asked } = await follow(
    t,
    [
      (response) => stream(response, logged("1-0", "one\n") + logged("2-0", "two and ")),
      (response, after) => {
        assert.equal(after, "2-0");
        const data = JSON.stringify({ reason: "Lines are gone." });
        stream(
          response,
          `${logged("2-1", "a half\n")}event: gap\ndata: ${data}\n\n${logged("3-0", "err\n", "stderr")}${logged("4-0", "rest")}${END}`,
        );
      },
    ],
    ["--tail", "5"],
  );
  assert.deepEqual([code, stdout], [0, "one\ntwo and a half\nerr\nrest\n"]);
  assert.match(stderr, /connecting again\.\nLines are gone\.\n/);
  assert.deepEqual(asked, [
    "GET /api/v0/instances/7/logs/?tail=5",
    "GET /api/v0/instances/7/logs/?tail=5&last_event_id=2-0",
  ]);
});

test("--filter keeps whole lines, and --daemon cannot be followed", async (t) => {
  const frames = logged("1-0", "no\n") + logged("2-0", "a wanted l") + logged("2-1", "ine\n") + END;
  const filtered = await follow(t, [(response) => stream(response, frames)], ["--filter", "line"]);
  assert.equal(filtered.stdout, "a wanted line\n");
  const refused = await follow(t, [], ["--daemon"]);
  assert.deepEqual([refused.code, refused.asked], [2, []]);
});

test("a host with an older agent is asked again and again, and the answer says so", async (t) => {
  const refusal = JSON.stringify({ success: false, error: "cannot_follow_logs", msg: "It is too old." });
  const later = (response: ServerResponse) =>
    response
      .writeHead(409, { "content-type": "application/json" })
      .end(JSON.stringify({ error: "host_offline", msg: "Gone." }));
  const { code, stderr, asked } = await follow(t, [
    (response) => response.writeHead(409, { "content-type": "application/json" }).end(refusal),
    later,
  ]);
  assert.equal(code, 1);
  assert.match(stderr, /^It is too old\. This command does so every 3 s\.\n/);
  assert.equal(asked[1], "PUT /api/v0/instances/request_logs/7/");
});

test("lines that were there before are not printed again, also when the log moved on", () => {
  assert.deepEqual(newLines([], ["a", "b"]), ["a", "b"]);
  assert.deepEqual(newLines(["a", "b"], ["a", "b"]), []);
  assert.deepEqual(newLines(["a", "b", "b"], ["b", "b", "c"]), ["c"]);
  assert.deepEqual(newLines(["a"], ["x", "y"]), ["x", "y"]);
});
