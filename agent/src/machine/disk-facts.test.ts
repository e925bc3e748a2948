import assert from "node:assert/strict";
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { systemClock } from "../base/clock.ts";
import { offerableBytes, parseSpeed, readDisk, splitDevice, tenantBytes } from "./disk-facts.ts";

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "berth-disk-"));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

describe("the disk of a machine", () => {
  it("is measured once a day, and leaves nothing but the figure", async (t) => {
    const stateDir = join(folder(t), "state");
    const noon = { ...systemClock, now: () => new Date("2026-03-01T12:00:00Z") };
    const first = await readDisk(stateDir, noon);
    assert.ok(first.bytes > 0 && first.mbPerS >= 1);
    const kept = join(stateDir, "disk-speed.json");
    // A file system without direct access is not measured, and nothing is kept of it.
    if (!readdirSync(stateDir).includes("disk-speed.json")) return assert.equal(first.mbPerS, 100);
    assert.deepEqual(readdirSync(stateDir), ["disk-speed.json"]);
    // A measurement has no fraction, so that none is taken for this figure.
    writeFileSync(kept, JSON.stringify({ ...JSON.parse(readFileSync(kept, "utf8")), mb_per_s: 7.5 }));
    assert.equal((await readDisk(stateDir, noon)).mbPerS, 7.5);
    const tomorrow = { ...systemClock, now: () => new Date("2026-03-02T12:00:00Z") };
    assert.notEqual((await readDisk(stateDir, tomorrow)).mbPerS, 7.5);
  });

  it("space that renters hold already stays in the offer", async (t) => {
    const stateDir = folder(t);
    assert.equal(await tenantBytes(stateDir), 0);
    for (const name of ["disks", "volumes", "mounts"]) {
      mkdirSync(join(stateDir, name));
      const file = openSync(join(stateDir, name, "1.img"), "w");
      ftruncateSync(file, 1_000_000_000);
      writeSync(file, Buffer.alloc(4 * 1024 * 1024, 1));
      fsyncSync(file);
      closeSync(file);
    }
    const bytes = await tenantBytes(stateDir);
    assert.ok(bytes >= 2 * 4 * 1024 * 1024 && bytes < 20_000_000, `${bytes} bytes of two sparse files`);
  });

  it("keeps a tenth, and no more than 20 GB, for the machine itself", () => {
    assert.equal(offerableBytes(100e9, 0), 90e9);
    assert.equal(offerableBytes(60e9, 40e9), 90e9);
    assert.equal(offerableBytes(1000e9, 0), 980e9);
    assert.equal(offerableBytes(0, 0), 0);
  });

  it("half a file of an earlier day is measured again", () => {
    for (const text of ["", "{", "null", '{"dev":1}', '{"dev":1,"day":1,"mb_per_s":-4}']) {
      assert.equal(parseSpeed(text), undefined, text);
    }
  });

  it("its device is told apart as the kernel does", () => {
    assert.deepEqual(splitDevice(0x801), { major: 8, minor: 1 });
    assert.deepEqual(splitDevice(0x10301), { major: 259, minor: 1 });
  });
});
