import assert from "node:assert/strict";
import { execFile, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { until } from "../../test/support/until.ts";
import { anSshKey } from "../../test/support/ssh-keys.ts";

const main = path.resolve(import.meta.dirname, "main.ts");
const HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg";
const DOOR = { rsync_user: "copier", rsync_path: "7/data/", ssh_host_key: HOST_KEY };
const NEW_KEY_ID = 31;

/** A server with one instance that has these keys, and an `rsync` that notes its arguments and ends as it is told. */
async function world(
  t: TestContext,
  { keys = [] as readonly string[], rsyncEnds = "exit 0", sshEnds = "exit 1", hasRsync = true } = {},
) {
  const folder = mkdtempSync(path.join(tmpdir(), "berth-cli-copy-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [bin, temporary] = [path.join(folder, "bin"), path.join(folder, "tmp")];
  for (const one of [bin, temporary, path.join(folder, ".ssh")]) mkdirSync(one);
  const asked: string[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", () => {
      asked.push(`${request.method} ${request.url}`);
      const isUpload = text.includes('"src_id":"local"');
      const end = isUpload ? { dst_addr: "192.0.2.1", dst_port: 2022 } : { src_addr: "192.0.2.1", src_port: 2022 };
      const rows = keys.map((public_key, index) => ({ id: index + 1, name: "", public_key }));
      const answer = {
        ...{ success: true, msg: "", ...DOOR, ...end },
        ssh_keys: JSON.stringify(rows),
        key: JSON.stringify({ id: NEW_KEY_ID, name: "berth-copy", public_key: "ssh-ed25519 AAAA" }),
      };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const program = (name: string, script: string) => {
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(path.join(bin, name), 0o755);
  };
  program("ssh", `echo "$@" >> '${folder}/ssh.arguments'; ${sshEnds}`);
  program("ssh-keygen", `while [ "$1" != -f ]; do shift; done; echo secret > "$2"; echo 'ssh-ed25519 AAAA berth-copy' > "$2.pub"`); // prettier-ignore
  if (hasRsync)
    program("rsync", `for word in "$@"; do echo "$word" >> '${folder}/rsync.arguments'; done\n${rsyncEnds}`);
  const env = {
    PATH: hasRsync ? `${bin}:${process.env["PATH"] ?? ""}` : bin,
    HOME: folder,
    TMPDIR: temporary,
    BERTH_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    BERTH_API_KEY: "mine",
  };
  /** `onStart` gets the process as soon as it exists. */
  const run = async (args: readonly string[], onStart: (child: ChildProcess) => void = () => undefined) => {
    const words = ["--disable-warning=ExperimentalWarning", main, ...args];
    const child = execFile(process.execPath, words, { env, cwd: folder });
    onStart(child);
    const output = { stdout: "", stderr: "" };
    child.stdout?.on("data", (chunk) => (output.stdout += String(chunk)));
    child.stderr?.on("data", (chunk) => (output.stderr += String(chunk)));
    const [code]: number[] = await once(child, "close");
    return { code, ...output };
  };
  return {
    folder,
    asked,
    temporary,
    read: (name: string) => readFileSync(path.join(folder, name), "utf8"),
    has: (name: string) => existsSync(path.join(folder, name)),
    run,
    berth: (...args: readonly string[]) => run(args),
  };
}

const COUNTS = ["Number of regular files transferred: 2", "Total file size: 3500 bytes", "Literal data: 1200 bytes"];
const ENDS_WELL = COUNTS.map((line) => `echo '${line}'`).join("\n");

test("a copy with a key that the instance has uses it, attaches none, and goes to the place that the server named", async (t) => {
  const key = anSshKey("me@laptop");
  const { berth, asked, folder, read, temporary } = await world(t, { keys: [key], rsyncEnds: ENDS_WELL });
  writeFileSync(path.join(folder, ".ssh/id_ed25519"), "private");
  writeFileSync(path.join(folder, ".ssh/id_ed25519.pub"), `${key.replace("me@laptop", "another comment")}\n`);
  mkdirSync(path.join(folder, "two words"));
  const done = await berth("copy", "local:two words/", "7:/data/");
  assert.deepEqual(done, { code: 0, stdout: "Copied 2 files to C.7:/data/: 1.20 kB of 3.50 kB.\n", stderr: "" });
  assert.deepEqual(asked, ["PUT /api/v0/commands/copy_direct/", "GET /api/v0/instances/7/ssh/"]);
  const words = read("rsync.arguments").trimEnd().split("\n");
  assert.deepEqual(words.slice(-3), ["--", `${folder}/two words/`, "copier@192.0.2.1::7/data/"]);
  const shell = words[words.indexOf("-e") + 1] ?? "";
  assert.match(shell, new RegExp(`^ssh .*StrictHostKeyChecking=yes .*-i ${folder}/.ssh/id_ed25519 .*-p 2022$`));
  assert.deepEqual(readdirSync(temporary), [], "nothing is left behind");

  const json = await berth("copy", "7:/data/", "local:~/back", "--json");
  assert.deepEqual(JSON.parse(json.stdout), { success: true, files_copied: 2, size_bytes: 3500, sent_bytes: 1200 });
  const back = read("rsync.arguments").trimEnd().split("\n").slice(-3);
  assert.deepEqual(back, ["--", "copier@192.0.2.1::7/data/", `${folder}/back`]);
});

test("without such a key one is made for the copy, and removed however the copy ends", async (t) => {
  for (const [rsyncEnds, code, said] of [
    [ENDS_WELL, 0, /^$/],
    ["exit 20", 130, /interrupted\. The same command again goes on/],
    ["echo 'rsync: no space' >&2; exit 23", 1, /rsync: no space\n.*Some files were not copied to C\.7:\/x/],
    ["exit 12", 1, /not complete: rsync ended with 12\.\n.*The same command again/],
  ] as const) {
    const { berth, asked, folder, read, temporary } = await world(t, { keys: [anSshKey("other")], rsyncEnds });
    writeFileSync(path.join(folder, "file"), "");
    const done = await berth("copy", "local:file", "7:/x");
    assert.deepEqual([done.code, said.test(done.stderr)], [code, true], done.stderr);
    const keys = "/api/v0/instances/7/ssh/";
    assert.deepEqual(asked.slice(1), [`GET ${keys}`, `PUT ${keys}`, `DELETE ${keys}${NEW_KEY_ID}/`]);
    assert.match(read("ssh.arguments"), /IdentitiesOnly=yes .*BatchMode=yes .*-l copier -- 192\.0\.2\.1 true$/m);
    assert.deepEqual(readdirSync(temporary), [], "the private half is gone");
  }
});

test("a signal in the middle ends rsync or the login, and removes the key that was made", async (t) => {
  for (const [stage, program] of [
    ["rsync", { rsyncEnds: "exec sleep 600" }],
    ["ssh", { sshEnds: "exit 255" }],
    ["ssh", { sshEnds: "exec sleep 600" }],
  ] as const) {
    for (const signal of ["SIGTERM", "SIGHUP"] as const) {
      const { run, asked, folder, has, temporary } = await world(t, program);
      writeFileSync(path.join(folder, "file"), "");
      const ended = await run(["copy", "local:file", "7:/x"], (child) => {
        void until(`${stage} runs`, () => has(`${stage}.arguments`)).then(() => child.kill(signal));
      });
      assert.equal(ended.code, 130, `${stage} ${signal}: ${ended.stderr}`);
      assert.match(ended.stderr, /interrupted/);
      assert.equal(asked.at(-1), `DELETE /api/v0/instances/7/ssh/${NEW_KEY_ID}/`);
      assert.deepEqual(readdirSync(temporary), []);
    }
  }
});

test("a key that is named is used unseen; a place or program that is missing is named before or instead", async (t) => {
  const named = await world(t, { rsyncEnds: ENDS_WELL });
  assert.equal((await named.berth("copy", "7:/data/", "local:x", "-i", "my key", "--limit", "2")).code, 0);
  assert.deepEqual(named.asked, ["PUT /api/v0/commands/copy_direct/"]);
  assert.match(named.read("rsync.arguments"), /-i 'my key' /);
  const absent = await named.berth("copy", "local:nowhere", "7:/x");
  assert.deepEqual([absent.code, named.asked.length], [1, 1], "the server was not asked");
  assert.match(absent.stderr, /nothing to copy at .*\/nowhere/);
  const bare = await world(t, { hasRsync: false });
  const missing = await bare.berth("copy", "7:/data/", "local:x", "-i", "key");
  assert.deepEqual([missing.code, missing.stderr], [1, "error: There is no rsync here.\nOn Debian or Ubuntu: apt install rsync\n"]); // prettier-ignore
});
