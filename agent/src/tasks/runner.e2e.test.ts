import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import type { TaskAction, TaskProgress, TaskResult } from "../wire/messages.ts";
import { busyboxImage, docker, DOCKER_SOCKET, removeLabelled } from "../../../test/support/hosts/docker.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../base/clock.ts";
import { createDockerEngine } from "../docker/engine.ts";
import { silentLog } from "../base/log.ts";
import { noRegistries } from "../images/registries.ts";
import { NO_CLOUDS } from "./clouds/gate.ts";
import { TaskRunner } from "./runner.ts";
import { createSandbox } from "./sandbox.ts";

const execFileAsync = promisify(execFile);
const LABEL = "berth.task-test";
const RUN_ON = "while :; do sleep 1; done";

describe("tasks on real containers", () => {
  let stateDir = "";
  let toolbox = "";
  let image = "";
  let runner: TaskRunner;
  let count = 0;
  const engine = createDockerEngine({ socketPath: DOCKER_SOCKET, clock: systemClock });
  const containers = new Map<number, string>();
  const volumes = new Map<number, string>();
  const sent: (TaskProgress | TaskResult)[] = [];

  before(async () => {
    image = await busyboxImage();
    await removeLabelled(LABEL, "1");
    stateDir = await mkdtemp(join(tmpdir(), "berth-tasks-"));
    toolbox = join(stateDir, "toolbox");
    await mkdir(toolbox);
    await writeFile(join(toolbox, "busybox"), await readFile("/bin/busybox"), { mode: 0o755 });
    runner = new TaskRunner({
      clock: systemClock,
      engine,
      log: silentLog,
      sandbox: createSandbox({ stateDir, toolboxDirectory: toolbox }),
      findInstance: async (instanceId) => {
        const found = await engine.inspect(containers.get(instanceId) ?? "none");
        return found.ok ? { kind: "present", container: found.value, mounts: [] } : { kind: "absent" };
      },
      awaitPlace: () => Promise.resolve(),
      dialTransfer: () => Promise.resolve({ ok: false, isFinal: true }),
      random: () => 0.5,
      volumeDirectory: (volumeId) => volumes.get(volumeId),
      agentLines: () => [],
      cloudGate: NO_CLOUDS,
      addTraffic: () => undefined,
      guardImage: () => undefined,
      refuseRegistry: noRegistries,
      send: (message) => sent.push(message) > 0,
    });
  });
  after(async () => {
    runner.close();
    engine.close();
    await removeLabelled(LABEL, "1");
    await rm(stateDir, { recursive: true, force: true });
  });

  const begin = async (script: string): Promise<number> => {
    count += 1;
    const bind = `${toolbox}:/.berth:ro`;
    const id = await docker("run", "-d", "--label", `${LABEL}=1`, "--init", "-v", bind, image, "sh", "-c", script);
    containers.set(count, id);
    return count;
  };
  /** An instance whose script has ended, or one that still runs after it. */
  const instance = async (script: string, state: "running" | "stopped"): Promise<number> => {
    if (state === "running") {
      const running = await begin(`${script}; echo ready; ${RUN_ON}`);
      await until("the script", async () => (await docker("logs", containers.get(running) ?? "")).includes("ready"));
      return running;
    }
    const stopped = await begin(script);
    await docker("wait", containers.get(stopped) ?? "");
    return stopped;
  };
  const volume = async (): Promise<{ readonly id: number; readonly directory: string }> => {
    const directory = await mkdtemp(join(stateDir, "volume-"));
    volumes.set(volumes.size + 1, directory);
    return { id: volumes.size, directory };
  };
  const submit = (action: TaskAction): string => {
    const taskId = `task-${sent.length}-${Math.floor(systemClock.monotonicMs())}`;
    runner.run({ kind: "task", taskId, action });
    return taskId;
  };
  const result = (taskId: string): Promise<TaskResult> =>
    until(taskId, () => sent.find((one) => one.kind === "task_result" && one.taskId === taskId)) as Promise<TaskResult>;
  const done = (action: TaskAction) => result(submit(action));
  const execute = async (instanceId: number, ...argv: string[]) => done({ type: "execute", instanceId, argv });
  const place = (kind: "instance" | "volume", id: number, path: string) => ({ kind, id, path });
  const copy = async (source: ReturnType<typeof place>, destination: ReturnType<typeof place>) =>
    done({ type: "copy", source, destination });

  for (const state of ["running", "stopped"] as const) {
    describe(`on a ${state} instance`, () => {
      it("ls, du and rm work on its files, and what they complain about is told", async () => {
        const id = await instance("mkdir /made; echo x > /made/one; echo y > '/made/two words'", state);
        assert.deepEqual((await execute(id, "ls", "/made")).text, "one\ntwo words\n");
        assert.match((await execute(id, "du", "-s", "/made")).text, /^\d+\s+\/made\n$/);
        assert.equal((await execute(id, "rm", "/made/two words")).text, "");
        const seen = await execute(id, "ls", "/made", "/missing");
        assert.ok(seen.isSuccess);
        assert.match(seen.text, /one\n/);
        assert.match(seen.text, /\/missing: No such file or directory/);
      });

      it("there is no shell, no other program and no way around either", async () => {
        const id = await instance("true", state);
        for (const argv of [["sh", "-c", "ls"], ["/bin/ls"], ["ls;sh"], [""], ["cat", "/etc/passwd"]]) {
          assert.deepEqual(await execute(id, ...argv).then((one) => [one.isSuccess, one.text]), [
            false,
            "only ls, rm and du can be run",
          ]);
        }
        assert.match((await execute(id, "ls", "$(touch /run-by-shell)", "; ls /")).text, /No such file/);
        assert.match((await execute(id, "ls", "a\0b")).text, /zero character/);
        assert.doesNotMatch((await execute(id, "ls", "/")).text, /run-by-shell/);
      });

      it("output without end is cut off", async () => {
        const id = await instance(
          "mkdir /many; cd /many; for a in $(seq 3000); do echo > $a-$(printf %0200d 1); done",
          state,
        );
        const { text, isSuccess } = await execute(id, "ls", "-l", "/many");
        assert.ok(isSuccess);
        assert.match(text, /cut off\)$/);
        assert.ok(text.length < 600_000);
      });

      it("a folder goes to a volume and back, with owners, modes, links and times", async () => {
        const make = ["mkdir -p /data/sub", "echo kept > /data/sub/file", "chmod 640 /data/sub/file"];
        const more = ["chown 12:34 /data/sub/file", "ln -s sub/file /data/link", "ln /data/sub/file /data/hard"];
        const id = await instance([...make, ...more].join(" && "), state);
        const target = await volume();
        const there = await copy(place("instance", id, "/data"), place("volume", target.id, "/backup"));
        assert.match(there.text, /^copying: /);
        assert.ok(there.isSuccess);
        const file = await stat(join(target.directory, "backup/data/sub/file"));
        assert.deepEqual([file.uid, file.gid, file.mode & 0o7777, file.nlink], [12, 34, 0o640, 2]);
        const back = await copy(place("volume", target.id, "/backup/data/"), place("instance", id, "/again"));
        assert.ok(back.isSuccess, back.text);
        const listed = (await execute(id, "ls", "-ln", "/again", "/again/sub")).text;
        assert.match(listed, /link -> sub\/file/);
        assert.match(listed, /-rw-r----- +2 12 +34 +5 .* file/);
      });

      it("all of an instance goes to a volume, without the folders that the system fills", async () => {
        const id = await instance("mkdir /made; echo kept > /made/file; echo hidden > /.hidden", state);
        const target = await volume();
        const copied = await copy(place("instance", id, "/"), place("volume", target.id, "/all/"));
        assert.ok(copied.isSuccess, copied.text);
        const names = await readdir(join(target.directory, "all"));
        for (const name of ["made", ".hidden", "bin"]) assert.ok(names.includes(name), names.join(" "));
        for (const name of ["proc", "sys", "dev", ".berth"]) assert.ok(!names.includes(name), name);
        assert.equal(await readFile(join(target.directory, "all/made/file"), "utf8"), "kept\n");
      });

      it("a file gets the name it is given, or goes into the folder that is there", async () => {
        const from = await volume();
        await writeFile(join(from.directory, "one"), "1");
        const id = await instance("mkdir /folder", state);
        const source = place("volume", from.id, "/one");
        for (const path of ["/renamed", "/folder", "/new/folder/"]) {
          const copied = await copy(source, place("instance", id, path));
          assert.ok(copied.isSuccess, copied.text);
        }
        for (const path of ["/renamed", "/folder/one", "/new/folder/one"]) {
          assert.equal((await execute(id, "ls", path)).text, `${path}\n`);
        }
        assert.equal((await execute(id, "ls", "-A", "/new")).text, "folder\n");
      });

      it("a copy within one instance works as well", async () => {
        const id = await instance("mkdir -p /a/b; echo 1 > /a/b/c", state);
        for (const [from, to] of [
          ["/a/", "/contents"],
          ["/a", "/folder"],
          ["/a/b/c", "/file"],
        ] as const) {
          assert.ok((await copy(place("instance", id, from), place("instance", id, to))).isSuccess);
        }
        for (const path of ["/contents/b/c", "/folder/a/b/c", "/file"]) {
          assert.equal((await execute(id, "ls", path)).text, `${path}\n`);
        }
      });

      it("links in a hostile tree take a copy nowhere else, and no file of the host comes along", async () => {
        const hostDir = await mkdtemp(join(stateDir, "host-"));
        await writeFile(join(hostDir, "secret"), "host");
        const id = await instance(`ln -s ${hostDir} /link; ln -s / /top`, state);
        const target = await volume();
        await symlink(hostDir, join(target.directory, "link"));
        await writeFile(join(target.directory, "one"), "1");
        await copy(place("volume", target.id, "/one"), place("instance", id, "/link/"));
        await copy(place("instance", id, "/bin/busybox"), place("volume", target.id, "/link/"));
        await copy(place("instance", id, "/bin/busybox"), place("volume", target.id, `../../../../${hostDir}/`));
        assert.deepEqual(await readdir(hostDir), ["secret"]);
        const stolen = await copy(
          place("instance", id, `/top${hostDir}/secret`),
          place("volume", target.id, "/stolen"),
        );
        assert.ok(!stolen.isSuccess);
        assert.match(stolen.text, /there is nothing to copy at/);
      });

      it("a missing file is reported", async () => {
        const id = await instance("true", state);
        const target = await volume();
        const nothing = await copy(place("instance", id, "/nothing"), place("volume", target.id, "/"));
        assert.deepEqual([nothing.isSuccess, nothing.text], [false, "there is nothing to copy at /nothing"]);
        const gone = await copy(place("instance", 999_999, "/"), place("volume", target.id, "/"));
        assert.deepEqual([gone.isSuccess, gone.text], [false, "the instance has no container on this host"]);
        const lost = await copy(place("instance", id, "/"), place("volume", 999_999, "/"));
        assert.deepEqual([lost.isSuccess, lost.text], [false, "the volume is not on this host"]);
      });

      it("a full disk ends the copy with its reason", async () => {
        const id = await instance("dd if=/dev/zero of=/big bs=1048576 count=8", state);
        const target = await volume();
        await execFileAsync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", target.directory]);
        try {
          for (const path of ["/", "/renamed"]) {
            const full = await copy(place("instance", id, "/big"), place("volume", target.id, path));
            assert.ok(!full.isSuccess);
            assert.match(full.text, /No space left on device/);
          }
        } finally {
          await execFileAsync("umount", [target.directory]);
        }
      });
    });
  }

  it("files go from a running to a stopped instance, and a copy in full flow can be cancelled", async () => {
    const from = await instance("mkdir /data; dd if=/dev/zero of=/data/big bs=1048576 count=300", "running");
    const to = await instance("true", "stopped");
    const action: TaskAction = {
      type: "copy",
      source: place("instance", from, "/data/"),
      destination: place("instance", to, "/data"),
    };
    const cancelled = submit(action);
    await until("progress", () => sent.some((one) => one.kind === "task_progress" && one.taskId === cancelled));
    runner.cancel(cancelled);
    assert.deepEqual(await result(cancelled).then((one) => [one.isSuccess, one.text]), [false, "it was cancelled"]);
    assert.doesNotMatch(await docker("top", containers.get(from) ?? ""), /tar/);
    assert.ok((await done(action)).isSuccess);
    assert.match((await execute(to, "ls", "-l", "/data")).text, /314572800 .* big/);
  });

  it("who starts an instance gets its files back at once", async () => {
    const from = await volume();
    await writeFile(join(from.directory, "endless"), "");
    const id = await instance("mkdir /data; dd if=/dev/zero of=/data/big bs=1048576 count=300", "stopped");
    const underWay = submit({
      type: "copy",
      source: place("instance", id, "/data"),
      destination: place("volume", from.id, "/"),
    });
    await until("progress", () => sent.some((one) => one.kind === "task_progress" && one.taskId === underWay));
    await runner.vacate(id);
    assert.deepEqual(await result(underWay).then((one) => [one.isSuccess, one.text]), [
      false,
      "the instance is being started or removed",
    ]);
  });

  it("without the platform's programs in a running instance nothing is run", async () => {
    count += 1;
    containers.set(count, await docker("run", "-d", "--label", `${LABEL}=1`, image, "sleep", "1000"));
    const { text, isSuccess } = await execute(count, "ls", "/");
    assert.deepEqual([isSuccess, text], [false, "the platform's own programs are missing in the instance; restart it"]);
  });

  it("logs are those of the container, by words and by number, also after its end", async () => {
    const instanceId = await instance("for a in 1 2 3; do echo line $a; done; echo other >&2", "stopped");
    const logs = { type: "logs", instanceId, tailLines: 2, filter: "line", isAgentLog: false } as const;
    assert.equal((await done(logs)).text, "line 2\nline 3\n");
  });
});
