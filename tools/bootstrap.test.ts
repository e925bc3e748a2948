import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { accessSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";

const ROOT = path.join(import.meta.dirname, "..");
const RUNTIME = `node_modules/node-linux-${process.arch}`;
/** All that `berth` may ask of the system, besides node and npm. */
const PROGRAMS = ["sh", "readlink", "uname", "cmp", "mkdir", "cp", "mv", "rm", "ln", "id", "flock", "cat", "sleep"];

type Checkout = {
  readonly directory: string;
  run(args: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** The arguments of every call of npm so far. */
  npmCalls(): Promise<readonly string[]>;
  lock(version: string): Promise<void>;
};
type RunOptions = {
  readonly file?: string;
  readonly cwd?: string;
  readonly without?: string;
  /** The code of npm's error, or `works`. */
  readonly npm?: string;
  readonly uid?: number;
};
type Outcome = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/**
 * A checkout that holds the real `berth` and stand-ins for what it starts. Its npm is a script that notes its arguments
 * and installs one package, the runtime, from this checkout: so these tests need no network.
 */
async function makeCheckout(t: TestContext): Promise<Checkout> {
  const top = await mkdtemp(path.join(tmpdir(), "berth-bootstrap-"));
  t.after(() => rm(top, { recursive: true, force: true }));
  await chmod(top, 0o755);
  const directory = path.join(top, "check out");
  for (const part of ["cli/src", "test/simulation/month", "tools"])
    await mkdir(path.join(directory, part), { recursive: true });
  await copyFile(path.join(ROOT, "berth"), path.join(directory, "berth"));
  await copyFile(
    path.join(ROOT, "tools/dependencies-installed.ts"),
    path.join(directory, "tools/dependencies-installed.ts"),
  );
  const says = (what: string) =>
    `console.log(JSON.stringify({ what: "${what}", args: process.argv.slice(2), cwd: process.cwd() }));\n`;
  await copyFile(path.join(ROOT, "cli/help.txt"), path.join(directory, "cli/help.txt"));
  await writeFile(path.join(directory, "cli/src/main.ts"), says("cli"));
  await writeFile(path.join(directory, "tools/test.ts"), says("test"));
  await writeFile(path.join(directory, "tools/bench.ts"), says("bench"));
  await writeFile(path.join(directory, "tools/check.ts"), says("check"));
  await writeFile(path.join(directory, "test/simulation/month/report.ts"), says("month"));
  await writeFile(path.join(directory, "package.json"), '{ "type": "module" }\n');

  const calls = path.join(top, "npm-calls");
  await writeFile(calls, "");
  await makePrograms(path.join(top, "bin"), calls);
  const checkout: Checkout = {
    directory,
    run: (args, options = {}) => runBerth(top, directory, args, options),
    npmCalls: async () => (await readFile(calls, "utf8")).split("\n").filter((line) => line !== ""),
    lock: (version) => writeFile(path.join(directory, "package-lock.json"), lockFile(version)),
  };
  await checkout.lock("1.0.0");
  return checkout;
}

function lockFile(version: string): string {
  return JSON.stringify({ packages: { "": {}, [RUNTIME]: { version }, "node_modules/tool": { version, dev: true } } });
}

async function makePrograms(bin: string, calls: string): Promise<void> {
  await mkdir(bin);
  const places = (process.env["PATH"] ?? "").split(":");
  for (const program of PROGRAMS) {
    const found = places.map((place) => path.join(place, program)).find(exists);
    assert.ok(found, `${program} is missing on this system`);
    await symlink(found, path.join(bin, program));
  }
  await symlink(process.execPath, path.join(bin, "node"));
  const npm = `#!/bin/sh
    echo "$*" >> '${calls}'
    mkdir -p ${RUNTIME}/bin node_modules/tool
    ln -sf '${process.execPath}' ${RUNTIME}/bin/node
    if [ "$*" = 'config get registry' ]; then echo http://127.0.0.1:9/; exit 0; fi
    if [ "$NPM" != works ]; then
      echo "no network" >&2
      for word in "$@"; do case $word in --logs-dir=*) logs=\${word#--logs-dir=} ;; esac; done
      mkdir -p "$logs"
      echo "12 error code $NPM" > "$logs/a.log"
      exit 1
    fi
    echo '{}' > ${RUNTIME}/package.json
    echo '{}' > node_modules/tool/package.json
    sleep 0.2
    cp package-lock.json node_modules/.package-lock.json\n`;
  await writeFile(path.join(bin, "npm"), npm, { mode: 0o755 });
}

function exists(file: string): boolean {
  try {
    accessSync(file);
    return true;
  } catch {
    return false;
  }
}

async function runBerth(
  top: string,
  directory: string,
  args: readonly string[],
  options: RunOptions,
): Promise<Outcome> {
  const bin = path.join(top, "bin");
  if (options.without !== undefined) await rm(path.join(bin, options.without));
  const child = spawn(options.file ?? path.join(directory, "berth"), args, {
    cwd: options.cwd ?? "/",
    env: { PATH: bin, NPM: options.npm ?? "works" },
    stdio: ["ignore", "pipe", "pipe"],
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
  await once(child, "close");
  return { code: child.exitCode, stdout, stderr };
}

test("the first start installs what production needs and says so; the next ones never call npm", async (t) => {
  const checkout = await makeCheckout(t);
  const first = await checkout.run(["up", "--port", "0"]);
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stderr, /^Installing the dependencies \(first start, about \d+ s\)…\nDependencies installed\.\n$/);
  const second = await checkout.run(["up"]);
  assert.equal(second.stderr, "");
  const calls = await checkout.npmCalls();
  assert.equal(calls.length, 1);
  assert.match(calls[0] ?? "", /--omit=dev/);
});

test("arguments, working directory and a link to the command reach the program unchanged", async (t) => {
  const checkout = await makeCheckout(t);
  const link = path.join(checkout.directory, "../linked");
  await symlink(path.join(checkout.directory, "berth"), link);
  const cwd = path.join(checkout.directory, "cli");
  const { stdout } = await checkout.run(["rent", "two words", "*", ""], { file: link, cwd });
  assert.deepEqual(JSON.parse(stdout), { what: "cli", args: ["rent", "two words", "*", ""], cwd });
});

test("test, check, bench and month get the development dependencies, added to what is there", async (t) => {
  const checkout = await makeCheckout(t);
  await checkout.run(["up"]);
  const { stdout, stderr } = await checkout.run(["test", "a.test.ts"]);
  assert.deepEqual(JSON.parse(stdout), { what: "test", args: ["a.test.ts"], cwd: "/" });
  // Our npm always installs everything, which the command sees: only the stamp was missing.
  assert.equal(stderr, "");
  const bench = await checkout.run(["bench", "http"]);
  assert.deepEqual(JSON.parse(bench.stdout), { what: "bench", args: ["http"], cwd: "/" });
  const check = await checkout.run(["check", "--all"]);
  assert.deepEqual(JSON.parse(check.stdout), { what: "check", args: ["--all"], cwd: "/" });
  const month = await checkout.run(["month", "--out", "x"]);
  assert.deepEqual(JSON.parse(month.stdout), { what: "month", args: ["--out", "x"], cwd: "/" });
  assert.match((await checkout.run(["bench", "--help"])).stdout, /^Usage: berth bench/);
  await checkout.lock("2.0.0");
  await checkout.run(["test"]);
  await checkout.run(["up"]);
  const calls = await checkout.npmCalls();
  assert.equal(calls.length, 2);
  assert.match(calls[1] ?? "", /--include=dev/);
});

test("a changed lock file installs again, and one that names the same packages does not", async (t) => {
  const checkout = await makeCheckout(t);
  await checkout.run(["up"]);
  await writeFile(path.join(checkout.directory, "package-lock.json"), `${lockFile("1.0.0")}\n`);
  assert.equal((await checkout.run(["up"])).stderr, "");
  assert.equal((await checkout.npmCalls()).length, 1);
  await checkout.lock("1.0.1");
  assert.match((await checkout.run(["up"])).stderr, /changed since the last start/);
  assert.equal((await checkout.npmCalls()).length, 2);
});

test("two first starts at once install once and both run", async (t) => {
  const checkout = await makeCheckout(t);
  const both = await Promise.all([checkout.run(["up"]), checkout.run(["status"])]);
  for (const { code, stdout } of both) {
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).what, "cli");
  }
  assert.equal((await checkout.npmCalls()).length, 1);
});

test("an installation that broke off is finished by the next start", async (t) => {
  const checkout = await makeCheckout(t);
  const failed = await checkout.run(["up"], { npm: "EOTHER" });
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /no network\nberth: the dependencies could not be installed/);
  assert.equal(failed.stdout, "");
  const next = await checkout.run(["up"]);
  assert.equal(next.code, 0, next.stderr);
  assert.match(next.stderr, /^Finishing the installation/);
});

