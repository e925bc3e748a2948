import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";

const main = path.resolve(import.meta.dirname, "main.ts");
const HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg";

const RUNNING = {
  id: 5,
  actual_status: "running",
  intended_status: "running",
  status_msg: "success",
  is_simulated: false,
  image_runtype: "jupyter jupyter_proxy ssh_proxy",
  public_ipaddr: "192.0.2.1",
  ports: {},
  ssh_host: "proxy.example",
  ssh_port: 40_000,
  ssh_host_key: HOST_KEY,
};

/** A server that shows these records one after the other, the last one for good, and an `ssh` that notes its arguments. */
async function world(t: TestContext, records: readonly object[], { hasSsh = true } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), "berth-cli-ssh-"));
  t.after(() => rmSync(folder, { recursive: true }));
  let shown = 0;
  const server = createServer((request, response) => {
    const record = records[Math.min(shown, records.length - 1)];
    shown += 1;
    const isList = request.url?.split("?")[0] === "/api/v0/instances/";
    const answer = { instances: isList ? records : (record ?? null) };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  if (hasSsh) {
    const script = `#!/bin/sh
for word in "$@"; do
  printf '%s\\n' "$word" >> '${folder}/arguments'
  case "$word" in UserKnownHostsFile=*) cat "\${word#*=}" > '${folder}/known_hosts' ;; esac
done
exit 7
`;
    writeFileSync(path.join(folder, "ssh"), script);
    chmodSync(path.join(folder, "ssh"), 0o755);
  }
  const env = {
    PATH: hasSsh ? `${folder}:${process.env["PATH"] ?? ""}` : folder,
    TMPDIR: folder,
    BERTH_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    BERTH_API_KEY: "mine",
  };
  return {
    folder,
    read: (name: string) => readFileSync(path.join(folder, name), "utf8"),
    async berth(...args: readonly string[]) {
      const child = execFile(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], { env });
      const output = { stdout: "", stderr: "" };
      child.stdout?.on("data", (chunk) => (output.stdout += String(chunk)));
      child.stderr?.on("data", (chunk) => (output.stderr += String(chunk)));
      const [code]: number[] = await once(child, "close");
      return { code, ...output };
    },
  };
}

test("ssh goes to the right port as root, trusts only the key that the server knows, and ends as it ends", async (t) => {
  const { berth, read, folder } = await world(t, [RUNNING]);
  const args = ["-i", "my key", "-L", "1:a:2", "-L", "3:b:4"];
  const result = await berth("ssh", ...args, "5", "ls", "-la", "--url", "x y");
  assert.deepEqual([result.code, result.stdout, result.stderr], [7, "", ""]);
  const given = read("arguments").trim().split("\n");
  const settings = given.slice(0, given.indexOf("-i")).filter((word) => word !== "-o");
  assert.ok(settings.includes("StrictHostKeyChecking=yes"));
  assert.deepEqual(given.slice(given.indexOf("-i")), [
    ...["-i", "my key", "-L", "1:a:2", "-L", "3:b:4", "-p", "40001", "-l", "root", "--", "proxy.example"],
    ...["ls", "-la", "--url", "x y"],
  ]);
  assert.equal(read("known_hosts"), `berth-instance-5 ${HOST_KEY}\n`);
  assert.ok(settings.includes("HostKeyAlias=berth-instance-5"));
  assert.deepEqual(readdirSync(folder).filter((name) => name.startsWith("berth-ssh-")), [], "nothing is left behind"); // prettier-ignore
});

test("without a known key the first one seen is kept, as ssh does it", async (t) => {
  const { berth, read } = await world(t, [{ ...RUNNING, ssh_host_key: null }]);
  assert.equal((await berth("ssh", "5")).code, 7);
  assert.match(read("arguments"), /^-o\nStrictHostKeyChecking=accept-new\n/);
  assert.doesNotMatch(read("arguments"), /UserKnownHostsFile|HostKeyAlias/);
});

test("ssh waits for an instance that is still starting, and says so", async (t) => {
  const loading = { ...RUNNING, actual_status: "loading", status_msg: "pulling 10 MB" };
  const { berth } = await world(t, [{ ...loading, actual_status: null, status_msg: null }, loading, RUNNING]);
  const result = await berth("ssh", "5");
  assert.equal(result.code, 7);
  assert.equal(
    result.stderr,
    "Instance 5 is not up yet (ordered); waiting…\nInstance 5 is not up yet (loading: pulling 10 MB); waiting…\n",
  );
});

test("an instance without a way in is reported at once, with a suggestion", async (t) => {
  const cases: readonly (readonly [object | null, RegExp])[] = [
    [null, /There is no instance 5/],
    [
      { ...RUNNING, actual_status: "stopped", intended_status: "stopped" },
      /does not run: stopped.\nStart it with: berth start 5/,
    ],
    [{ ...RUNNING, actual_status: "exited" }, /does not run: exited/],
    [{ ...RUNNING, is_simulated: true }, /simulated host/],
    [{ ...RUNNING, image_runtype: "args" }, /entrypoint of its image/],
  ];
  for (const [record, reason] of cases) {
    const { berth } = await world(t, record === null ? [] : [record]);
    const result = await berth("ssh", "5");
    assert.equal(result.code, 1);
    assert.match(result.stderr, reason);
  }
  const { berth } = await world(t, [RUNNING], { hasSsh: false });
  assert.match((await berth("ssh", "5")).stderr, /There is no ssh here.*\n.*openssh-client/);
});

test("the addresses are printed as other programs take them, of the one that runs when none is named", async (t) => {
  const { berth } = await world(t, [{ ...RUNNING, ports: { "22/tcp": [{ HostPort: "20022" }] } }]);
  assert.equal((await berth("ssh-url", "5")).stdout, "ssh://root@192.0.2.1:20022\n");
  assert.equal((await berth("scp-url")).stdout, "scp://root@192.0.2.1:20022\n");
  assert.deepEqual(JSON.parse((await berth("ssh-url", "5", "--json")).stdout), { url: "ssh://root@192.0.2.1:20022" });
  const several = await world(t, [RUNNING, { ...RUNNING, id: 6 }]);
  assert.match((await several.berth("ssh-url")).stderr, /Several of your instances run: 5, 6/);
  const none = await world(t, [{ ...RUNNING, ssh_port: 0 }]);
  assert.match((await none.berth("scp-url", "5")).stderr, /has no SSH address/);
});
