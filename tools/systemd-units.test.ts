import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

const UNIT = path.join(import.meta.dirname, "../deploy/systemd/berth-server.service");
/** The exposure that systemd counts, from 0 to 10; a unit without any protection has 9.6. */
const EXPOSURE_MAX = 2;

test("systemd reads the server's unit without a complaint and finds it well protected", (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "berth-unit-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "berth-server.service");
  // The checkout of the recipe is not on this machine.
  writeFileSync(file, readFileSync(UNIT, "utf8").replace("ExecStart=/opt/berth/berth ", "ExecStart=/bin/sh "));
  const verified = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
  assert.deepEqual([verified.status, verified.stderr], [0, ""]);
  const analyzed = spawnSync("systemd-analyze", ["security", "--offline=true", "--no-pager", file], {
    encoding: "utf8",
  });
  const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(analyzed.stdout)?.[1]);
  assert.ok(exposure <= EXPOSURE_MAX, analyzed.stdout);
});
