import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { busyboxImage, docker, DOCKER_SOCKET, removeLabelled } from "../../../test/support/hosts/docker.ts";
import { systemClock } from "../base/clock.ts";
import type { ContainerSpec } from "../engine/engine.ts";
import { createDockerEngine } from "./engine.ts";

const LABEL = "berth.mounts-test";
const IMAGE = "berth-test/with-volume:1";

describe("what a container is given of the host", () => {
  let folder = "";
  const engine = createDockerEngine({ socketPath: DOCKER_SOCKET, clock: systemClock });

  before(async () => {
    const base = await busyboxImage();
    await removeLabelled(LABEL, "1");
    folder = await mkdtemp(join(tmpdir(), "berth-mounts-"));
    const script = "mkdir /data && echo filled > /data/file && chown -R 7 /data";
    const made = await docker("run", "-d", "--label", `${LABEL}=1`, base, "sh", "-c", script);
    await docker("wait", made);
    const changes = ["VOLUME /data", "EXPOSE 8080", "EXPOSE 53/udp", 'CMD ["sleep","86400"]'];
    await docker("commit", ...changes.flatMap((change) => ["--change", change]), made, IMAGE);
  });
  after(async () => {
    engine.close();
    await removeLabelled(LABEL, "1");
    await docker("rmi", IMAGE);
    await rm(folder, { recursive: true, force: true });
  });

  it("an image says which volumes and ports it has", async () => {
    const found = await engine.findImage(IMAGE);
    assert.ok(found.ok && found.value);
    assert.deepEqual(found.value.volumes, ["/data"]);
    assert.deepEqual(
      found.value.exposedPorts.toSorted((a, b) => a.containerPort - b.containerPort),
      [
        { containerPort: 53, protocol: "udp" },
        { containerPort: 8080, protocol: "tcp" },
      ],
    );
  });

  it("its volume lives in the folder it is given, folders are shown, and the user is the one asked for", async () => {
    const directory = await mkdtemp(join(folder, "volume-"));
    const shared = await mkdtemp(join(folder, "shared-"));
    await writeFile(join(shared, "word"), "shown");
    const spec: ContainerSpec = {
      name: `berth-mounts-test-${process.pid}`,
      image: IMAGE,
      labels: { [LABEL]: "1" },
      env: [],
      entrypoint: null,
      command: null,
      hasInit: true,
      hostname: null,
      user: "7:8",
      network: "none",
      mounts: [{ source: shared, target: "/shared", isReadOnly: true }],
      imageVolumes: [{ directory, target: "/data" }],
      bindAddress: "127.0.0.1",
      ports: [],
      gpuUuids: [],
      cpuMillis: 0,
      memoryBytes: 0,
    };
    const created = await engine.create(spec);
    assert.ok(created.ok, JSON.stringify(created));
    const id = created.value;
    assert.ok((await engine.start(id)).ok);
    assert.equal(await docker("exec", id, "sh", "-c", "id -u; id -g; echo own > /data/own"), "7\n8");
    assert.deepEqual((await readdir(directory)).toSorted(), ["file", "own"]);
    assert.equal(await readFile(join(directory, "file"), "utf8"), "filled\n");
    assert.equal(await docker("exec", "-u", "0", id, "cat", "/shared/word"), "shown");
    await assert.rejects(docker("exec", "-u", "0", id, "touch", "/shared/more"), /Read-only file system/);
    const inspected = await engine.inspect(id);
    assert.ok(inspected.ok && inspected.value.network === null);
    const usage = await engine.usage(id);
    assert.deepEqual(usage.ok && [usage.value.receivedBytes, usage.value.sentBytes], [0, 0]);
    assert.ok((await engine.remove(id)).ok);
    assert.deepEqual((await readdir(directory)).toSorted(), ["file", "own"]);
  });
});
