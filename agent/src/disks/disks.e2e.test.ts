import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { busyboxImage, docker, removeLabelled } from "../../../test/support/hosts/docker.ts";
import { until } from "../../../test/support/until.ts";
import { makeScratch, type Scratch } from "../../test/scratch.ts";
import { systemClock } from "../base/clock.ts";
import type { Result } from "../engine/engine.ts";
import { silentLog } from "../base/log.ts";
import { createDisks, type Disks } from "./disks.ts";
import { programRunner, type RunProgram } from "../base/programs.ts";

const run = promisify(execFile);
const LABEL = "berth-test-disks";
const MARK = String(process.pid);
const SIZE = 64_000_000;

describe("disks of instances, with real containers", () => {
  let image: string;
  let scratch: Scratch;
  let disks: Disks;

  const createDisksHere = (run?: RunProgram, reserveBytes = 0, stateDir = scratch.path) =>
    createDisks({
      stateDir,
      hostKey: "here",
      clock: systemClock,
      log: silentLog,
      reserveBytes,
      ...(run && { run }),
    });
  const layerOf = async (container: string) =>
    dirname(await docker("inspect", "--format", "{{.GraphDriver.Data.UpperDir}}", container));
  const create = (...options: readonly string[]) =>
    docker("create", "--label", `${LABEL}=${MARK}`, "--stop-timeout", "0", ...options, image);
  /** A container whose layer lies on the disk of instance 1. */
  const createOnDisk = async (...options: readonly string[]) => {
    ok(await disks.open(1, SIZE));
    const container = await create(...options);
    ok(await disks.attachLayer(1, await layerOf(container)));
    return container;
  };
  const sh = (container: string, script: string) => docker("exec", container, "sh", "-c", script);
  const removeContainer = async (container: string) => {
    await docker("stop", container);
    ok(await disks.detachLayer(1, await layerOf(container)));
    await docker("rm", "-v", container);
  };

  before(async () => {
    image = await busyboxImage();
  });
  beforeEach(async () => {
    scratch = await makeScratch("disks");
    disks = createDisksHere();
  });
  afterEach(async () => {
    const ids = (await docker("ps", "-aq", "--filter", `label=${LABEL}=${MARK}`)).split("\n").filter(Boolean);
    for (const id of ids) {
      await docker("stop", id);
      await disks.detachLayer(1, await layerOf(id));
    }
    await removeLabelled(LABEL, MARK);
    await scratch.remove();
  });
  after(async () => {
    await removeLabelled(LABEL, MARK);
  });

  it("a file that the platform rewrites is the new one in a container that runs, also on a full disk", async () => {
    const opened = await disks.open(1, SIZE);
    assert.ok(opened.ok);
    assert.equal(await disks.readPlatformFile(1, "kept"), undefined);
    const source = await opened.value.writeFile("kept", "a longer text than the next one");
    const container = await createOnDisk("-v", `${source}:/etc/kept`);
    await docker("start", container);
    await sh(container, "dd if=/dev/zero of=/ballast bs=1M || true");
    await disks.rewritePlatformFile(1, "kept", "the next one");
    assert.equal(await sh(container, "cat /etc/kept"), "the next one");
    assert.equal(await disks.readPlatformFile(1, "kept"), "the next one");
    await sh(container, "rm /ballast && dd if=/dev/zero of=/etc/kept bs=1K count=17");
    assert.equal(await disks.readPlatformFile(1, "kept"), undefined, "longer than any certificate");
    await removeContainer(container);
    ok(await disks.remove(1));
    assert.equal(await disks.readPlatformFile(1, "kept"), undefined);
    await assert.rejects(disks.rewritePlatformFile(1, "kept", "too late"), /ENOENT/);
  });

  it("a container cannot write more than its size, and is told so", async () => {
    const container = await createOnDisk();
    await docker("start", container);
    await assert.rejects(sh(container, "dd if=/dev/zero of=/big bs=1000000 count=80"), /No space left on device/);
    const used = (await disks.usedBytes(1)) ?? 0;
    assert.ok(used > 40_000_000 && used <= SIZE, String(used));
    await removeContainer(container);
  });

  it("a full container stops, starts and is mended by its renter", async () => {
    const container = await createOnDisk();
    await docker("start", container);
    await assert.rejects(sh(container, "cat /dev/zero > /big"), /No space left/);
    await docker("stop", container);
    ok(await disks.attachLayer(1, await layerOf(container)));
    await docker("start", container);
    await sh(container, "rm /big; echo again > /small");
    assert.equal(await sh(container, "cat /small"), "again");
    await removeContainer(container);
  });

  it("files of a container stay over a stop, and into the next container of the instance", async () => {
    const first = await createOnDisk();
    await docker("start", first);
    await sh(first, "echo kept > /root/file; chmod 4755 /root/file; rm /bin/wget");
    await docker("stop", first);
    await docker("start", first);
    assert.equal(await sh(first, "cat /root/file"), "kept");
    await removeContainer(first);
    const second = await createOnDisk();
    await docker("start", second);
    assert.equal(await sh(second, "cat /root/file; test -e /bin/wget || echo gone"), "kept\ngone");
    await removeContainer(second);
  });

  it("the working directory that the engine made is there, and never replaces what the renter put there", async () => {
    const first = await createOnDisk("--workdir", "/srv/deep");
    await docker("start", first);
    assert.equal(await sh(first, "pwd"), "/srv/deep");
    await sh(first, "cd /; rm -r /work; ln -s /etc /work");
    await removeContainer(first);
    const second = await createOnDisk("--workdir", "/srv/deep");
    assert.deepEqual(
      await readdir(join(scratch.path, "mounts/disk-1/layer/diff")).then((names) => names.includes("work")),
      true,
    );
    assert.ok(!(await readdir("/etc")).includes("deep"), "no link of a renter is followed on the host");
    await removeContainer(second);
  });

  it("after a reboot, when nothing is mounted, the same container goes on", async () => {
    const container = await createOnDisk();
    await docker("start", container);
    await sh(container, "echo before > /file");
    await docker("stop", container);
    await programRunner(systemClock)("umount", [await layerOf(container)], 60_000);
    await programRunner(systemClock)("umount", [join(scratch.path, "mounts/disk-1")], 60_000);
    disks = createDisksHere();
    ok(await disks.open(1, SIZE));
    ok(await disks.attachLayer(1, await layerOf(container)));
    await docker("start", container);
    assert.equal(await sh(container, "cat /file"), "before");
    await removeContainer(container);
  });

  it("volumes of the image are kept in folders of the disk, within its size", async () => {
    const opened = await disks.open(1, SIZE);
    assert.ok(opened.ok);
    const device = await opened.value.volumeDirectory(0);
    const options = [
      "type=volume,dst=/root",
      "volume-opt=type=none",
      "volume-opt=o=bind",
      `volume-opt=device=${device}`,
    ];
    const container = await createOnDisk("--mount", options.join(","));
    await docker("start", container);
    await sh(container, "echo inside > /root/file");
    assert.ok((await readdir(device)).includes("file"));
    await assert.rejects(sh(container, "cat /dev/zero > /root/big"), /No space left/);
    await removeContainer(container);
    ok(await disks.remove(1));
  });

  it("removal leaves no mount, no loop device and no file, and may be repeated", async () => {
    const container = await createOnDisk();
    await docker("start", container);
    assert.deepEqual(await disks.list(), [1]);
    const refused = await disks.remove(1);
    assert.equal(refused.ok, false, "not while it runs");
    assert.equal(await sh(container, "echo alive"), "alive");
    await removeContainer(container);
    ok(await disks.remove(1));
    ok(await disks.remove(1));
    assert.deepEqual([await scratch.mounts(), await scratch.loops(), await disks.list()], [[], [], []]);
    assert.deepEqual(await readdir(join(scratch.path, "disks")), []);
    assert.deepEqual(await readdir(join(scratch.path, "mounts")), []);
    assert.equal(await disks.usedBytes(1), undefined);
  });

  it("an agent killed at any program it runs is followed by one that completes the work", async () => {
    const container = await create();
    const layer = await layerOf(container);
    const work = async (disks: Disks) => {
      ok(await disks.open(1, SIZE));
      ok(await disks.attachLayer(1, layer));
      ok(await disks.detachLayer(1, layer));
      ok(await disks.remove(1));
    };
    const calls: string[] = [];
    const real = programRunner(systemClock);
    await work(createDisksHere((program, args, timeoutMs) => (calls.push(program), real(program, args, timeoutMs))));
    assert.ok(calls.length >= 5, calls.join(" "));
    for (const isDone of [false, true]) {
      for (let deadly = 0; deadly < calls.length; deadly += 1) {
        let count = 0;
        const run: RunProgram = async (program, args, timeoutMs) => {
          const isLast = count === deadly;
          count += 1;
          if (!isLast || isDone) await real(program, args, timeoutMs);
          if (isLast) throw new Error("killed");
          return { code: 0, output: "" };
        };
        await assert.rejects(work(createDisksHere(run)), /killed/);
        await work(createDisksHere());
        assert.deepEqual([await scratch.mounts(), await scratch.loops(), await disks.list()], [[], [], []]);
      }
    }
  });

  it("half an image is never taken for a whole one", async () => {
    await mkdir(join(scratch.path, "disks"), { recursive: true });
    await writeFile(join(scratch.path, "disks/1.img.new"), "half");
    assert.deepEqual(await disks.list(), [1]);
    ok(await disks.open(1, SIZE));
    assert.equal((await stat(join(scratch.path, "disks/1.img"))).size, SIZE);
    ok(await disks.remove(1));
  });

  it("a disk that a full host has stopped is back at the next start, once there is room", async () => {
    const small = join(scratch.path, "small");
    await mkdir(small);
    await run("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", small]);
    await writeFile(join(small, "ballast"), Buffer.alloc(4_000_000));
    disks = createDisksHere(undefined, 0, small);
    const container = await createOnDisk();
    await docker("start", container);
    await sh(container, "echo kept > /kept && sync");
    await assert.rejects(sh(container, "dd if=/dev/urandom of=/fill bs=1000000 count=50 conv=fsync"));
    await until("the end of the file system", () =>
      sh(container, "echo > /new && sync").then(
        () => false,
        () => true,
      ),
    );
    await docker("stop", container);
    await rm(join(small, "ballast"));
    ok(await disks.open(1, SIZE));
    ok(await disks.attachLayer(1, await layerOf(container)));
    await docker("start", container);
    assert.equal(await sh(container, "rm -f /fill; cat /kept && echo works > /again && cat /again"), "kept\nworks");
    await removeContainer(container);
    ok(await disks.remove(1));
  });

  it("a damaged file system is a stated failure, not an empty disk", async () => {
    ok(await disks.open(1, SIZE));
    await programRunner(systemClock)("umount", [join(scratch.path, "mounts/disk-1")], 60_000);
    const handle = await open(join(scratch.path, "disks/1.img"), "r+");
    await handle.write(Buffer.alloc(4096), 0, 4096, 0);
    await handle.close();
    const opened = await disks.open(1, SIZE);
    assert.match(opened.ok ? "" : opened.failure.message, /damaged beyond repair/);
    ok(await disks.remove(1));
  });

  it("a host without room makes no disk, and opens those it has", async () => {
    ok(await disks.open(1, SIZE));
    disks = createDisksHere(undefined, Number.MAX_SAFE_INTEGER);
    ok(await disks.open(1, SIZE));
    const refused = await disks.open(2, SIZE);
    assert.match(refused.ok ? "" : refused.failure.message, /no room left/);
    assert.deepEqual(await disks.list(), [1]);
    ok(await disks.remove(1));
  });

  it("many disks are made, opened and removed at the same time", async () => {
    const ids = Array.from({ length: 24 }, (_, index) => index + 1);
    for (const result of await Promise.all(ids.flatMap((id) => [disks.open(id, SIZE), disks.open(id, SIZE)])))
      ok(result);
    assert.equal((await scratch.mounts()).length, ids.length);
    for (const result of await Promise.all(ids.map((id) => disks.remove(id)))) ok(result);
    assert.deepEqual([await scratch.mounts(), await scratch.loops(), await disks.list()], [[], [], []]);
  });

  it("a folder that cannot be a layer of overlay2 is refused", async () => {
    ok(await disks.open(1, SIZE));
    const other = join(scratch.path, "other");
    await mkdir(other);
    await chmod(other, 0o700);
    const refused = await disks.attachLayer(1, other);
    assert.match(refused.ok ? "" : refused.failure.message, /overlay2/);
    assert.equal((await disks.attachLayer(2, other)).ok, false, "a disk that is not open");
    await rm(other, { recursive: true });
    ok(await disks.remove(1));
  });
});

function ok<T>(result: Result<T>): T {
  assert.ok(result.ok, result.ok ? "" : result.failure.message);
  return result.value;
}
