import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { busyboxImage, docker, DOCKER_SOCKET } from "../../../test/support/hosts/docker.ts";
import { freePort } from "../../../test/support/network/free-port.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../base/clock.ts";
import type { EngineFailure, PullProgress, Result } from "../engine/engine.ts";
import { noRegistries } from "../images/registries.ts";
import { takeSnapshot } from "../tasks/snapshot.ts";
import { createDockerEngine } from "./engine.ts";

describe("pulling from a registry", () => {
  let folder = "";
  let registry: ChildProcess | undefined;
  let address = "";
  const engine = createDockerEngine({ socketPath: DOCKER_SOCKET, clock: systemClock });
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
    await until("the registry", async () => (await fetch(`http://${address}/v2/`)).ok);
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
    const found = await engine.findImage(`${address}/app:1`);
    assert.ok(found.ok && found.value?.id.startsWith("sha256:"));
    for (const { receivedBytes, totalBytes } of progress) assert.ok(receivedBytes <= totalBytes);
  });

  it("an unknown tag and an unknown repository are not_found, in the registry's words", async () => {
    for (const image of [`${address}/app:2`, `${address}/does-not-exist:1`]) {
      const failure = failureOf((await pull(image)).result);
      assert.equal(failure.kind, "not_found");
      assert.match(failure.message, /not found|unknown/);
    }
  });

  it("a refusal of a registry is a failure of the kind denied, for pulls and pushes alike", async () => {
    const refusing = createHttpServer((_request, response) => {
      const errors = [{ code: "UNAUTHORIZED", message: "authentication required" }];
      response.writeHead(401, {
        "content-type": "application/json",
        "docker-distribution-api-version": "registry/2.0",
        "www-authenticate": 'Basic realm="private"',
      });
      response.end(JSON.stringify({ errors }));
    }).listen(0, "127.0.0.1");
    await once(refusing, "listening");
    const bound = refusing.address();
    assert.ok(typeof bound === "object" && bound !== null);
    const image = `127.0.0.1:${bound.port}/private/app:1`;
    assert.equal(failureOf((await pull(image)).result).kind, "denied");
    assert.ok((await engine.tagImage(await busyboxImage(), image)).ok);
    const signal = new AbortController().signal;
    const onProgress = () => undefined;
    const auth = { username: "somebody", password: "wrong", serveraddress: `127.0.0.1:${bound.port}` };
    assert.equal(failureOf(await engine.pull({ image, auth, signal, onProgress })).kind, "denied");
    assert.equal(failureOf(await engine.push({ image, auth: null, signal, onProgress })).kind, "denied");
    assert.ok((await engine.removeImage(image)).ok);
    refusing.closeAllConnections();
    refusing.close();
  });

  it("a login of any length and any characters comes to the registry as it was given", async (t) => {
    const heard = new Set<string>();
    const listening = createHttpServer((request, response) => {
      const [, login = ""] = /^Basic (.+)$/.exec(request.headers.authorization ?? "") ?? [];
      heard.add(Buffer.from(login, "base64").toString());
      response.writeHead(401, { "www-authenticate": 'Basic realm="private"' }).end("{}");
    }).listen(0, "127.0.0.1");
    t.after(() => {
      listening.closeAllConnections();
      listening.close();
    });
    await once(listening, "listening");
    const bound = listening.address();
    assert.ok(typeof bound === "object" && bound !== null);
    const serveraddress = `127.0.0.1:${bound.port}`;
    const image = `${serveraddress}/private/app:1`;
    const [signal, onProgress] = [new AbortController().signal, () => undefined];
    assert.ok((await engine.tagImage(await busyboxImage(), image)).ok);
    for (const username of ["a", "ab", "abc", "~~~???>>>", "schlüssel"]) {
      for (const call of ["pull", "push"] as const) {
        heard.clear();
        const auth = { username, password: "ÿþ?>", serveraddress };
        assert.equal(failureOf(await engine[call]({ image, auth, signal, onProgress })).kind, "denied");
        assert.ok(heard.has(`${username}:ÿþ?>`), `${call} ${username}: ${[...heard].join(", ")}`);
      }
    }
    assert.ok((await engine.removeImage(image)).ok);
  });

  it("a snapshot starts like the image it came from, with the files and without the secrets of the run", async () => {
    const run = ["--label", "berth.registry-test=1", "-e", "TOKEN=very-secret", "-e", "PATH=/elsewhere"];
    const script = ["/bin/sh", await busyboxImage(), "-c", "echo kept > /root/kept; exec /bin/sleep 1000"];
    const containerId = await docker("run", "-d", ...run, "--entrypoint", ...script);
    await until("the file", () => docker("exec", containerId, "/bin/cat", "/root/kept"));
    // A snapshot has the names of its container's labels.
    const images = () => docker("images", "-aq", "--filter", "label=berth.registry-test");
    assert.equal(await images(), "");
    const guarded: [string, boolean][] = [];
    const repository = `${address}/saved`;
    const action = {
      type: "snapshot",
      instanceId: 1,
      repository,
      tag: "1",
      registryAuth: null,
      isPaused: true,
    } as const;
    const guardImage = (imageId: string) => guarded.push([imageId, true]);
    const signal = new AbortController().signal;
    const seen: string[] = [];
    const input = { containerId, taskId: "one", signal, show: (text: string) => seen.push(text) };
    const taken = await takeSnapshot(
      { clock: systemClock, engine, guardImage, refuseRegistry: noRegistries },
      action,
      input,
    );
    assert.deepEqual(taken, { ok: true, value: `${repository}:1 is in the registry` });
    assert.equal(guarded.length, 1);
    assert.ok(seen.some((text) => /^pushing .* of \d+\.\d MB, \d+\.\d MB\/s$/.test(text)));
    assert.equal(await images(), "");
    assert.deepEqual((await pull(`${repository}:1`)).result, { ok: true, value: undefined });
    assert.notEqual(await images(), "");
    const config = await docker("image", "inspect", "-f", "{{json .Config}}", `${repository}:1`);
    assert.doesNotMatch(config, /very-secret|elsewhere/);
    const { Cmd, Entrypoint, Env, Labels } = JSON.parse(config);
    assert.deepEqual([Cmd, Entrypoint ?? []], [["sleep", "86400"], []]);
    assert.deepEqual([Env.toSorted(), Labels], [["PATH=/bin", "TOKEN="], { "berth.registry-test": "" }]);
    assert.equal(await docker("run", "--rm", `${repository}:1`, "cat", "/root/kept"), "kept");
    await docker("rm", "-f", containerId);
    await docker("rmi", `${repository}:1`);
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
