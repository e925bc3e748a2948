import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";

const main = path.resolve(import.meta.dirname, "main.ts");
const NO_INSTANCES = { instances_found: 0, instances: [] };

/** A server that knows the keys `mine` and, for nothing but instances, `narrow`. */
async function serve(t: TestContext) {
  const received: string[] = [];
  const server = createServer((request, response) => {
    const key = (request.headers.authorization ?? "").replace("Bearer ", "");
    received.push(`${request.url} ${key}`);
    const isAccount = request.url === "/api/v0/users/current/";
    const status = key === "mine" || (key === "narrow" && !isAccount) ? 200 : key === "narrow" ? 403 : 401;
    const refused = { success: false, error: "auth_error", msg: "The key is refused." };
    const answer = status !== 200 ? refused : isAccount ? { id: 7, email: "ada@example.com" } : NO_INSTANCES;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A home without a login, and `berth` as its owner runs it there. */
function home(t: TestContext) {
  const directory = mkdtempSync(path.join(tmpdir(), "berth-home-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const berth = async (args: readonly string[], env: Readonly<Record<string, string>> = {}, input = "") => {
    const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
    const child = execFile(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
      cwd: directory,
      env: { PATH, NODE_COMPILE_CACHE, HOME: directory, ...env },
    });
    const output = { stdout: "", stderr: "" };
    child.stdout?.on("data", (chunk) => (output.stdout += String(chunk)));
    child.stderr?.on("data", (chunk) => (output.stderr += String(chunk)));
    child.stdin?.end(input);
    const [code]: number[] = await once(child, "close");
    return { code: code ?? -1, ...output };
  };
  return { directory, file: path.join(directory, ".config/berth/config.json"), berth };
}

/** A data directory as a server leaves it. */
function leaveServer(directory: string, url: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, "server.url"), `${url}\n`);
  writeFileSync(path.join(directory, "admin.key"), "admin-secret\n");
}

test("a login keeps address and key where only the user reads them, until the logout", async (t) => {
  const { received, url } = await serve(t);
  const { directory, file, berth } = home(t);
  const made = await berth(["login", "--url", url], {}, "mine\n");
  const said = `You are signed in at ${url} as ada@example.com. The key is in ${file}.\n`;
  assert.deepEqual(made, { code: 0, stdout: said, stderr: "" });
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { url, key: "mine" });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(path.dirname(file)).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(path.dirname(file)), ["config.json"]);
  leaveServer(path.join(directory, ".berth"), "http://127.0.0.1:1");
  const listed = await berth(["instances", "--raw"]);
  assert.deepEqual([listed.code, listed.stderr, JSON.parse(listed.stdout)], [0, "", NO_INSTANCES]);
  assert.match(received.at(-1) ?? "", /^\/api\/v\d\/instances\/?\S* mine$/);

  assert.match((await berth(["logout"])).stdout, /config\.json is removed\. The key stays valid/);
  assert.ok(!existsSync(file));
  assert.deepEqual(await berth(["logout"]), { code: 0, stdout: "You are not signed in.\n", stderr: "" });
  const asked = received.length;
  assert.equal((await berth(["instances", "--url", url])).code, 1);
  assert.match(received.at(asked) ?? "", / admin-secret$/);
});

test("a file that others could read is replaced by one that they cannot", async (t) => {
  const { url } = await serve(t);
  const { file, berth } = home(t);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, "no JSON", { mode: 0o644 });
  const broken = await berth(["instances"]);
  assert.deepEqual([broken.code, broken.stdout], [1, ""]);
  assert.match(broken.stderr, /config\.json has no url and key\.\nWrite it again with: berth login/);
  assert.equal((await berth(["login", "--url", url, "--key", "mine"])).code, 0);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("the login lies in XDG_CONFIG_HOME when that is an absolute path", async (t) => {
  const { url } = await serve(t);
  const { directory, file, berth } = home(t);
  const config = path.join(directory, "elsewhere");
  await berth(["login", "--url", url, "--key", "mine"], { XDG_CONFIG_HOME: config });
  assert.ok(existsSync(path.join(config, "berth/config.json")));
  assert.ok(!existsSync(file));
  await berth(["login", "--url", url, "--key", "mine"], { XDG_CONFIG_HOME: "relative" });
  assert.ok(existsSync(file));
});

test("options and variables win over the login, and its key goes to no other server", async (t) => {
  const [{ received: kept, url }, other] = [await serve(t), await serve(t)];
  const { directory, berth } = home(t);
  await berth(["login", "--url", url, "--key", "mine"]);
  kept.length = 0;
  await berth(["instances", "--key", "option"]);
  await berth(["instances"], { BERTH_API_KEY: "variable" });
  await berth(["instances", "--url", `${url}/`]);
  assert.deepEqual(
    kept.map((line) => line.split(" ")[1]),
    ["option", "variable", "mine"],
  );
  const lost = await berth(["instances", "--url", other.url]);
  assert.match(lost.stderr, /No API key/);
  await berth(["instances"], { BERTH_URL: other.url, BERTH_API_KEY: "variable" });
  const data = path.join(directory, "data");
  leaveServer(data, other.url);
  await berth(["instances", "--data-dir", data]);
  await berth(["admin", "flags"], { BERTH_DATA_DIR: data });
  assert.match((await berth(["admin", "flags"])).stderr, /No server is running here/);
  assert.deepEqual(
    other.received.map((line) => line.split(" ")[1]),
    ["variable", "admin-secret", "admin-secret"],
  );
  assert.equal(kept.length, 3);
});

test("a login stores only a key that the server accepts, with all its rights or with few", async (t) => {
  const { url } = await serve(t);
  const { file, berth } = home(t);
  const wrong = await berth(["login", "--url", url, "--key", "stolen"]);
  assert.deepEqual([wrong.code, wrong.stdout], [1, ""]);
  assert.match(wrong.stderr, /^error: The key is refused\./);
  const none = await berth(["login", "--url", url]);
  assert.deepEqual([none.code, none.stdout], [2, ""]);
  assert.match(none.stderr, /^error: The key is missing\./);
  assert.ok(!existsSync(file));
  const narrow = await berth(["login", "--url", url, "--key", "narrow"]);
  assert.equal(narrow.stdout, `You are signed in at ${url}. The key is in ${file}.\n`);
});
