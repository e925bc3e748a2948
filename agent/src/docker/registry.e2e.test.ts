import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { busyboxImage, docker, DOCKER_SOCKET } from "../../../test/support/docker.ts";
import { systemClock } from "../clock.ts";
import type { EngineFailure, PullProgress, Result } from "../engine.ts";
import { createDockerEngine } from "./engine.ts";

describe("pulling from a registry", () => {
  let folder = "";
  let registry: ChildProcess | undefined;
  let address = "";
  const engine = createDockerEngine({ socket_path: DOCKER_SOCKET, clock: systemClock });
  const pull = async (image: string): Promise<{ result: Result<void>; progress: PullProgress[] }> => {
    const progress: PullProgress[] = [];
    const signal = new AbortController().signal;
    const result = await engine.pull({ image, auth: null, signal, onProgress: (one) => progress.push(one) });
    return { result, progress };
  };

  before(async () => {
    const image = await busyboxImage();
    folder = await mkdtemp(join(tmpdir(), "berth-registry-"));
    address = `127.0.0.1:${await freePort()}`;
    const config = `version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: ${folder}/data}}\nhttp: {addr: ${address}}\n`;
    await writeFile(join(folder, "config.yml"), config);
    registry = spawn("docker-registry", ["serve", join(folder, "config.yml")], { stdio: "ignore" });
    await answers(`http://${address}/v2/`);
    await docker("tag", image, `${address}/app:1`);
    await docker("push", "-q", `${address}/app:1`);
    await docker("rmi", `${address}/app:1`);
  });
  after(async () => {
    engine.close();
    await docker("rmi", `${address}/app:1`).catch(() => undefined);
    if (registry && registry.exitCode === null) {
      const exited = once(registry, "exit");
      registry.kill("SIGTERM");
      await exited;
    }
    await rm(folder, { recursive: true, force: true });
  });

  it("a missing image comes with its bytes counted, and is present afterwards", async () => {
    const { result, progress } = await pull(`${address}/app:1`);
    assert.deepEqual(result, { ok: true, value: undefined });
    assert.deepEqual(await engine.hasImage(`${address}/app:1`), { ok: true, value: true });
    for (const { received_bytes, total_bytes } of progress) assert.ok(received_bytes <= total_bytes);
  });

  it("an unknown tag and an unknown repository are not_found, in the registry's words", async () => {
    for (const image of [`${address}/app:2`, `${address}/does-not-exist:1`]) {
      const failure = failureOf((await pull(image)).result);
      assert.equal(failure.kind, "not_found");
      assert.match(failure.message, /not found|unknown/);
    }
  });

  it("a registry that does not answer is refused with the reason", async () => {
    const failure = failureOf((await pull("127.0.0.1:1/app:1")).result);
    assert.equal(failure.kind, "refused");
    assert.match(failure.message, /connection refused/);
  });
});

function failureOf(result: Result<void>): EngineFailure {
  assert.ok(!result.ok);
  return result.failure;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  server.close();
  await once(server, "close");
  assert.ok(typeof bound === "object" && bound !== null);
  return bound.port;
}

async function answers(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (
      await fetch(url).then(
        (response) => response.ok,
        () => false,
      )
    )
      return;
    await systemClock.sleep(50);
  }
  throw new Error(`nothing answers at ${url}`);
}
