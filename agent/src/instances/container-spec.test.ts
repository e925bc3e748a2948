import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { order } from "../../test/fixtures.ts";
import { buildContainerSpec, buildEnvironment } from "./container-spec.ts";
import { parseImageReference } from "../images/image-reference.ts";
import { launchOf } from "./launch.ts";
import { choosePorts, portKey, releasePorts } from "./ports.ts";
import { describePull, measurePull } from "../images/pull-progress.ts";

const context = {
  hostKey: "here",
  publicIpaddr: "203.0.113.9",
  bindAddress: "0.0.0.0",
  cpuCores: 4,
  realGpuUuids: new Set(["GPU-a"]),
};

const provision = {
  ...{ image: "example/app", imageId: "sha256:1", network: null, relayUrl: undefined },
  ...{ mounts: [], imageVolumes: [] },
};

describe("a container's recipe", () => {
  it("the host's own variables win over those of a renter", () => {
    const env: [string, string][] = [
      ["NVIDIA_VISIBLE_DEVICES", "all"],
      ["GPU_COUNT", "99"],
      ["MINE", "a=b c"],
    ];
    const given = order(1, { env, gpuUuids: ["GPU-a", "declared-x-0"] });
    const built = new Map(buildEnvironment(given, [], { publicIpaddr: "203.0.113.9", relayUrl: undefined }));
    assert.deepEqual(Object.fromEntries(built), {
      NVIDIA_VISIBLE_DEVICES: "void",
      GPU_COUNT: "2",
      MINE: "a=b c",
      PUBLIC_IPADDR: "203.0.113.9",
    });
  });

  it("says where the server is reached, unless the order says it", () => {
    const host = { publicIpaddr: "203.0.113.9", relayUrl: "http://172.18.0.1:18432" };
    const find = (env: [string, string][]) => {
      const built = new Map(buildEnvironment(order(1, { env }), [], host));
      return [built.get("REPORT_ADDR"), built.get("VAST_API_URL")];
    };
    assert.deepEqual(find([]), [host.relayUrl, host.relayUrl]);
    assert.deepEqual(find([["REPORT_ADDR", "https://a.example"]]), ["https://a.example", host.relayUrl]);
    const silent = buildEnvironment(order(1), [], { ...host, relayUrl: undefined });
    assert.ok(!silent.some(([name]) => name === "REPORT_ADDR" || name === "VAST_API_URL"));
  });

  it("an identity port is the same number on both sides, under the variable of the number asked for", () => {
    const request = { containerPort: 70_001, protocol: "udp" as const };
    const binding = { containerPort: 20_007, protocol: "udp" as const, hostPort: 20_007 };
    const spec = buildContainerSpec(order(1), [{ request, binding }], context, provision);
    assert.deepEqual(spec.ports, [binding]);
    assert.ok(spec.env.some(([name, value]) => name === "VAST_UDP_PORT_70001" && value === "20007"));
  });

  it("only devices that exist are passed, and no more processors than there are", () => {
    const spec = buildContainerSpec(
      order(1, { gpuUuids: ["GPU-a", "declared-x-0"], cpuMillis: 64_000 }),
      [],
      context,
      provision,
    );
    assert.deepEqual([spec.gpuUuids, spec.cpuMillis], [["GPU-a"], 4_000]);
  });

  it("entrypoint mode keeps the image's entrypoint unless it is overridden; shell mode replaces it", () => {
    const kept = launchOf({ mode: "entrypoint", entrypointShell: null, args: ["--port", "80"] });
    assert.deepEqual(kept, { entrypoint: null, command: ["--port", "80"], hasInit: false });
    const overridden = launchOf({ mode: "entrypoint", entrypointShell: "exec app", args: null });
    assert.deepEqual(overridden.entrypoint?.slice(0, 3), ["/bin/sh", "-c", "exec app"]);
    const shell = launchOf({
      mode: "shell",
      onstart: "echo $HOME 'x'",
      jupyter: { token: "", directory: null, isLab: false },
    });
    assert.deepEqual(shell.entrypoint?.slice(-5), ["shell jupyter", "echo $HOME 'x'", "", "", "notebook"]);
  });
});

describe("external ports", () => {
  const range = { first: 20_000, last: 20_009 };
  const everything = { range, isTaken: () => false, isFree: () => Promise.resolve(true) };

  it("are distinct, in range and not taken, for any draw", async () => {
    const requests = fc.array(
      fc.record({
        containerPort: fc.integer({ min: 1, max: 999_999 }),
        protocol: fc.constantFrom("tcp" as const, "udp" as const),
      }),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(requests, fc.double({ min: 0, max: 1, noNaN: true }), async (wanted, drawn) => {
        const reserved = new Set<string>();
        const isTaken = (key: string) => key.startsWith("20003/");
        const chosen = await choosePorts({ ...everything, isTaken, requests: wanted, reserved, random: () => drawn });
        const needed = Math.max(
          ...["tcp", "udp"].map((one) => wanted.filter(({ protocol }) => protocol === one).length),
        );
        assert.equal(chosen === undefined, needed > 9);
        const keys = (chosen ?? []).map(({ binding }) => portKey(binding.hostPort, binding.protocol));
        assert.equal(new Set(keys).size, keys.length);
        assert.ok(!keys.some((key) => key.startsWith("20003/")));
        releasePorts(chosen ?? [], reserved);
        assert.equal(reserved.size, 0);
      }),
    );
  });

  it("two choices at once never give out the same port", async () => {
    const reserved = new Set<string>();
    const requests = [{ containerPort: 80, protocol: "tcp" as const }];
    const isFree = async () => {
      await Promise.resolve();
      return true;
    };
    const both = await Promise.all(
      [0, 0].map((drawn) => choosePorts({ ...everything, isFree, requests, reserved, random: () => drawn })),
    );
    const ports = both.map((chosen) => chosen?.[0]?.binding.hostPort);
    assert.equal(new Set(ports).size, 2);
  });
});

describe("names and texts around an image", () => {
  for (const [image, repository, tag] of [
    ["busybox", "busybox", "latest"],
    ["busybox:1.36", "busybox", "1.36"],
    ["localhost:5000/team/app", "localhost:5000/team/app", "latest"],
    ["localhost:5000/team/app:2", "localhost:5000/team/app", "2"],
    ["app:2@sha256:abc", "app", "sha256:abc"],
  ] as const) {
    it(`${image} is ${tag} of ${repository}`, () => assert.deepEqual(parseImageReference(image), { repository, tag }));
  }

  it("a pull is told in megabytes and a rate", () => {
    const progress = { receivedBytes: 12_300_000, totalBytes: 40_100_000 };
    assert.equal(describePull("busybox", progress, 1_500), "pulling busybox: 12.3 of 40.1 MB, 8.2 MB/s");
    assert.equal(describePull("busybox", { receivedBytes: 0, totalBytes: 0 }, 0), "pulling busybox");
    assert.deepEqual(measurePull(progress, 1_500), {
      doneBytes: progress.receivedBytes,
      totalBytes: progress.totalBytes,
      bytesPerSecond: Math.round(progress.receivedBytes / 1.5),
    });
    assert.equal(measurePull({ receivedBytes: 0, totalBytes: 0 }, 1_500), undefined);
  });
});
