import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inventMachine } from "./machine.ts";

const invent = (number: number) =>
  inventMachine({
    hostKey: `key-${number}`,
    number,
    publicIpaddr: "127.0.0.1",
    portRange: { first: 20_000, last: 29_999 },
  });
const many = Array.from({ length: 500 }, (_, index) => invent(index + 1));

describe("simulated machines", () => {
  it("are the same again after a restart", () => assert.deepEqual(invent(7), invent(7)));

  it("say that they are simulated", () => {
    assert.ok(many.every(({ machine }, index) => machine.isSimulated && machine.hostname === `simulated-${index + 1}`));
  });

  it("are varied, and no two share a GPU", () => {
    assert.ok(new Set(many.map(({ gpus }) => gpus[0]?.name)).size >= 25);
    assert.ok(new Set(many.map(({ machine }) => machine.geolocation)).size >= 25);
    const uuids = many.flatMap(({ gpus }) => gpus.map((gpu) => gpu.uuid));
    assert.equal(new Set(uuids).size, uuids.length);
  });

  it("have as many GPUs as machines of a market: mostly few, some odd numbers, and eight on boards made for it", () => {
    const counts = many.map(({ gpus }) => gpus.length);
    const share = (is: (count: number) => boolean) => counts.filter(is).length / counts.length;
    assert.ok(share((count) => count === 1) > 0.2);
    assert.ok(share((count) => count > 1 && count % 2 === 1) > 0.02);
    assert.ok(share((count) => count >= 8) > 0.1);
    const boarded = many.filter(({ gpus }) => /SXM|H200|B200/.test(gpus[0]?.name ?? ""));
    assert.ok(boarded.filter(({ gpus }) => gpus.length === 8).length > boarded.length / 2);
  });

  it("carry GPUs that their boards have room for, with drivers that know them", () => {
    for (const { machine, gpus } of many) {
      const [gpu] = gpus;
      assert.ok(gpu !== undefined);
      assert.ok(machine.cpuCores >= gpus.length && machine.memoryBytes >= gpus.length * 2 ** 30, machine.hostname);
      assert.ok(gpu.computeCap < 1000 || machine.cudaMaxGood >= 12.8, `${gpu.name} ${machine.cudaMaxGood}`);
      assert.match(machine.geolocation, /^[A-Z][A-Za-z ]+, [A-Z]{2}$/);
    }
  });

  it("have the newest CUDA in the first of them, so that a market of one is found by those who need it", () => {
    const newest = Math.max(...many.map(({ machine }) => machine.cudaMaxGood));
    for (let index = 0; index < 50; index += 1) {
      const { machine } = inventMachine({
        ...{ hostKey: `other-${index}`, number: 1, publicIpaddr: "127.0.0.1" },
        portRange: { first: 20_000, last: 29_999 },
      });
      assert.equal(machine.cudaMaxGood, newest);
    }
  });

  it("have the number of GPUs that is asked for", () => {
    const base = { hostKey: "key", number: 1, publicIpaddr: "127.0.0.1", portRange: { first: 1, last: 2 } };
    assert.equal(inventMachine({ ...base, gpuCount: 8 }).gpus.length, 8);
  });
});
