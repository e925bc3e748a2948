import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, before, beforeEach, describe, it } from "node:test";
import type { DesiredVolume } from "../wire/messages.ts";
import { busyboxImage, docker } from "../../../test/support/hosts/docker.ts";
import { makeScratch, type Scratch } from "../../test/scratch.ts";
import { systemClock } from "../base/clock.ts";
import { silentLog } from "../base/log.ts";
import { createDisks, type Disks } from "./disks.ts";
import { programRunner, type RunProgram } from "../base/programs.ts";

const SIZE = 64_000_000;
const real = programRunner(systemClock);

describe("volumes", () => {
  let image: string;
  let scratch: Scratch;
  let network: string;
  let here: Disks;
  let there: Disks;

  /** An agent with its own state folder; both reach the same network disk. */
  const createHost = (hostKey: string, run?: RunProgram) =>
    createDisks({
      stateDir: join(scratch.path, hostKey),
      hostKey,
      clock: systemClock,
      log: silentLog,
      reserveBytes: 0,
      ...(run && { run }),
    });
  const local = (changes: Partial<DesiredVolume> = {}): DesiredVolume => ({
    volumeId: 7,
    sizeBytes: SIZE,
    networkDirectory: null,
    state: "present",
    ...changes,
  });
  const shared = (changes: Partial<DesiredVolume> = {}) => local({ networkDirectory: network, ...changes });
  const bring = async (disks: Disks, volume: DesiredVolume) => {
    const [seen, ...others] = await disks.reconcileVolumes([volume]);
    assert.ok(seen && others.length === 0);
    return seen;
  };
  const stateOf = async (disks: Disks, volume: DesiredVolume) => (await bring(disks, volume)).state;
  const directory = (disks: Disks) => {
    const path = disks.volumeDirectory(7);
    assert.ok(path);
    return path;
  };
  const filesOn = (path: string) => readdir(join(path, "berth-volumes"));
  const runContainer = (path: string, script: string) =>
    docker("run", "--rm", "--network", "none", "-v", `${path}:/data`, image, "sh", "-c", script);

  before(async () => {
    image = await busyboxImage();
  });
  beforeEach(async () => {
    scratch = await makeScratch("volumes");
    network = join(scratch.path, "network");
    await mkdir(join(network, "berth-volumes"), { recursive: true });
    here = createHost("here");
    there = createHost("there");
  });
  afterEach(() => scratch.remove());

  it("one container after the other sees the data, and none can write beyond the size", async () => {
    const { usedBytes, ...seen } = await bring(here, local());
    assert.deepEqual(seen, { volumeId: 7, state: "present", message: "" });
    assert.ok(usedBytes < 100_000);
    const path = directory(here);
    assert.deepEqual(await readdir(path), [], "nothing of the file system's own is shown");
    await runContainer(path, "echo data > /data/file");
    assert.equal(await runContainer(path, "cat /data/file"), "data");
    await assert.rejects(runContainer(path, "cat /dev/zero > /data/big"), /No space left/);
    assert.ok((await bring(here, local())).usedBytes > 40_000_000);
    await rm(join(path, "big"));
    assert.equal(await readFile(join(path, "file"), "utf8"), "data\n");
  });

  it("any user of an image may write to a volume", async () => {
    await bring(here, local());
    const args = ["run", "--rm", "--network", "none", "--user", "1000", "-v", `${directory(here)}:/data`, image];
    assert.equal(await docker(...args, "sh", "-c", "echo mine > /data/file; cat /data/file"), "mine");
  });

  it("a volume that nobody mentions stays, one that is to go leaves nothing behind", async () => {
    await bring(here, local());
    await writeFile(join(directory(here), "file"), "kept");
    assert.deepEqual(await here.reconcileVolumes([]), []);
    assert.equal(await readFile(join(directory(here), "file"), "utf8"), "kept");
    assert.equal(await stateOf(here, local({ state: "absent" })), "absent");
    assert.equal(await stateOf(here, local({ state: "absent" })), "absent");
    assert.equal(here.volumeDirectory(7), undefined);
    assert.deepEqual([await scratch.mounts(), await scratch.loops()], [[], []]);
    assert.deepEqual(await readdir(join(scratch.path, "here/volumes")), []);
  });

  it("a volume that a container still uses is not deleted under it", async () => {
    await bring(here, local());
    const path = directory(here);
    const script = "echo on > /data/file; sleep 600";
    const id = await docker("run", "-d", "--rm", "--network", "none", "-v", `${path}:/data`, image, "sh", "-c", script);
    try {
      const seen = await bring(here, local({ state: "absent" }));
      assert.deepEqual([seen.state, seen.message], ["failed", "a container still uses the disk"]);
      assert.deepEqual(await readdir(join(scratch.path, "here/volumes")), ["7.img"]);
    } finally {
      await docker("rm", "-f", id);
    }
    assert.equal(await stateOf(here, local({ state: "absent" })), "absent");
  });

  it("after a restart and after a reboot a fresh agent finds the data", async () => {
    await bring(here, local());
    await writeFile(join(directory(here), "file"), "kept");
    for (const isReboot of [false, true]) {
      if (isReboot) await real("umount", [join(scratch.path, "here/mounts/volume-7")], 60_000);
      here = createHost("here");
      await bring(here, local());
      assert.equal(await readFile(join(directory(here), "file"), "utf8"), "kept");
    }
  });

  it("a network volume is on one host at a time, and moves with its data", async () => {
    assert.equal(await stateOf(here, shared()), "present");
    await writeFile(join(directory(here), "file"), "moves");
    const refused = await bring(there, shared());
    assert.equal(refused.state, "failed");
    assert.match(refused.message, /mounted by another host \("here"\): destroy the instance there/);
    await here.reconcileVolumes([]);
    assert.equal(here.volumeDirectory(7), undefined);
    assert.equal(await stateOf(there, shared()), "present");
    assert.equal(await readFile(join(directory(there), "file"), "utf8"), "moves");
    assert.equal(await stateOf(here, shared()), "failed");
    assert.equal(await stateOf(here, shared({ state: "absent" })), "failed", "nobody deletes what another has");
    await there.reconcileVolumes([]);
    assert.deepEqual(await filesOn(network), ["7.img"]);
    assert.deepEqual(await scratch.loops(), []);
    assert.equal(await stateOf(here, shared({ state: "absent" })), "absent");
    assert.deepEqual(await filesOn(network), []);
  });

  it("a host that was rebooted has its lock still, and gives it back when the volume is not wanted any more", async () => {
    await bring(here, shared());
    await real("umount", [join(scratch.path, "here/mounts/volume-7")], 60_000);
    here = createHost("here");
    assert.equal(await stateOf(there, shared()), "failed");
    assert.equal(await stateOf(here, shared()), "present");
    await real("umount", [join(scratch.path, "here/mounts/volume-7")], 60_000);
    here = createHost("here");
    await here.reconcileVolumes([]);
    assert.equal(await stateOf(there, shared()), "present");
  });

  it("an agent killed at any program it runs leaves a network volume that the next one can bring back or let go", async () => {
    let deadly = 0;
    for (; ; deadly += 1) {
      let count = 0;
      const mortal = createHost("here", async (...call) => {
        count += 1;
        if (count > deadly) throw new Error("killed");
        return real(...call);
      });
      const wasKilled = await bring(mortal, shared())
        .then(() => mortal.reconcileVolumes([]))
        .then(
          () => false,
          () => true,
        );
      await createHost("here").reconcileVolumes([]);
      assert.equal(await stateOf(there, shared()), "present", `after program ${deadly}`);
      await there.reconcileVolumes([]);
      assert.deepEqual([await scratch.loops(), await filesOn(network)], [[], ["7.img"]]);
      if (!wasKilled) break;
    }
    assert.ok(deadly >= 4);
  });

  it("no volume is made without its network disk: no folder, no mount, no absolute path, no answer", async () => {
    const messageOf = async (volume: DesiredVolume) => {
      const seen = await bring(here, volume);
      assert.equal(seen.state, "failed");
      return seen.message;
    };
    assert.match(await messageOf(shared({ networkDirectory: join(network, "none") })), /is not mounted at/);
    const empty = join(scratch.path, "empty");
    await mkdir(empty);
    assert.match(await messageOf(shared({ networkDirectory: empty })), /nothing is mounted at/);
    assert.deepEqual(await readdir(empty), []);
    assert.match(await messageOf(shared({ networkDirectory: "network" })), /not absolute/);
    here = createHost("here", async () => ({ code: 124, output: "" }));
    assert.match(await messageOf(shared()), /does not answer/);
    assert.deepEqual(await scratch.mounts(), []);
  });

  it("a mounted network disk needs no preparation", async () => {
    const disk = join(scratch.path, "mounted");
    await mkdir(disk);
    await real("mount", ["-t", "tmpfs", "none", disk], 60_000);
    assert.equal(await stateOf(here, shared({ networkDirectory: disk })), "present");
    assert.deepEqual(await filesOn(disk), ["7.img", "7.lock"]);
    await here.reconcileVolumes([]);
    assert.deepEqual(await filesOn(disk), ["7.img"]);
    await real("umount", [disk], 60_000);
  });
});
