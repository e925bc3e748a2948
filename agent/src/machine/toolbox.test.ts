import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { promisify } from "node:util";
import { DEBIAN_SOURCES, prepareToolbox, type ToolboxSources } from "./toolbox.ts";

const run = promisify(execFile);
const NOWHERE = { places: ["/no/such/program"], packageName: "nothing" };

describe("the toolbox", () => {
  let stateDir = "";

  beforeEach(async () => {
    stateDir = await mkdtemp(join(tmpdir(), "berth-toolbox-"));
  });
  afterEach(() => rm(stateDir, { recursive: true, force: true }));

  const prepare = async (sources?: ToolboxSources) => {
    const prepared = await prepareToolbox({ stateDir, ...(sources === undefined ? {} : { sources }) });
    assert.ok(prepared.ok, prepared.ok ? "" : prepared.problem);
    return prepared.toolbox.directory;
  };
  const folders = () => readdir(join(stateDir, "toolbox"));

  it("holds programs that run with nothing but itself, for everybody to read and root to write", async () => {
    const directory = await prepare({ ...DEBIAN_SOURCES, rclone: NOWHERE });
    assert.deepEqual((await readdir(directory)).toSorted(), ["bin", "busybox", "lib"]);
    assert.deepEqual(await readdir(join(directory, "bin")), ["rsync", "sftp-server"]);
    for (const name of await readdir(directory, { recursive: true })) {
      const { mode, uid } = await stat(join(directory, name));
      assert.deepEqual([mode & 0o7777, uid], [0o755, process.getuid?.()], name);
    }
    // Called as the wrapper calls it, in an empty root.
    const wrapper = await readFile(join(directory, "bin/rsync"), "utf8");
    const loader = /^exec \/\.berth\/(lib\/\S+) /m.exec(wrapper)?.[1] ?? "";
    const library = join(directory, "lib");
    const args = ["--inhibit-cache", "--library-path", library, join(library, "rsync"), "--version"];
    const { stdout } = await run(join(directory, loader), args, { env: {} });
    assert.match(stdout, /^rsync +version/);
  });

  it("is the same folder every time, also for several at once, and a damaged one is mended", async () => {
    const all = await Promise.all([prepare(), prepare(), prepare()]);
    assert.equal(new Set(all).size, 1);
    assert.equal((await folders()).length, 1);
    const [directory] = all;
    await writeFile(join(directory, "bin/rsync"), "something else");
    assert.equal(await prepare(), directory);
    assert.match(await readFile(join(directory, "bin/rsync"), "utf8"), /^#!\/\.berth\/busybox sh\n/);
  });

  it("gets another folder when a program changes, and the old one stays for those who use it", async () => {
    const first = await prepare();
    const path = join(stateDir, "rsync");
    await writeFile(path, await readFile("/usr/bin/rsync"));
    await run("truncate", ["-s", "+1", path]);
    await chmod(path, 0o755);
    const second = await prepare({ ...DEBIAN_SOURCES, rsync: { places: [path], packageName: "rsync" } });
    assert.notEqual(second, first);
    assert.equal((await folders()).length, 2);
  });

  it("names the packages that are missing, and goes without rsync and rclone", async () => {
    const bare = await prepareToolbox({
      stateDir,
      sources: { ...DEBIAN_SOURCES, busybox: { ...DEBIAN_SOURCES.busybox, places: [] }, sftpServer: NOWHERE },
    });
    assert.deepEqual(bare, {
      ok: false,
      problem: "programs for containers are missing: apt-get install busybox-static nothing",
    });
    const directory = await prepare({ ...DEBIAN_SOURCES, rsync: NOWHERE, rclone: NOWHERE });
    assert.deepEqual(await readdir(join(directory, "bin")), ["sftp-server"]);
  });

  it("refuses a busybox that needs libraries, which images do not have", async () => {
    const dynamic = { places: ["/usr/bin/rsync"], packageName: "busybox-static" };
    const prepared = await prepareToolbox({ stateDir, sources: { ...DEBIAN_SOURCES, busybox: dynamic } });
    assert.ok(!prepared.ok && prepared.problem.includes("apt-get install busybox-static"));
  });
});
