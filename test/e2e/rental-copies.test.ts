// Copies between a renter's own computer and a rental: by `./berth copy`, and by the rsync of the distribution under the
// address that the server names.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { run } from "../support/berth.ts";
import { aRenter, untilUntouched, type Renter, type Shown } from "../support/renter.ts";
import { startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { until } from "../support/until.ts";

const BERTH = path.join(import.meta.dirname, "../../berth");
const BUSYBOX = "/.berth/busybox";
const LARGE_BYTES = 24_000_000;
/** Megabytes a second, so that the large file takes some seconds. */
const SLOW = "4";

describe("copies from and to the renter's own computer", () => {
  let machine: ThisMachine;
  let renter: Renter;
  let instance: Shown;
  let folder: string;
  const cleanups: (() => Promise<unknown>)[] = [];

  /** Variables that tell `./berth` the server and its caller. */
  const environmentOf = ({ key }: Renter) => ({
    ...process.env,
    BERTH_API_KEY: key,
    BERTH_DATA_DIR: machine.berth().dataDir,
    TERM: "xterm",
  });

  const keyCount = async () => JSON.parse(await renter.told("show-ssh", String(instance.id), "--json")).length;
  const here = (name: string) => path.join(renter.folder, name);

  before(async () => {
    machine = await startThisMachine(31_700);
    cleanups.push(() => machine.close());
    renter = await aRenter(machine, "copies");
    cleanups.push(() => renter.close());
    folder = await anOddFolder(here("two words"));
    instance = await renter.rentAndRun({ runtype: "ssh_direct" });
    await renter.inside(instance, "true");
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("a folder with odd names comes back as it went, quietly, and leaves no key behind", async () => {
    const to = `${instance.id}:/data/deep down`;
    const up = await renter.cli("copy", `local:${folder}/`, to);
    assert.deepEqual([up.code, up.stderr], [0, ""]);
    assert.match(up.stdout, /^Copied 5 files to C\.\d+:\/data\/deep down: 24\.\d MB of 24\.\d MB\.\n$/);
    assert.equal(await renter.inside(instance, `${BUSYBOX} stat -c %u '/data/deep down/café'`), "0\n");
    const down = await renter.cli("copy", `${to}/`, `local:${here("back")}`, "--json");
    assert.deepEqual([down.code, down.stderr], [0, ""]);
    const { sent_bytes: sent, ...counted } = JSON.parse(down.stdout);
    assert.ok(sent >= LARGE_BYTES, down.stdout);
    assert.deepEqual([counted.success, counted.files_copied], [true, 5]);
    assert.deepEqual(await treeOf(here("back")), await treeOf(folder));
    assert.equal(await keyCount(), 1);

    const again = JSON.parse(await renter.told("copy", `local:${folder}/`, to, "--json"));
    assert.deepEqual([again.files_copied, again.sent_bytes], [0, 0], "what is there already does not travel");
  });

  test("a copy that is interrupted goes on where it stopped, in both directions", async () => {
    const large = path.join(folder, "large");
    const inside = () => renter.inside(instance, `${BUSYBOX} find /resumed -type f -size +4000 | ${BUSYBOX} wc -l`);
    await interrupted(
      renter,
      ["copy", `local:${large}`, `${instance.id}:/resumed/large`, "--limit", SLOW],
      async () => {
        return (await inside().catch(() => "0")).trim() !== "0";
      },
    );
    const listed = await renter.inside(instance, `cd /resumed; ${BUSYBOX} find . -type f`);
    assert.match(listed, /^\.\/\.berth-partial\/large$/m, "the half file has not the name of the whole one");
    const up = JSON.parse(await renter.told("copy", `local:${large}`, `${instance.id}:/resumed/large`, "--json"));
    assert.ok(up.sent_bytes > 0 && up.sent_bytes < LARGE_BYTES - 1_000_000, JSON.stringify(up));
    const digest = createHash("md5")
      .update(await readFile(large))
      .digest("hex");
    assert.match(await renter.inside(instance, `cd /resumed; ${BUSYBOX} md5sum large; ls -A`), new RegExp(`^${digest} .*\\nlarge\\n$`)); // prettier-ignore

    const target = here("resumed");
    await interrupted(renter, ["copy", `${instance.id}:/resumed/`, `local:${target}`, "--limit", SLOW], async () => {
      const sizes = (await readdir(target).catch(() => [])).map(
        async (name) => (await lstat(path.join(target, name))).size,
      );
      return (await Promise.all(sizes)).some((size) => size > 2_000_000);
    });
    const down = JSON.parse(await renter.told("copy", `${instance.id}:/resumed/`, `local:${target}`, "--json"));
    assert.ok(down.sent_bytes > 0 && down.sent_bytes < LARGE_BYTES - 1_000_000, JSON.stringify(down));
    assert.deepEqual(await readdir(target), ["large"]);
    assert.equal(
      createHash("md5")
        .update(await readFile(path.join(target, "large")))
        .digest("hex"),
      digest,
    );
    assert.equal(await keyCount(), 1, "the keys of interrupted copies are gone");
  });

  test("the distribution's rsync copies with the renter's key under the address that the server names", async () => {
    for (const way of ["direct", "proxy"] as const) {
      const rental = way === "direct" ? instance : await renter.rentAndRun({ runtype: "ssh_proxy" });
      const { ssh } = await renter.client(rental, way);
      await until("the way in is open", async () => (await ssh("true")).code === 0);
      const up = { src_id: "local", src_path: folder, dst_id: `C.${rental.id}`, dst_path: `/by rsync/` };
      const { dst_addr, dst_port, rsync_user, rsync_path } = await renter.done("PUT", "/api/v0/commands/rsync/", up);
      const shell = `ssh -F /dev/null -i ${renter.keys.file} -p ${dst_port} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR`;
      const rsync = (...words: string[]) =>
        run("rsync", ["-arz", "-v", "--progress", "--rsh=ssh", "-e", shell, ...words]);
      const there = `${rsync_user}@${dst_addr}::${rsync_path}`;
      const sent = await rsync(`${folder}/`, there);
      assert.deepEqual([sent.code, sent.stderr], [0, ""]);
      const down = { src_id: rental.id, src_path: "/by rsync/", dst_id: null, dst_path: "." };
      const answer = await renter.done("PUT", "/api/v0/commands/rsync/", down);
      assert.deepEqual([answer.src_addr, answer.src_port], [dst_addr, dst_port]);
      const back = here(`back by ${way}`);
      const received = await rsync(`${rsync_user}@${answer.src_addr}::${answer.rsync_path}`, back);
      assert.deepEqual([received.code, received.stderr], [0, ""]);
      assert.deepEqual(await treeOf(back), await treeOf(folder));
      const { result_url: url } = await renter.done("POST", "/api/v0/commands/get_copy_size/", {
        ...{ src_id: `C.${rental.id}`, src_path: "/by rsync" },
      });
      const size = await until("the size", async () => {
        const text = await fetch(url).then((result) => (result.ok ? result.text() : ""));
        return text !== "" && text;
      });
      assert.ok(Number.parseInt(size, 10) > LARGE_BYTES, size);
      if (way === "proxy") await renter.destroy(rental.id);
    }
  });

  test("an instance that runs its image's own program is copied from and to, and its keys open no shell", async () => {
    const rental = await renter.rentAndRun({ runtype: "args", args: ["sh", "-c", "while :; do sleep 1; done"] });
    const up = await renter.cli("copy", `local:${folder}/`, `${rental.id}:/data/`);
    assert.deepEqual([up.code, up.stderr], [0, ""]);
    const down = await renter.cli("copy", `${rental.id}:/data/`, `local:${here("from args")}`, "-i", renter.keys.file);
    assert.deepEqual([down.code, down.stderr], [0, ""]);
    assert.deepEqual(await treeOf(here("from args")), await treeOf(folder));
    const { ssh } = await renter.client(await renter.show(rental.id), "proxy");
    assert.match((await ssh("true")).stderr, /Permission denied/);
    await renter.destroy(rental.id);
  });

  test("a terminal sees a bar, and a place that is not there is named before anything is copied", async () => {
    const command = `${BERTH} copy 'local:${path.join(folder, "large")}' ${instance.id}:/bar/ --limit 12 -i ${renter.keys.file}`;
    const { code, stdout } = await run(
      "script",
      ["-qec", `stty cols 100; ${command}`, "/dev/null"],
      environmentOf(renter),
    );
    assert.equal(code, 0, stdout);
    const drawn = stdout.replaceAll("\r\u001B[K", "<");
    assert.match(drawn, /< +\d+% █+░+ +\d[\d.]* MB {2,}[\d.]+MB\/s {2}[\d:]+ left/);
    const last = drawn.trimEnd().split("\n").at(-1) ?? "";
    assert.match(last, /<Copied 1 file to C\.\d+:\/bar\/: 24\.0 MB of 24\.0 MB\.$/);
    const absent = await renter.cli("copy", "local:/no/such folder", `${instance.id}:/x`);
    assert.deepEqual([absent.code, absent.stdout], [1, ""]);
    assert.match(absent.stderr, /There is nothing to copy at \/no\/such folder\./);
    const remote = await renter.cli("copy", `${instance.id}:/nowhere`, `local:${here("x")}`);
    assert.equal(remote.code, 1);
    assert.match(remote.stderr, /nowhere.*No such file[\s\S]*Some files were not copied/);
    await renter.told("stop", String(instance.id));
    await renter.untilStatus(instance.id, "stopped");
    const stopped = await renter.cli("copy", `local:${folder}`, `${instance.id}:/x`);
    assert.equal(stopped.code, 1);
    assert.match(stopped.stderr, /is not running: start it/);
    await renter.destroy(instance.id);
    await untilUntouched(machine, renter);
  });

  /** Runs a copy and interrupts it as a terminal does, as soon as it has come far enough. */
  async function interrupted(by: Renter, words: readonly string[], isFarEnough: () => Promise<boolean>): Promise<void> {
    const child = spawn(BERTH, words, { env: environmentOf(by), detached: true, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (text) => (said += String(text)));
    const ended = once(child, "close");
    await until("the copy is under way", async () => {
      assert.equal(child.exitCode, null, `it ended too early: ${said}`);
      return isFarEnough();
    });
    process.kill(-(child.pid ?? Number.NaN), "SIGINT");
    const [code] = await ended;
    assert.equal(code, 130, said);
    assert.match(said, /The copy was interrupted\. The same command again goes on where it stopped\./);
  }
});

/** A folder with the names, links and modes that copies get wrong. */
async function anOddFolder(root: string): Promise<string> {
  await mkdir(path.join(root, "-dash", "empty folder"), { recursive: true });
  await writeFile(path.join(root, "café"), "unicode in the name");
  await writeFile(path.join(root, "文件 [*] ?"), "wildcards");
  await writeFile(path.join(root, "-dash", "'quoted' \"twice\"\nnew line"), "a line break");
  await writeFile(path.join(root, "-dash", "program"), "#!/bin/sh\n");
  await chmod(path.join(root, "-dash", "program"), 0o750);
  await writeFile(path.join(root, "large"), randomBytes(LARGE_BYTES));
  await symlink("café", path.join(root, "link"));
  await symlink("/etc/hostname", path.join(root, "absolute link"));
  await symlink("../gone/for ever", path.join(root, "dangling link"));
  await utimes(path.join(root, "café"), 1_000_000_000, 1_000_000_000);
  await rm(path.join(root, ".berth-partial"), { recursive: true, force: true });
  return root;
}

/** Paths below a folder with all that a copy keeps. */
async function treeOf(root: string): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const names = await readdir(root, { recursive: true });
  const rows = names.toSorted().map(async (name) => {
    const file = path.join(root, name);
    const found = await lstat(file);
    if (found.isSymbolicLink()) return [name, ["link", await readlink(file)]] as const;
    const mode = found.mode & 0o7777;
    if (found.isDirectory()) return [name, ["folder", mode]] as const;
    const digest = createHash("sha256")
      .update(await readFile(file))
      .digest("hex");
    return [name, ["file", mode, Math.trunc(found.mtimeMs / 1000), digest]] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}
