import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fingerprintOf, readFingerprintFacts, type FingerprintFacts } from "./fingerprint.ts";

const facts: FingerprintFacts = {
  machineId: "0123456789abcdef0123456789abcdef",
  productUuid: "4C4C4544-0038-3510-8052-B4C04F595931",
  boardSerial: "CN7475163F0123",
  hostname: "rig-1",
};

describe("the fingerprint of a machine", () => {
  it("is the same under any host name and any spelling of its numbers, and fits the protocol", () => {
    const same = { ...facts, hostname: "rig-2", productUuid: `${facts.productUuid.toLowerCase()}\n` };
    assert.equal(fingerprintOf(same), fingerprintOf(facts));
    assert.match(fingerprintOf(facts), /^[0-9a-f]{64}$/);
  });

  for (const name of ["machineId", "productUuid", "boardSerial"] as const) {
    it(`is another one with another ${name}`, () => {
      assert.notEqual(fingerprintOf({ ...facts, [name]: "another" }), fingerprintOf(facts));
    });
  }

  it("takes a number that a maker has left blank for none", () => {
    const without = { ...facts, productUuid: "", boardSerial: "" };
    const blank = {
      ...facts,
      productUuid: "00000000-0000-0000-0000-000000000000",
      boardSerial: "To Be Filled By O.E.M.",
    };
    assert.equal(fingerprintOf(blank), fingerprintOf(without));
  });

  it("goes by the host name only where there is nothing else", () => {
    const nothing = { machineId: "", productUuid: "", boardSerial: "" };
    assert.notEqual(fingerprintOf({ ...nothing, hostname: "rig-1" }), fingerprintOf({ ...nothing, hostname: "rig-2" }));
  });

  it("is read from the system's files, what is root's only by root", () => {
    const root = mkdtempSync(join(tmpdir(), "berth-fingerprint-"));
    try {
      mkdirSync(join(root, "etc"));
      mkdirSync(join(root, "sys/class/dmi/id"), { recursive: true });
      writeFileSync(join(root, "etc/machine-id"), "abc\n");
      writeFileSync(join(root, "sys/class/dmi/id/product_uuid"), "def\n");
      const read = readFingerprintFacts({ root, isRoot: true });
      assert.deepEqual([read.machineId, read.productUuid, read.boardSerial], ["abc", "def", ""]);
      assert.equal(readFingerprintFacts({ root, isRoot: false }).productUuid, "");
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
