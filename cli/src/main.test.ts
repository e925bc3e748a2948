import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";

type Received = { readonly line: string; readonly authorization: string | undefined; readonly body: unknown };
type Result = { readonly code: number; readonly stdout: string; readonly stderr: string };

const main = path.resolve(import.meta.dirname, "main.ts");

/** Runs `berth` as a person would, in an empty directory unless `env` names another. */
async function berth(args: readonly string[], env: Readonly<Record<string, string>> = {}, input = ""): Promise<Result> {
  const child = execFile(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    cwd: env["BERTH_DATA_DIR"] ?? tmpdir(),
    env: { PATH: process.env["PATH"] ?? "", ...env },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk) => (output.stdout += String(chunk)));
  child.stderr?.on("data", (chunk) => (output.stderr += String(chunk)));
  child.stdin?.end(input);
  const [code]: number[] = await once(child, "close");
  return { code: code ?? -1, ...output };
}

/** A data directory as a running server leaves it; the server gives one answer to everything. */
async function serve(t: TestContext, status: number, answer: unknown) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      received.push({ line: `${request.method} ${request.url}`, authorization: request.headers.authorization, body });
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const dataDir = mkdtempSync(path.join(tmpdir(), "berth-cli-"));
  t.after(() => rmSync(dataDir, { recursive: true }));
  writeFileSync(path.join(dataDir, "server.url"), `http://127.0.0.1:${port}\n`);
  writeFileSync(path.join(dataDir, "admin.key"), "admin-secret\n");
  return { received, env: { BERTH_DATA_DIR: dataDir } };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text === "" ? undefined : JSON.parse(text);
}

test("several addresses are asked in turn, and a wrong one of them is named before any is asked", async (t) => {
  const { received, env } = await serve(t, 200, { instances_found: 0, instances: [] });
  const present = readFileSync(path.join(env.BERTH_DATA_DIR, "server.url"), "utf8").trim();
  const args = ["instances", "--json", "--key", "mine"];
  const result = await berth([...args, "--url", `http://127.0.0.1:1, ${present}`], env);
  assert.equal(result.code, 0, result.stderr);
  assert.equal(received.length, 1);
  for (const [url, problem] of [
    [`${present},nowhere`, /nowhere is not an address/],
    [`${present},`, /'' is not an address/],
    [`https://127.0.0.1:1,${present}`, /begin with https/],
  ] as const) {
    const refused = await berth(args, { ...env, BERTH_URL: url });
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, problem);
  }
  assert.equal(received.length, 1);
});

test("the help names every command, those of the checkout's script too", async () => {
  const { code, stdout } = await berth(["--help"]);
  assert.equal(code, 0);
  for (const command of ["up", "search", "rent", "admin", "test", "bench", "month"]) {
    assert.match(stdout, new RegExp(`^ {2}${command}\\b`, "m"));
  }
});

test("each command has one line in the help, within 80 columns, below a title", async () => {
  const { stdout } = await berth(["--help"]);
  const groups = stdout.split("\n\n").filter((group) => /^[A-Z][^\n]*:\n/.test(group) && !group.startsWith("Usage"));
  assert.ok(groups.length > 5);
  for (const line of groups.flatMap((group) => group.split("\n").slice(1))) {
    assert.match(line, /^ {2}\S.{0,77}$/);
  }
});

test("admin user create prints exactly one JSON object and uses the server's own key, not the key of the shell", async (t) => {
  const answer = { id: 7, email: "a@b.c", api_key: "k", key_id: 9 };
  const { received, env } = await serve(t, 200, answer);
  const result = await berth(["admin", "user", "create", "a@b.c", "--credit", "2.5"], {
    ...env,
    BERTH_API_KEY: "mine",
  });
  assert.deepEqual([result.code, JSON.parse(result.stdout)], [0, answer], result.stderr);
  assert.deepEqual(received, [
    { line: "POST /api/v0/admin/users/", authorization: "Bearer admin-secret", body: { email: "a@b.c", credit: 2.5 } },
  ]);
});

test("rent sends what was given and nothing else, with the user's key", async (t) => {
  const { received, env } = await serve(t, 200, { success: true, new_contract: 42, instance_api_key: "k", ask_id: 7 });
  const args = ["rent", "7", "--image", "busybox", "--env", "-e A=1 -p 80:80", "--disk", "10"];
  const result = await berth(args, { ...env, BERTH_API_KEY: "mine" });
  assert.equal(result.code, 0, result.stderr);
  assert.match(result.stdout, /Instance 42/);
  const body = { image: "busybox", env: "-e A=1 -p 80:80", disk: 10 };
  assert.deepEqual(received, [{ line: "PUT /api/v0/asks/7/", authorization: "Bearer mine", body }]);
});

test("ssh-key create sends the line of a .pub file, and never a private key", async (t) => {
  const line = "ssh-ed25519 AAAA me@laptop";
  const key = { id: 3, user_id: 1, key: line, public_key: line, ssh_key: line, created_at: 1, deleted_at: null };
  const { received, env } = await serve(t, 200, { success: true, key });
  const file = path.join(env.BERTH_DATA_DIR, "id_ed25519");
  writeFileSync(`${file}.pub`, `${line}\n`);
  writeFileSync(file, "-----BEGIN OPENSSH PRIVATE KEY-----\n");
  const result = await berth(["ssh-key", "create", `${file}.pub`], env);
  assert.deepEqual([result.code, result.stderr], [0, ""]);
  assert.match(result.stdout, /^SSH key 3 \(me@laptop\) opens every instance/);
  assert.equal((await berth(["ssh-key", "update", "3", line], env)).code, 0);
  const refused = await berth(["ssh-key", "create", file], env);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /is a private key; it was not sent/);
  assert.deepEqual(
    received.map(({ line: request, body }) => [request, body]),
    [
      ["POST /api/v0/ssh/", { ssh_key: line }],
      ["PUT /api/v0/ssh/3/", { ssh_key: line }],
    ],
  );
});

