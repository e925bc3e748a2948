import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inventMachine } from "./machine.ts";

const invent = (number: number) =>
  inventMachine({
    host_key: `key-${number}`,
    number,
    public_ipaddr: "127.0.0.1",
    port_range: { first: 20_000, last: 29_999 },
  });
const many = Array.from({ length: 500 }, (_, index) => invent(index + 1));

describe("simulated machines", () => {
  it("are the same again after a restart", () => assert.deepEqual(invent(7), invent(7)));

  it("say that they are simulated", () => {
    assert.ok(
      many.every(({ machine }, index) => machine.is_simulated && machine.hostname === `simulated-${index + 1}`),
    );
  });

  it("are varied, and no two share a GPU", () => {
    assert.ok(new Set(many.map(({ gpus }) => gpus[0]?.name)).size >= 10);
    assert.ok(new Set(many.map(({ machine }) => machine.geolocation)).size >= 10);
    const uuids = many.flatMap(({ gpus }) => gpus.map((gpu) => gpu.uuid));
    assert.equal(new Set(uuids).size, uuids.length);
  });
});
