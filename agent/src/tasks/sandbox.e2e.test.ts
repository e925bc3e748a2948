import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { busyboxImage, docker, removeLabelled } from "../../../test/support/hosts/docker.ts";
import { collectOutput } from "../engine/program.ts";
import { createSandbox, FOLDER_PATH, type Sandbox, type SandboxRoot } from "./sandbox.ts";

const LABEL = "berth.sandbox-test";
/** The file of the host's folder that a hostile tree points at: the folder must keep it and get no other. */
const SECRET = "the host's own";

describe("the sandbox for files that nobody trusts", () => {
  let stateDir = "";
  let hostDir = "";
  let sandbox: Sandbox;
  let image = "";

  before(async () => {
    image = await busyboxImage();
    await removeLabelled(LABEL, "1");
    stateDir = await mkdtemp(join(tmpdir(), "berth-sandbox-"));
    hostDir = join(stateDir, "host");
    const toolboxDirectory = join(stateDir, "toolbox");
    await mkdir(hostDir);
    await mkdir(toolboxDirectory);
    await writeFile(join(hostDir, "secret"), SECRET);
    const busybox = await readFile("/bin/busybox");
    await writeFile(join(toolboxDirectory, "busybox"), busybox, { mode: 0o755 });
    sandbox = createSandbox({ stateDir, toolboxDirectory });
  });
  after(async () => {
    await removeLabelled(LABEL, "1");
    await rm(stateDir, { recursive: true, force: true });
  });

  /** The layer of a container that has run the script and ended. */
  const layer = async (script: string, kept = image): Promise<string> => {
    const id = await docker("run", "-d", "--label", `${LABEL}=1`, kept, "sh", "-c", script);
    assert.equal(await docker("wait", id), "0");
    return dirname(await docker("inspect", "-f", "{{.GraphDriver.Data.UpperDir}}", id));
  };
  const run = async (root: SandboxRoot, ...argv: readonly string[]) => {
    const opened = await sandbox.open(root, argv);
    assert.ok(opened.ok);
    const signal = AbortSignal.timeout(900_000);
    const ended = await collectOutput(opened.value, { signal, outputLimitBytes: 65_536 });
    assert.ok(ended.ok);
    const { exitCode, stdout, stderr } = ended.value;
    return { exitCode, stdout: String(stdout), stderr: String(stderr) };
  };
  const rootOf = (layerDirectory: string, mounts: { source: string; target: string }[] = []): SandboxRoot => ({
    kind: "layer",
    layerDirectory,
    mounts,
  });
  const hostIsUntouched = async () => {
    assert.deepEqual(await readdir(hostDir), ["secret"]);
    assert.equal(await readFile(join(hostDir, "secret"), "utf8"), SECRET);
  };

  it("keeps the output of a program that has ended before anybody reads it", async () => {
    const opened = await sandbox.open({ kind: "folder", directory: hostDir, isReadOnly: true }, [
      "echo",
      "read me late",
    ]);
    assert.ok(opened.ok);
    assert.deepEqual(await opened.value.ended, { ok: true, value: 0 });
    assert.equal(await text(opened.value.stdout), "read me late\n");
  });

  it("shows and changes the files of a container that has ended, those of the image below too", async () => {
    const root = rootOf(await layer("mkdir /made && echo word > /made/file && chown 12:34 /made/file"));
    assert.match((await run(root, "ls", "-ln", "/made")).stdout, /12 +34 .* file/);
    assert.match((await run(root, "ls", "/bin")).stdout, /busybox/);
    assert.equal((await run(root, "rm", "-r", "/made", "/bin/wget", "/tmp")).exitCode, 0);
    const left = (await run(root, "ls", "/", "/bin")).stdout.split("\n");
    assert.ok(!left.includes("made") && !left.includes("wget") && !left.includes("tmp"));
  });

  it("files that a container has written are shown without its image, and cannot be changed there", async () => {
    const layerDirectory = await layer(
      `mkdir /made && echo word > /made/file && ln -s ${hostDir} /out && rm /bin/wget`,
    );
    const root: SandboxRoot = { kind: "upper", layerDirectory };
    const { stdout } = await run(root, "find", `${FOLDER_PATH}/upper`, "-type", "f");
    assert.equal(stdout, `${FOLDER_PATH}/upper/made/file\n`);
    assert.match((await run(root, "ls", "-l", `${FOLDER_PATH}/upper/bin`)).stdout, /^c.* wget$/m);
    assert.notEqual((await run(root, "rm", `${FOLDER_PATH}/upper/made/file`)).exitCode, 0);
    assert.doesNotMatch((await run(root, "ls", `${FOLDER_PATH}/upper/out/`)).stdout, /secret/);
    await hostIsUntouched();
  });

  it("a container that starts again sees the changes", async () => {
    const id = await docker(
      "run",
      "-d",
      "--label",
      `${LABEL}=1`,
      image,
      "sh",
      "-c",
      "ls /bin/wget /kept; echo > /kept",
    );
    await docker("wait", id);
    const root = rootOf(dirname(await docker("inspect", "-f", "{{.GraphDriver.Data.UpperDir}}", id)));
    assert.equal((await run(root, "rm", "/bin/wget")).exitCode, 0);
    await docker("start", id);
    await docker("wait", id);
    const log = (await docker("logs", id)).split("\n").filter((line) => line.startsWith("/"));
    assert.deepEqual(log, ["/bin/wget", "/kept"]);
  });

  it("links to the host's folders lead nowhere, whether read, listed or written through", async () => {
    const links = [`ln -s ${hostDir} /absolute`, `ln -s ../../../../../../../..${hostDir} /relative`, "ln -s / /top"];
    const root = rootOf(await layer(links.join(" && ")));
    for (const link of ["/absolute", "/relative", `/top${hostDir}`]) {
      assert.doesNotMatch((await run(root, "ls", `${link}/`)).stdout, /secret/);
      assert.doesNotMatch((await run(root, "cat", `${link}/secret`)).stdout, /host/);
      await run(root, "rm", "-rf", `${link}/secret`);
      await run(root, "sh", "-c", `echo overwritten > ${link}/secret; mkdir -p ${link}/more`);
    }
    await hostIsUntouched();
  });

  it("a hostile thing at the toolbox's place is refused, and nothing of it is run", async () => {
    const links = [`ln -s ${hostDir} /.berth`, "ln -s / /.berth", "ln -s /proc/1/root /.berth", "echo > /.berth"];
    for (const planted of links) {
      const { exitCode, stderr } = await run(rootOf(await layer(planted)), "ls", "/");
      assert.equal(exitCode, 125, planted);
      assert.match(stderr, /\.berth is not the folder/);
    }
    const own = "mkdir /.berth && echo '#!/bin/sh' > /.berth/busybox && chmod 755 /.berth/busybox";
    assert.match((await run(rootOf(await layer(own)), "ls", "/")).stdout, /bin/);
    await hostIsUntouched();
  });

  it("a volume at a linked place is left out, at its own place it is there", async () => {
    const volume = await mkdtemp(join(stateDir, "volume-"));
    await writeFile(join(volume, "kept"), "1");
    const layerDirectory = await layer("mkdir /real && ln -s /tools /link && ln -s .. /real/up");
    const mounts = ["/link", "/real/up/tools", "/missing", "/real"].map((target) => ({ source: volume, target }));
    const root = rootOf(layerDirectory, mounts);
    assert.equal((await run(root, "ls", "/real")).stdout, "kept\n");
    assert.equal((await run(root, "ls", "/.berth")).stdout, "busybox\n");
    assert.equal((await run(root, "rm", "/real/kept")).exitCode, 0);
    assert.deepEqual(await readdir(volume), []);
  });

  it("there is no network, no other process, no device and no right beyond those for files", async () => {
    const root = rootOf(await layer("cp /bin/busybox /mine"));
    const look =
      "for what in 'mount -t proc proc /tmp' 'mknod /disk b 8 0' 'chroot / true'; do $0 $what; done; /mine; echo end";
    const { stdout, stderr } = await run(root, "sh", "-c", look, "/.berth/busybox");
    assert.equal(stdout, "end\n");
    for (const [what, problem] of [
      ["mount", "(permission denied|Operation not permitted)"],
      ["mknod", "Operation not permitted"],
      ["chroot", "Operation not permitted"],
      ["/mine", "Permission denied"],
    ]) {
      assert.match(stderr, new RegExp(`${what}.*${problem}`), what);
    }
    const rights = (await run(root, "setpriv", "-d")).stdout;
    assert.match(rights, /no_new_privs: 1/);
    assert.match(rights, /Ambient capabilities: chown,dac_override,fowner,fsetid\n/);
    assert.doesNotMatch((await run(root, "ip", "link")).stdout, /eth|UP,LOWER_UP/);
    assert.match((await run(root, "sh", "-c", "kill -0 -1; echo $$")).stdout, /^1\n/);
  });

  it("a device that an image brings is no device here", async () => {
    const made = await docker("run", "-d", "--label", `${LABEL}=1`, image, "mknod", "/zero", "c", "1", "5");
    await docker("wait", made);
    const root = rootOf(dirname(await docker("inspect", "-f", "{{.GraphDriver.Data.UpperDir}}", made)));
    assert.match((await run(root, "ls", "-l", "/zero")).stdout, /^c/);
    const { exitCode, stdout } = await run(root, "head", "-c", "1", "/zero");
    assert.deepEqual([exitCode, stdout], [1, ""]);
  });

  it("a folder is all there is of the host, links in it lead nowhere, and a source cannot be written", async () => {
    const directory = await mkdtemp(join(stateDir, "volume-"));
    await writeFile(join(directory, "own"), "1");
    await symlink(hostDir, join(directory, "link"));
    const root = { kind: "folder", directory, isReadOnly: true } as const;
    assert.equal((await run(root, "ls", FOLDER_PATH)).stdout, "link\nown\n");
    assert.doesNotMatch((await run(root, "ls", `${FOLDER_PATH}/link/`)).stdout, /secret/);
    assert.equal((await run(root, "rm", "-f", `${FOLDER_PATH}/own`)).exitCode, 1);
    assert.equal((await run({ ...root, isReadOnly: false }, "rm", `${FOLDER_PATH}/own`)).exitCode, 0);
    assert.deepEqual(await readdir(directory), ["link"]);
    await hostIsUntouched();
  });

  it("a killed program is over, and no mount of it was ever seen outside", async () => {
    const opened = await sandbox.open(rootOf(await layer("true")), ["sleep", "86400"]);
    assert.ok(opened.ok);
    const inside = await readFile("/proc/self/mounts", "utf8");
    opened.value.kill();
    assert.deepEqual(await opened.value.ended, { ok: true, value: 137 });
    assert.ok(!inside.includes(stateDir));
    assert.ok((await stat(join(stateDir, "sandbox"))).isDirectory());
    assert.deepEqual(await readdir(join(stateDir, "sandbox")), []);
  });

  it("a program killed at any moment of its start is over, and its streams with it", async () => {
    const directory = await mkdtemp(join(stateDir, "volume-"));
    for (let attempt = 0; attempt < 96; attempt += 1) {
      const opened = await sandbox.open({ kind: "folder", directory, isReadOnly: true }, ["sleep", "86400"]);
      assert.ok(opened.ok);
      // The delay waits for nothing: it is the moment at which the program is killed.
      await delay(attempt % 12);
      opened.value.kill();
      assert.deepEqual(await opened.value.ended, { ok: true, value: 137 });
    }
  });

  it("a layer that is not there says so with the sandbox's own exit code", async () => {
    const { exitCode, stderr } = await run(rootOf(join(stateDir, "no-such-layer")), "ls", "/");
    assert.equal(exitCode, 125);
    assert.notEqual(stderr, "");
  });
});
