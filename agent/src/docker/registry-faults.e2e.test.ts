// A registry that misbehaves, as the real Docker Engine meets it.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { DOCKER_SOCKET, ensureDocker } from "../../../test/support/hosts/docker.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../base/clock.ts";
import type { PullProgress } from "../engine/engine.ts";
import { createDockerEngine } from "./engine.ts";

const MANIFEST = "application/vnd.docker.distribution.manifest.v2+json";
const TAR_BLOCK = 512;

type Fault = "corrupt" | "forbidden" | "stalls" | "broken";

function digestOf(data: Buffer): string {
  return `sha256:${createHash("sha256").update(data).digest("hex")}`;
}

describe("a registry that misbehaves", () => {
  const engine = createDockerEngine({ socketPath: DOCKER_SOCKET, clock: systemClock });
  // Two empty blocks are a whole archive; the rest makes each run's layer a new one to the engine.
  const tar = Buffer.concat([Buffer.alloc(2 * TAR_BLOCK), randomBytes(2 * TAR_BLOCK)]);
  const layer = gzipSync(tar);
  const config = Buffer.from(
    JSON.stringify({
      architecture: "amd64",
      os: "linux",
      config: {},
      rootfs: { type: "layers", diff_ids: [digestOf(tar)] },
      history: [],
    }),
  );
  const waiting: ServerResponse[] = [];
  let registry: Server;

  const manifest = () =>
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: {
        mediaType: "application/vnd.docker.container.image.v1+json",
        size: config.length,
        digest: digestOf(config),
      },
      layers: [
        {
          mediaType: "application/vnd.docker.image.rootfs.diff.tar.gzip",
          size: layer.length,
          digest: digestOf(layer),
        },
      ],
    });
  const answerLayer = (fault: Fault, response: ServerResponse) => {
    response.setHeader("content-length", layer.length);
    if (fault === "corrupt") return void response.end(Buffer.alloc(layer.length, 7));
    response.write(layer.subarray(0, 16));
    if (fault === "broken") return void response.destroy();
    waiting.push(response);
  };
  const pull = (fault: Fault, signal = new AbortController().signal) => {
    const { port } = registry.address() as AddressInfo;
    const progress: PullProgress[] = [];
    const image = `127.0.0.1:${port}/${fault}:latest`;
    return engine.pull({ image, auth: null, signal, onProgress: (seen) => progress.push(seen) });
  };

  before(async () => {
    await ensureDocker();
    registry = createServer((request, response) => {
      const [, fault, kind, name] = /^\/v2\/(\w+)\/(manifests|blobs)\/(.+)$/.exec(request.url ?? "") ?? [];
      if (kind === undefined) return void response.end("{}");
      if (fault === "forbidden") return void response.writeHead(403).end("{}");
      if (kind === "manifests") return void response.setHeader("content-type", MANIFEST).end(manifest());
      if (name === digestOf(config)) return void response.end(config);
      answerLayer(fault as Fault, response);
    });
    registry.listen(0, "127.0.0.1");
    await once(registry, "listening");
  });
  after(() => {
    registry.closeAllConnections();
    registry.close();
  });

  it("a layer with other bytes than promised is refused, and nothing of it is kept", async () => {
    const pulled = await pull("corrupt");
    assert.ok(!pulled.ok && pulled.failure.kind === "refused", JSON.stringify(pulled));
    assert.match(pulled.failure.message, /verification|digest|unexpected/i);
  });

  it("one that forbids is denied", async () => {
    const pulled = await pull("forbidden");
    assert.ok(!pulled.ok && pulled.failure.kind === "denied", JSON.stringify(pulled));
  });

  it("a pull that stands still ends at once when nobody wants it any more", async () => {
    const abort = new AbortController();
    const pulling = pull("stalls", abort.signal);
    await until("the pull to stand still", () => waiting.length > 0);
    abort.abort();
    const pulled = await pulling;
    assert.ok(!pulled.ok && pulled.failure.kind === "cancelled", JSON.stringify(pulled));
  });
});
