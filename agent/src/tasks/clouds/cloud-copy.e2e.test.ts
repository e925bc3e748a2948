// Copies between files of instances, as Docker lays them out, and an S3 server on this machine's loopback. Only the gate
// that the test passes in lets them reach it there.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { startS3Server, type S3Server } from "../../../../test/support/network/s3-server.ts";
import { until } from "../../../../test/support/until.ts";
import { silentLog } from "../../base/log.ts";
import { systemClock } from "../../base/clock.ts";
import { noRegistries } from "../../images/registries.ts";
import { DEBIAN_SOURCES, prepareToolbox } from "../../machine/toolbox.ts";
import { createSimulatedEngine } from "../../simulated/engine.ts";
import type { TaskProgress, TaskResult } from "../../wire/messages.ts";
import { TaskRunner } from "../runner.ts";
import { createSandbox } from "../sandbox.ts";
import { CLOUD_GATE } from "./gate.ts";
import type { CloudGate } from "./proxy.ts";
import type { CloudCopyAction } from "./settings.ts";

const run = promisify(execFile);

describe("copies between instances and cloud storage", () => {
  const layers = new Map<number, { readonly layerDirectory: string; readonly phase: "running" | "exited" }>();
  const volumes = new Map<number, string>();
  const sent: (TaskProgress | TaskResult)[] = [];
  const traffic = { receivedBytes: 0, sentBytes: 0 };
  /** Addresses of names besides that of the storage. */
  const names = new Map<string, readonly string[]>();
  let gate: CloudGate = CLOUD_GATE;
  let stateDir = "";
  let toolbox = "";
  let storage: S3Server;
  let runner: TaskRunner;

  before(async () => {
    stateDir = await mkdtemp(join(tmpdir(), "berth-clouds-"));
    storage = await startS3Server();
    const certificates = { places: [storage.certificateFile], packageName: "" };
    const prepared = await prepareToolbox({ stateDir, sources: { ...DEBIAN_SOURCES, certificates } });
    assert.ok(prepared.ok && prepared.toolbox.copiesToClouds, "these tests need rclone: apt-get install rclone");
    toolbox = prepared.toolbox.directory;
    const resolve = async (name: string) => (name === storage.name ? ["127.0.0.1"] : (names.get(name) ?? []));
    gate = { resolve, isAllowed: (address) => address === "127.0.0.1" };
    runner = new TaskRunner({
      clock: systemClock,
      engine: createSimulatedEngine({ clock: systemClock, random: () => 0.5 }),
      log: silentLog,
      sandbox: createSandbox({ stateDir, toolboxDirectory: toolbox }),
      findInstance: async (instanceId) => {
        const layer = layers.get(instanceId);
        if (layer === undefined) return { kind: "absent" };
        const names = { id: "c", name: "c", labels: {}, exitCode: null, startedAtMs: 0, finishedAtMs: null };
        return { kind: "present", container: { ...names, ports: [], network: null, ...layer }, mounts: [] };
      },
      awaitPlace: () => Promise.resolve(),
      dialTransfer: () => Promise.resolve({ ok: false, isFinal: true }),
      random: () => 0.5,
      volumeDirectory: (volumeId) => volumes.get(volumeId),
      agentLines: () => [],
      cloudGate: { resolve: (name) => gate.resolve(name), isAllowed: (address) => gate.isAllowed(address) },
      addTraffic: (_instanceId, { receivedBytes, sentBytes }) => {
        traffic.receivedBytes += receivedBytes;
        traffic.sentBytes += sentBytes;
      },
      guardImage: () => undefined,
      refuseRegistry: noRegistries,
      send: (message) => sent.push(message) > 0,
    });
  });
  after(async () => {
    runner.close();
    for (const { layerDirectory, phase } of layers.values()) {
      if (phase === "running") await run("umount", [join(layerDirectory, "merged")]);
    }
    await storage.close();
    await rm(stateDir, { recursive: true, force: true });
  });

  /** An instance on whose files a shell script has run, in its root. */
  const instance = async (script: string, state: "running" | "stopped"): Promise<number> => {
    const base = await mkdtemp(join(stateDir, "layers-"));
    const [lower, layerDirectory] = [join(base, "l/LOWER"), join(base, "id")];
    for (const folder of ["etc", "proc", "dev"]) await mkdir(join(lower, folder), { recursive: true });
    for (const folder of ["diff", "work", "merged"]) await mkdir(join(layerDirectory, folder), { recursive: true });
    await writeFile(join(layerDirectory, "lower"), "l/LOWER");
    const [merged, id] = [join(layerDirectory, "merged"), layers.size + 1];
    const dirs = `lowerdir=${lower},upperdir=${join(layerDirectory, "diff")},workdir=${join(layerDirectory, "work")}`;
    await run("mount", ["-t", "overlay", "-o", dirs, "overlay", merged]);
    layers.set(id, { layerDirectory, phase: "running" });
    await run("sh", ["-c", script], { cwd: merged });
    if (state === "stopped") {
      await run("umount", [merged]);
      layers.set(id, { layerDirectory, phase: "exited" });
    }
    return id;
  };
  const volume = async () => {
    const directory = await mkdtemp(join(stateDir, "volume-"));
    volumes.set(volumes.size + 1, directory);
    return [{ kind: "volume" as const, id: volumes.size, path: "/" }, directory] as const;
  };
  const begin = (over: Partial<CloudCopyAction> & Pick<CloudCopyAction, "place">): string => {
    const taskId = `task-${sent.length}-${Math.floor(systemClock.monotonicMs())}`;
    const action: CloudCopyAction = {
      ...{ type: "cloud_copy", isUpload: true, connection: "s3.3", cloudPath: `${storage.bucket}/out`, flags: [] },
      settings: { provider: "s3", ...storage.keys, endpoint: `https://${storage.name}:${storage.port}` },
      ...over,
    };
    runner.run({ kind: "task", taskId, action });
    return taskId;
  };
  const result = (taskId: string) =>
    until(taskId, () => sent.find((one) => one.kind === "task_result" && one.taskId === taskId)) as Promise<TaskResult>;
  const done = (over: Parameters<typeof begin>[0]) => result(begin(over));
  const at = (id: number, path: string) => ({ kind: "instance" as const, id, path });

  for (const state of ["running", "stopped"] as const) {
    it(`a folder of a ${state} instance goes to the storage and comes back`, async () => {
      const id = await instance("mkdir -p data/sub; echo kept > data/sub/file; ln -s /etc data/link", state);
      const cloudPath = `${storage.bucket}/${state}`;
      const there = await done({ place: at(id, "/data"), cloudPath });
      assert.ok(there.isSuccess, there.text);
      assert.match(there.text, /^copied 0\.0 MB in 1 files/);
      assert.equal(await storage.read(`${state}/sub/file`), "kept\n");
      const back = await done({ place: at(id, "/again"), isUpload: false, cloudPath });
      assert.ok(back.isSuccess, back.text);
      assert.ok(traffic.receivedBytes > 0 && traffic.sentBytes > 0, "traffic is counted");
      const listed = await done({ place: at(id, "/again"), cloudPath: `${storage.bucket}/${state}-2` });
      assert.ok(listed.isSuccess, listed.text);
      assert.equal(await storage.read(`${state}-2/sub/file`), "kept\n");
    });
  }

  it("a volume is copied to the storage and back, and a dry run copies nothing", async () => {
    const [place, directory] = await volume();
    await writeFile(join(directory, "weights"), "w".repeat(100_000));
    const dry = await done({ place, cloudPath: `${storage.bucket}/dry`, flags: ["--dry-run"] });
    assert.ok(dry.isSuccess, dry.text);
    assert.match(dry.text, /^a dry run: nothing was copied\n/);
    assert.equal(await storage.read("dry/weights"), undefined);
    assert.ok((await done({ place, cloudPath: `${storage.bucket}/volume` })).isSuccess);
    const [other, there] = await volume();
    const fetched = await done({ place: other, isUpload: false, cloudPath: `${storage.bucket}/volume` });
    assert.ok(fetched.isSuccess, fetched.text);
    assert.equal(await readFile(join(there, "weights"), "utf8"), "w".repeat(100_000));
  });

  it("wrong keys and missing buckets are told, without the keys", async () => {
    const [place, directory] = await volume();
    await writeFile(join(directory, "file"), "x");
    const settings = { provider: "s3", accessKey: "NOBODY", secretAccessKey: "canary-secret" } as const;
    const endpoint = `https://${storage.name}:${storage.port}`;
    const refused = await done({ place, settings: { ...settings, endpoint } });
    assert.equal(refused.isSuccess, false);
    assert.match(refused.text, /InvalidAccessKeyId|SignatureDoesNotMatch|Forbidden/);
    assert.doesNotMatch(refused.text, /NOBODY|canary/);
    const missing = await done({ place, cloudPath: "nowhere/x" });
    assert.equal(missing.isSuccess, false);
    assert.match(missing.text, /NoSuchBucket|bucket/i);
  });

  it("the host, its network and metadata are out of reach, by address, by name and by redirection", async () => {
    const [place, directory] = await volume();
    await writeFile(join(directory, "file"), "x");
    const allowed = gate;
    gate = { resolve: allowed.resolve, isAllowed: CLOUD_GATE.isAllowed };
    names.set("metadata.test", ["169.254.169.254"]);
    names.set("mapped.test", ["::ffff:127.0.0.1", "::1"]);
    const hosts = [storage.name, "metadata.test", "mapped.test", "10.0.0.8", "0x7f.1"];
    for (const host of hosts) {
      const settings = { provider: "s3", ...storage.keys, endpoint: `https://${host}:${storage.port}` } as const;
      const { isSuccess, text } = await done({ place, settings });
      assert.equal(isSuccess, false, host);
      assert.match(text, /leads into a private network|has no address/, `${host}: ${text}`);
    }
    // Go's client uses no proxy for this, and finds nothing on the sandbox's own loopback.
    const settings = { provider: "s3", ...storage.keys, endpoint: `https://127.0.0.1:${storage.port}` } as const;
    assert.equal((await done({ place, settings })).isSuccess, false);
    gate = allowed;
    assert.equal(await storage.read("out/file"), undefined);
  });

  it("links and devices of an instance lead to nothing of the host, read or written", async () => {
    await writeFile(join(stateDir, "secret"), "the host's own");
    const links = [`ln -s ${stateDir} out`, `ln -s ${stateDir}/secret leak`, "mknod disk b 254 0", "mkfifo pipe"];
    for (const state of ["running", "stopped"] as const) {
      const id = await instance(links.join("; "), state);
      for (const path of ["/out/secret", "/leak", "/disk", "/pipe", "/../../secret"]) {
        const { isSuccess } = await done({ place: at(id, path), cloudPath: `${storage.bucket}/stolen` });
        assert.equal(isSuccess, false, path);
      }
      await done({ place: at(id, "/out"), isUpload: false, cloudPath: `${storage.bucket}/volume` });
    }
    assert.equal(await storage.read("stolen/secret"), undefined);
    assert.equal(await readFile(join(stateDir, "secret"), "utf8"), "the host's own");
    await assert.rejects(readFile(join(stateDir, "weights")));
  });

  it("a cancelled copy ends at once", async () => {
    const [place, directory] = await volume();
    await writeFile(join(directory, "file"), "x");
    const allowed = gate;
    // A storage that never answers.
    gate = { resolve: () => new Promise(() => undefined), isAllowed: allowed.isAllowed };
    const taskId = begin({ place });
    await until("its start", () => sent.some((one) => one.kind === "task_progress" && one.taskId === taskId));
    runner.cancel(taskId);
    assert.deepEqual(await result(taskId).then((one) => [one.isSuccess, one.text]), [false, "it was cancelled"]);
    gate = allowed;
  });
});
