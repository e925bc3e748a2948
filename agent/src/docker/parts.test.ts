import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chooseApiVersion } from "./engine.ts";
import { JsonLines } from "./json-lines.ts";
import { LayerProgress } from "./pull.ts";
import { readContainer } from "./read.ts";

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

  it("unpacking a layer does not count its bytes again, nor take them back", () => {
    const layers = new LayerProgress();
    layers.note("one", 60, 100);
    layers.note("one", 100, 100);
    layers.note("two", 10, 50);
    layers.note("one", 5, 100);
    assert.deepEqual(layers.sum(), { received_bytes: 110, total_bytes: 150 });
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
      [container?.name, container?.phase, container?.started_at_ms, container?.exit_code, container?.ports],
      ["berth-1-g1", "created", null, null, [{ container_port: 80, protocol: "tcp", host_port: 20_001 }]],
    );
  });
});
