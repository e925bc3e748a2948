// A hostile renter, tried from inside a real container made by a real agent.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import type { DesiredInstance } from "../wire/messages.ts";
import { busyboxImage, docker } from "../../../test/support/hosts/docker.ts";
import { mountsBelow } from "../../../test/support/hosts/mounts.ts";
import { order } from "../../test/fixtures.ts";
import { RealAgent } from "../../test/real-agent.ts";

const run = promisify(execFile);
const MEMORY_BYTES = 256 * 2 ** 20;
const DISK_BYTES = 40_000_000;

describe("a hostile renter", () => {
  let agent: RealAgent;
  let image = "";
  let id = "";
  let neighbour = "";

  const rented = (instanceId: number, changes: Partial<DesiredInstance> = {}) =>
    order(instanceId, {
      image,
      command: { mode: "shell", onstart: null, jupyter: null },
      memoryBytes: MEMORY_BYTES,
      diskBytes: DISK_BYTES,
      ...changes,
    });
  /** Runs a shell line inside; returns its exit code and the text of both streams. */
  const inside = async (line: string, container = id): Promise<{ readonly code: number; readonly text: string }> => {
    try {
      const { stdout, stderr } = await run("docker", ["exec", container, "/bin/busybox", "sh", "-c", line]);
      return { code: 0, text: stdout + stderr };
    } catch (error) {
      assert.ok(error instanceof Error && "code" in error && "stdout" in error && "stderr" in error);
      return { code: Number(error.code), text: `${String(error.stdout)}${String(error.stderr)}` };
    }
  };
  const lives = async () => {
    assert.equal((await inside("echo here")).text.trim(), "here");
    assert.equal(await docker("inspect", "-f", "{{.State.Running}}", neighbour), "true");
  };

  before(async () => {
    image = await busyboxImage();
    agent = await RealAgent.start("tenant-e2e", ["--port-range", "27700-27720"]);
    agent.server.desire([rented(1), rented(2)]);
    await agent.server.untilState(1, "running");
    await agent.server.untilState(2, "running");
    id = await agent.containerOf(1);
    neighbour = await agent.containerOf(2);
  });
  after(() => agent.close());

  it("cannot make devices, mount, load, trace, enter new user namespaces or change the kernel", async () => {
    for (const line of [
      "busybox mknod /dev/disk b 8 0",
      "busybox mount -t tmpfs none /tmp",
      "busybox mount -o remount,rw /sys",
      "busybox mount -o remount,rw /proc/sys",
      "busybox unshare -r true",
      "busybox unshare -m true",
      "echo h > /proc/sysrq-trigger",
      "echo 1 > /proc/sys/kernel/panic",
      "echo 1 > /proc/sys/net/ipv6/conf/all/forwarding",
      "busybox head -c 1 /proc/kcore | busybox grep -q .",
      "busybox head -c 1 /dev/mem",
      "busybox dmesg",
      "busybox hostname other",
      "busybox ip link add dummy0 type dummy",
      "busybox insmod /nothing.ko",
      "busybox chroot /proc/1/root/../../.. ls /var/lib/docker",
    ]) {
      const { code, text } = await inside(line);
      assert.notEqual(code, 0, `${line}: ${text}`);
    }
  });

  it("sees neither the host's processes, files and sockets nor its neighbour's", async () => {
    const processes = (await inside("busybox ps -o comm")).text;
    assert.ok(!/dockerd|node|postgres/.test(processes), processes);
    for (const path of ["/var/run/docker.sock", "/run/docker.sock", agent.stateDir, "/var/lib/docker"]) {
      assert.notEqual((await inside(`ls ${path}`)).code, 0, path);
    }
    await inside("echo secret-of-two > /root/secret", neighbour);
    const { text } = await inside(
      "busybox grep -rl secret-of-two /root /tmp /home /proc/1/root/root 2>/dev/null; true",
    );
    assert.equal(text.trim(), "");
    assert.equal((await inside("busybox find / -xdev -name '*.img' 2>/dev/null; true")).text.trim(), "");
  });

  it("cannot write to the tools that the platform shows it", async () => {
    const { text } = await inside("test ! -e /.berth || ! touch /.berth/mine 2>/dev/null && echo safe");
    assert.equal(text.trim(), "safe");
  });

  it("fills its own disk and no other, in every folder", async () => {
    for (const target of ["/fill", "/tmp/fill", "/root/fill"]) {
      const { code, text } = await inside(`dd if=/dev/zero of=${target} bs=1000000 count=100`);
      assert.notEqual(code, 0);
      assert.match(text, /No space left on device/);
      await inside(`rm ${target}`);
    }
    assert.equal((await inside("dd if=/dev/zero of=/again bs=1000000 count=10 && rm /again")).code, 0);
    const [file = ""] = await readdir(join(agent.stateDir, "disks"));
    assert.ok((await stat(join(agent.stateDir, "disks", file))).size <= DISK_BYTES);
    await lives();
  });

  it("many files do not help", async () => {
    const { text } = await inside("i=0; while echo x > /tmp/f$i; do i=$((i+1)); done 2>/dev/null; echo stopped at $i");
    assert.match(text, /stopped at \d+/);
    await inside("for f in /tmp/f*; do echo $f; done | busybox xargs rm");
    await lives();
  });

  it("a memory bomb ends in its own container", async () => {
    const shared = await inside("dd if=/dev/zero of=/dev/shm/fill bs=1000000 count=500");
    assert.notEqual(shared.code, 0);
    await inside("rm -f /dev/shm/fill");
    const { code } = await inside("busybox tail /dev/zero");
    assert.equal(code, 137);
    await lives();
  });

  it("a fork bomb ends at the limit of processes", async () => {
    const line = "i=0; while [ $i -lt 3000 ]; do sleep 30 & i=$((i+1)); done";
    const { text } = await inside(line);
    assert.match(text, /can't fork|Resource temporarily unavailable/);
    assert.equal(await docker("inspect", "-f", "{{.State.Running}}", neighbour), "true");
    await inside("kill -9 -1");
    agent.server.desire([rented(1, { generation: 2 }), rented(2)]);
    await agent.server.untilState(1, "running", 2);
    await lives();
  });

  it("a flood of output does not fill the host's disk", async () => {
    agent.server.desire([
      rented(1, { generation: 2 }),
      rented(2),
      rented(3, {
        command: { mode: "entrypoint", entrypointShell: "head -c 60000000 /dev/zero | tr '\\0' x", args: null },
      }),
    ]);
    await agent.server.untilState(3, "exited");
    const log = await docker("inspect", "-f", "{{.LogPath}}", await agent.containerOf(3));
    const files = (await readdir(dirname(log))).filter((name) => name.includes("json.log"));
    const sizes = await Promise.all(files.map(async (name) => (await stat(join(dirname(log), name))).size));
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 45_000_000, sizes.join());
  });

  it("leaves nothing: no container, no disk, no mount", async () => {
    agent.server.desire([1, 2, 3].map((one) => rented(one, { generation: one === 1 ? 2 : 1, run: "absent" })));
    for (const one of [1, 2, 3]) await agent.server.untilState(one, "absent");
    for (const one of [1, 2, 3]) assert.equal(await agent.containerOf(one), "");
    assert.deepEqual(await mountsBelow(agent.stateDir), []);
    assert.deepEqual(await readdir(join(agent.stateDir, "disks")), []);
    const { stdout } = await run("losetup", ["--list", "--noheadings", "--output", "BACK-FILE"]);
    assert.ok(!stdout.includes(agent.stateDir), stdout);
  });
});
