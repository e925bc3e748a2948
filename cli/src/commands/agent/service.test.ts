// The service on a system that does not run, below a temporary root: with systemd's own programs, and without root's rights.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { quoteForUnit, unitText } from "./service.ts";

const MAIN = path.resolve(import.meta.dirname, "../../main.ts");
const UNIT = "etc/systemd/system/berth-agent.service";

function aRoot(t: TestContext): string {
  const root = mkdtempSync(path.join(tmpdir(), "berth-root-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

async function agent(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = execFile(process.execPath, ["--disable-warning=ExperimentalWarning", MAIN, "agent", ...args], {
    env: { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`, ...env },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk) => (output.stdout += String(chunk)));
  child.stderr?.on("data", (chunk) => (output.stderr += String(chunk)));
  const [code]: number[] = await once(child, "close");
  return { code: code ?? -1, ...output };
}

function isEnabled(root: string): string {
  const { stdout, stderr } = spawnSync("systemctl", [`--root=${root}`, "is-enabled", "berth-agent"], {
    encoding: "utf8",
  });
  return stdout.trim() || stderr.trim();
}

/** Writes the state folder of a joined agent below the root. */
function joinedAs(root: string, hostKey: string): string {
  const folder = path.join(root, "var/lib/berth-agent");
  mkdirSync(folder, { recursive: true });
  const joined = {
    server: "http://a.example",
    host_key: hostKey,
    credential: "secret",
    joined_at: "2026-01-31T12:00:00Z",
  };
  writeFileSync(path.join(folder, "credential.json"), JSON.stringify(joined));
  return folder;
}

/** A Docker Engine as far as lists of containers go. */
async function aDocker(t: TestContext, root: string, states: readonly string[]): Promise<Record<string, string>> {
  const socket = path.join(root, "docker.sock");
  const server = createServer((request, response) => {
    const isAboutRentals = decodeURIComponent(request.url ?? "").includes('{"label":["berth.host_key=machine-1"]}');
    response.end(JSON.stringify(isAboutRentals ? states.map((State) => ({ State })) : []));
  });
  server.listen(socket);
  await once(server, "listening");
  t.after(() => server.close());
  return { BERTH_AGENT_DOCKER_SOCKET: socket };
}

test("install writes a unit that systemd reads without complaint, and enables it; uninstall leaves nothing", async (t) => {
  const root = aRoot(t);
  const flags = [
    "--server",
    "https://a.example",
    "--geolocation",
    'Oslo "north", 100% $HOME',
    "--public-ip",
    "192.0.2.7",
  ];
  const installed = await agent(["install", "--root", root, ...flags]);
  assert.equal(installed.code, 0, installed.stderr);
  const unit = readFileSync(path.join(root, UNIT), "utf8");
  assert.match(
    unit,
    /^ExecStart=\/\S+\/berth agent --server https:\/\/a\.example --state-dir \/var\/lib\/berth-agent /m,
  );
  assert.match(unit, /--geolocation "Oslo \\"north\\", 100%% \$\$HOME" --public-ip 192\.0\.2\.7$/m);
  const verified = spawnSync("systemd-analyze", ["verify", path.join(root, UNIT)], { encoding: "utf8" });
  assert.deepEqual([verified.status, verified.stderr], [0, ""]);
  assert.equal(isEnabled(root), "enabled");
  const { code, stdout } = await agent(["status", "--root", root]);
  assert.equal(code, 3, "it does not run");
  assert.match(stdout, /service +enabled\nserver +not joined/);
  const again = await agent(["install", "--root", root]);
  assert.equal(again.code, 0, "a second time replaces it");
  const gone = await agent(["uninstall", "--root", root]);
  assert.equal(gone.code, 0, gone.stderr);
  assert.ok(!existsSync(path.join(root, UNIT)));
  assert.equal(spawnSync("find", [root, "(", "-type", "f", "-o", "-type", "l", ")"], { encoding: "utf8" }).stdout, "");
  assert.equal((await agent(["uninstall", "--root", root])).code, 0, "a second time finds nothing and says so");
});

test("a token never gets into the unit, and a machine that cannot join is not installed", async (t) => {
  const root = aRoot(t);
  const server = createServer((_request, response) => response.writeHead(400).end('{"msg":"That token is used up."}'));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  const args = ["install", "--root", root, "--server", url, "--token", "secret-token", "--simulate", "1"];
  const { code, stdout, stderr } = await agent(args);
  assert.equal(code, 1);
  assert.match(stderr, /^could not join .*: That token is used up\.\nerror: This machine has not joined/);
  assert.ok(!`${stdout}${stderr}`.includes("secret-token"));
  assert.ok(!existsSync(path.join(root, UNIT)));
});

test("uninstall keeps the state unless it is told to purge it, and never while rentals are there", async (t) => {
  const root = aRoot(t);
  const folder = joinedAs(root, "machine-1");
  assert.equal((await agent(["install", "--root", root])).code, 0);
  const busy = await aDocker(t, root, ["running", "exited"]);
  for (const flags of [[], ["--purge"]]) {
    const refused = await agent(["uninstall", "--root", root, ...flags], busy);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /1 rentals run on this machine/);
    assert.ok(existsSync(path.join(root, UNIT)));
  }
  const status = await agent(["status", "--root", root], busy);
  assert.match(status.stdout, /server +http:\/\/a\.example\nmachine +machine-1\n.*\nrentals +1 running, 1 stopped/);
  const kept = await agent(["uninstall", "--root", root, "--force"], busy);
  assert.equal(kept.code, 0, kept.stderr);
  assert.match(kept.stdout, /Kept .*\n2 containers of rentals are still here/);
  assert.ok(existsSync(folder));
});

test("purge deletes what the agent keeps, but not the disks of stopped rentals", async (t) => {
  const [root, idle] = [aRoot(t), aRoot(t)];
  const folder = joinedAs(root, "machine-1");
  const stopped = await aDocker(t, root, ["exited"]);
  const refused = await agent(["uninstall", "--root", root, "--purge"], stopped);
  assert.match(refused.stderr, /1 stopped rentals have their disks here/);
  assert.ok(existsSync(folder));
  const purged = await agent(["uninstall", "--root", root, "--purge"], await aDocker(t, idle, []));
  assert.equal(purged.code, 0, purged.stderr);
  assert.ok(!existsSync(folder));
});

test("each word of the command line reaches the program unchanged", () => {
  for (const [word, expected] of [
    ["--server", "--server"],
    ["https://a/b?c", '"https://a/b?c"'],
    ["", '""'],
    ["100%", "100%%"],
    ["$HOME", "$$HOME"],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ["two\nlines", '"two\\nlines"'],
  ] as const) {
    assert.equal(quoteForUnit(word), expected);
  }
});

test("the unit leaves the agent in the mount namespace of the system", () => {
  const unit = unitText({ command: ["/berth"], documentation: "/docs" });
  assert.doesNotMatch(
    unit,
    /^(Protect|Private|ReadOnly|ReadWrite|Inaccessible|Bind|Temporary|Root|Dynamic|MountFlags)/m,
  );
  assert.match(unit, /^Restart=always$/m);
  assert.match(unit, /^KillMode=process$/m);
});
