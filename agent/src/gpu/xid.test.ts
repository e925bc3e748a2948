import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseRecord } from "./kernel-log.ts";
import { classifyXid, isDriverLoad, parseXid } from "./xid.ts";

const kindOf = (code: number, text = "") => classifyXid({ bus: "0000:01:00", code, text }).kind;

describe("events of the driver in the kernel log", () => {
  it("are read in every form that drivers have printed them in", () => {
    for (const [line, bus, code] of [
      [
        "NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        "0000:01:00",
        79,
      ],
      ["NVRM: Xid (PCI:0000:1B:00): 31, pid=1896, name=python3, Ch 00000008, intr 00000000", "0000:1b:00", 31],
      ["NVRM: Xid (0000:03:00): 14, Channel 00000001", "0000:03:00", 14],
      ["NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08", "0018:01:00", 149],
      ["NVRM: Xid (PCI:0000:00:1e.0): 79", "0000:00:1e", 79],
    ] as const) {
      const xid = parseXid(line);
      assert.deepEqual([xid?.bus, xid?.code], [bus, code], line);
    }
  });

  it("other lines are none, also those that only quote one", () => {
    for (const line of [
      "NVRM: GPU at PCI:0000:01:00: GPU-c0ffee00-1234-4321-abcd-0123456789ab",
      "somebody wrote: NVRM: Xid (PCI:0000:01:00): 79, off the bus",
      "NVRM: Xid (PCI:0000:01:00): , nothing",
      "",
    ]) {
      assert.equal(parseXid(line), undefined, line);
    }
  });

  it("faults of the board take it off the market", () => {
    for (const code of [46, 48, 62, 63, 64, 74, 79, 94, 95, 109, 119, 120, 140, 143, 158]) {
      assert.equal(kindOf(code), "fatal", String(code));
    }
  });

  it("a mistake of a renter's own program never does", () => {
    for (const code of [8, 13, 31, 32, 43, 44, 45, 68, 69, 137])
      assert.equal(kindOf(code), "application", String(code));
  });

  it("corrected errors, tests and codes of newer drivers are only noted", () => {
    for (const code of [14, 92, 106, 121, 999]) assert.equal(kindOf(code), "noted", String(code));
  });

  it("links of the fifth generation say themselves whether it is fatal", () => {
    assert.equal(kindOf(149, "NETIR_LINK_EVT  Fatal   XC0 i0 Link 08"), "fatal");
    assert.equal(kindOf(145, "RLW_CTRL Nonfatal XC1 i0 Link 00"), "noted");
    assert.equal(kindOf(145, "RLW_CTRL Non-fatal XC1 i0 Link 00"), "noted");
  });

  it("an action that the driver asks for afterwards counts, unless it asks for none", () => {
    const asked = (text: string) => classifyXid({ bus: "", code: 154, text });
    assert.deepEqual(asked("GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"), {
      kind: "fatal",
      meaning: "the driver asks for: Node Reboot Required",
    });
    assert.equal(asked("GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)").kind, "noted");
  });

  it("knows the start of the driver, the open one too", () => {
    for (const line of [
      "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023",
      "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build",
    ]) {
      assert.ok(isDriverLoad(line));
    }
    assert.ok(!isDriverLoad("nvidia: loading out-of-tree module taints kernel."));
  });
});

describe("records of the kernel log", () => {
  it("carry their number and text", () => {
    assert.deepEqual(parseRecord("4,812,98234567,-;NVRM: Xid (PCI:0000:01:00): 79\n SUBSYSTEM=pci\n"), {
      sequence: 812,
      text: "NVRM: Xid (PCI:0000:01:00): 79",
    });
  });

  it("that a program wrote are not the kernel's", () => {
    assert.equal(parseRecord("12,813,98234999,-;NVRM: Xid (PCI:0000:01:00): 79"), undefined);
    assert.equal(parseRecord("no record"), undefined);
  });
});