test("env-var create takes the value from standard input, and shows none", async (t) => {
  const { received, env } = await serve(t, 200, { success: true, msg: "HF_TOKEN is set." });
  const made = await berth(["env-var", "create", "HF_TOKEN"], env, "canary\n");
  assert.deepEqual([made.code, made.stdout], [0, "HF_TOKEN is set.\n"]);
  assert.equal((await berth(["env-var", "update", "HF_TOKEN", "other"], env)).code, 0);
  assert.equal((await berth(["env-var", "delete", "HF_TOKEN"], env)).code, 0);
  assert.deepEqual(
    received.map(({ line: request, body }) => [request, body]),
    [
      ["POST /api/v0/secrets/", { key: "HF_TOKEN", value: "canary" }],
      ["PUT /api/v0/secrets/", { key: "HF_TOKEN", value: "other" }],
      ["DELETE /api/v0/secrets/", { key: "HF_TOKEN" }],
    ],
  );
});

test("the keys of an instance are listed from the text that the answer holds, attached and detached", async (t) => {
  const keys = [{ id: 3, name: "me@laptop", public_key: "ssh-ed25519 AAAA me@laptop" }];
  const answer = { success: true, msg: "SSH key 3 is attached to instance 7.", ssh_keys: JSON.stringify(keys) };
  const { received, env } = await serve(t, 200, answer);
  const shown = await berth(["show-ssh", "7"], env);
  assert.match(shown.stdout, /^ID {2}NAME .*\n {1}3 {2}me@laptop {2}ssh-ed25519 {2}SHA256:/);
  assert.deepEqual(JSON.parse((await berth(["show-ssh", "7", "--json"], env)).stdout), keys);
  assert.equal((await berth(["attach-ssh", "7", "3"], env)).stdout, `${answer.msg}\n`);
  assert.equal((await berth(["detach-ssh", "7", "3"], env)).code, 0);
  assert.deepEqual(
    received.slice(2).map(({ line: request, body }) => [request, body]),
    [
      ["POST /api/v0/instances/7/ssh/", { ssh_key: "3" }],
      ["DELETE /api/v0/instances/7/ssh/3/", undefined],
    ],
  );
});

test("a refusal is printed with its sentence, code and suggestion, and the exit code is 1", async (t) => {
  const { env } = await serve(t, 404, {
    success: false,
    error: "no_such_ask",
    msg: "There is no offer 7.",
    request_id: "r",
  });
  const result = await berth(["rent", "7", "--image", "busybox"], env);
  assert.deepEqual([result.code, result.stdout], [1, ""]);
  assert.equal(
    result.stderr,
    "error: There is no offer 7. (no_such_ask, request r)\nSee what there is with `berth instances` or `berth search`.\n",
  );
});

test("the version is that of the package, and an option of a command in an instance is not taken for it", async (t) => {
  const manifest: unknown = JSON.parse(readFileSync(path.resolve(import.meta.dirname, "../../package.json"), "utf8"));
  const { version } = manifest as { readonly version: string };
  assert.deepEqual(await berth(["--version"]), { code: 0, stdout: `${version}\n`, stderr: "" });
  const { received, env } = await serve(t, 200, { instances: null });
  assert.equal((await berth(["ssh", "7", "git", "--version"], env)).code, 1);
  assert.deepEqual(
    received.map(({ line }) => line),
    ["GET /api/v0/instances/7/"],
  );
});

test("--raw prints the answer as JSON, as --json does", async (t) => {
  const { env } = await serve(t, 200, { instances_found: 0, instances: [] });
  const raw = await berth(["instances", "--raw"], env);
  assert.deepEqual(JSON.parse(raw.stdout), { instances_found: 0, instances: [] });
  assert.deepEqual(raw, await berth(["instances", "--json"], env));
});

test("without a running server the error says how to start one", async () => {
  const result = await berth(["instances", "--data-dir", "/nonexistent"]);
  assert.equal(result.code, 1);
  assert.match(result.stderr, /No server is running here.*\n.*berth up/);
});

test("a wrong command line ends with code 2 and says why", async () => {
  const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
    [["up", "--port", "abc"], /'--port <number>' argument 'abc' is invalid. It must be a whole number/],
    [["up", "--simulate", "0"], /'--simulate <hosts>' argument '0' is invalid/],
    [["up", "--simulate", "2", "--no-agent"], /--no-agent starts none/],
    [["up", "--declare-gpus", "many"], /NAME:COUNT/],
    [["up", "--simulate", "2", "--declare-gpus", "RTX 4090:2"], /--declare-gpus is about this machine/],
    [["rent", "7"], /--image or --template/],
    [["frobnicate"], /unknown command/],
  ];
  for (const [args, reason] of mistakes) {
    const result = await berth(args);
    assert.deepEqual([result.code, result.stdout], [2, ""], args.join(" "));
    assert.match(result.stderr, reason);
  }
});

test("a wrong variable is named in place of the option, and an empty one counts as absent", async () => {
  const wrong = await berth(["up", "--no-agent", "--simulate", "1"], { BERTH_PORT: "99999" });
  assert.match(wrong.stderr, /from env 'BERTH_PORT' is invalid/);
  const empty = await berth(["up", "--no-agent", "--simulate", "1"], { BERTH_PORT: "" });
  assert.match(empty.stderr, /--no-agent starts none/);
});