test("an installation that fails names its cause in one sentence, with what to do", async (t) => {
  const checkout = await makeCheckout(t);
  const causes: readonly [string, RegExp][] = [
    ["ECONNREFUSED", /the registry http:\/\/127\.0\.0\.1:9\/ does not answer \(ECONNREFUSED\).*npm_config_registry/],
    ["E503", /the registry .* does not answer \(E503\)/],
    ["ENOSPC", /the disk of .*check out is full/],
    ["EACCES", /may not write to .*check out or to npm's cache/],
  ];
  for (const [npm, pattern] of causes) {
    const { code, stdout, stderr } = await checkout.run(["up"], { npm });
    assert.deepEqual([code, stdout], [1, ""]);
    const [, last = ""] = stderr.split("no network\n");
    assert.match(last, pattern);
    assert.equal(last.trim().split("\n").length, 1);
  }
});

test("the help of every command is there before anything is installed, without node and npm", async (t) => {
  const checkout = await makeCheckout(t);
  const help = await readFile(path.join(ROOT, "cli/help.txt"), "utf8");
  const sections = new Map(
    help.split(/^(?=@)/m).map((section) => {
      const [head = "", ...lines] = section.split("\n");
      return [head.replace(/^@+ ?/, ""), lines.join("\n")];
    }),
  );
  assert.ok(sections.size > 200);
  await rm(path.join(checkout.directory, "../bin/node"));
  const asked: readonly (readonly [string, readonly string[]])[] = [
    ["", []],
    ["", ["--help"]],
    ["", ["help"]],
    ["rent", ["rent", "--help"]],
    ["rent", ["rent", "12", "-h"]],
    ["rent", ["help", "rent"]],
    ["admin user create", ["admin", "user", "create", "--help"]],
    ["bench", ["bench", "--help"]],
    ["", ["no-such-command", "--help"]],
  ];
  for (const [words, args] of asked) {
    const { code, stdout, stderr } = await checkout.run(args);
    assert.deepEqual([code, stdout, stderr], [0, sections.get(words), ""], `berth ${args.join(" ")}`);
  }
  assert.deepEqual(await checkout.npmCalls(), []);
  // An argument of the started program is no question for help.
  assert.match((await checkout.run(["ssh", "--", "--help"])).stderr, /needs Node\.js/);
});

for (const program of ["node", "npm"]) {
  test(`without ${program} the message says what to install`, async (t) => {
    const checkout = await makeCheckout(t);
    const { code, stderr } = await checkout.run(["up"], { without: program });
    assert.equal(code, 1);
    assert.match(stderr, /^berth: needs Node\.js \(18 or newer\) and npm .*apt install nodejs npm\n$/);
  });
}

test("once installed, the system's own node and npm are not needed any more", async (t) => {
  const checkout = await makeCheckout(t);
  await checkout.run(["up"]);
  await rm(path.join(checkout.directory, "../bin/npm"));
  const { code } = await checkout.run(["up"], { without: "node" });
  assert.equal(code, 0);
});

test("a checkout that may not be written says so before the installation and runs after it", async (t) => {
  const checkout = await makeCheckout(t);
  const uid = process.getuid?.() === 0 ? { uid: 65534 } : {};
  await chmod(checkout.directory, 0o555);
  const before = await checkout.run(["up"], uid);
  assert.equal(before.code, 1);
  assert.match(before.stderr, /^berth: its dependencies are not installed, and \S+ may not write to .*check out/);
  await chmod(checkout.directory, 0o755);
  await checkout.run(["up"]);
  await chmod(checkout.directory, 0o555);
  const after = await checkout.run(["up"], uid);
  assert.deepEqual({ code: after.code, stderr: after.stderr }, { code: 0, stderr: "" });
  await chmod(checkout.directory, 0o755);
});
