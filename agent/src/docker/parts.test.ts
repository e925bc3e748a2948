import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chooseApiVersion } from "./engine.ts";
import { JsonLines } from "./json-lines.ts";
import { LayerProgress } from "./pull.ts";
import { readContainer, readStats } from "./read.ts";

describe("reading Docker's answers", () => {
  it("the newest interface version that both sides know is used", () => {
    assert.equal(chooseApiVersion("1.41", "1.12"), "1.41");
    assert.equal(chooseApiVersion("1.99", "1.44"), "1.51");
    assert.equal(chooseApiVersion("1.99", "1.60"), "1.60");
  });

  it("lines are put together however the stream cuts them", () => {
    const seen: unknown[] = [];
    const lines = new JsonLines((value) => seen.push(value));
    for (const text of ['{"a":', "1}\n\n{", '"a":2}', "\nnot json\n", '{"a":3}']) lines.push(text);
    lines.end();
    assert.deepEqual(seen, [{ a: 1 }, { a: 2 }, { a: 3 }]);
  });

  it("the address and the folder of a running container are known only when the engine names them", () => {
    const now = "2026-01-01T00:00:00Z";
    const base = { Id: "x", Name: "/x", Config: { Labels: null }, HostConfig: {} };
    const State = { Status: "running", ExitCode: 0, StartedAt: now, FinishedAt: now };
    const Networks = { none: { IPAddress: "" }, own: { IPAddress: "172.30.0.2" } };
    const GraphDriver = { Name: "overlay2", Data: { UpperDir: "/var/lib/docker/overlay2/abc/diff" } };
    const whole = { ...base, State, NetworkSettings: { SandboxKey: "/run/netns/x", Networks }, GraphDriver };
    const seen = readContainer(whole);
    assert.deepEqual(seen?.network, { ipAddress: "172.30.0.2", namespacePath: "/run/netns/x" });
    assert.equal(seen.layerDirectory, "/var/lib/docker/overlay2/abc");
    const bare = readContainer({ ...whole, NetworkSettings: {}, GraphDriver: { Name: "btrfs", Data: null } });
    assert.deepEqual([bare?.network, bare?.layerDirectory], [null, null]);
    assert.equal(readContainer({ ...whole, State: { ...State, Status: "exited" } })?.network, null);
  });

  it("memory is told without files that can be given back, in both versions of control groups", () => {
    const reading = (parts: object) =>
      readStats({
        read: "2026-01-01T00:00:00.5Z",
        cpu_stats: { cpu_usage: { total_usage: 5 } },
        memory_stats: { usage: 1_000, stats: parts },
      });
    assert.equal(reading({ total_inactive_file: 400, inactive_file: 1 })?.memoryBytes, 600);
    assert.equal(reading({ inactive_file: 300 })?.memoryBytes, 700);
    assert.equal(reading({ inactive_file: 3_000 })?.memoryBytes, 0);
    assert.deepEqual(reading({})?.traffic, { receivedBytes: 0, sentBytes: 0 });
  });

  it("unpacking a layer does not count its bytes again, nor take them back", () => {
    const layers = new LayerProgress();
    layers.note("one", 60, 100);
    layers.note("one", 100, 100);
    layers.note("two", 10, 50);
    layers.note("one", 5, 100);
    assert.deepEqual(layers.sum(), { receivedBytes: 110, totalBytes: 150 });
  });

  it("an answer of unknown form is no container", () => {
    assert.equal(readContainer({ Id: "x" }), undefined);
    assert.equal(readContainer(null), undefined);
  });

  it("a time before the year 1970 means never", () => {
    const never = "0001-01-01T00:00:00Z";
    const container = readContainer({
      Id: "x",
      Name: "/berth-1-g1",
      Config: { Labels: null },
      State: { Status: "created", ExitCode: 0, StartedAt: never, FinishedAt: never },
      HostConfig: { PortBindings: { "80/tcp": [{ HostPort: "20001" }], "81/sctp": [{ HostPort: "20002" }] } },
    });
    assert.deepEqual(
      [container?.name, container?.phase, container?.startedAtMs, container?.exitCode, container?.ports],
      ["berth-1-g1", "created", null, null, [{ containerPort: 80, protocol: "tcp", hostPort: 20_001 }]],
    );
  });
});
