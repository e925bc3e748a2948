import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileNotes } from "./notes.ts";

const COUNTERS = { running_ms: 1, received_bytes: 2, sent_bytes: 3 };
const STORED = {
  boot_id: "boot-1",
  lease: { granted_at_ms: 5, lease_ms: 60_000 },
  halted: { f00: "stopped" },
  running: ["f00"],
  images: { "7": "sha256:1" },
  keys: { "7": ["ssh-ed25519 AAAA"] },
  pulled_images: { "registry.example/my_image:v_1": 9 },
  guarded_images: ["sha256:2"],
  notices: {
    "7": { generation: 1, reason: "outbid", message: "", noticed_at_ms: 1, ends_at_ms: 2, is_over: false },
  },
  meters: { "7:1": { carried: COUNTERS, run_key: "f00@5", started_at_ms: 5, run: COUNTERS } },
};

test("an agent that is updated reads the notes of the one before, and writes them in the same form", (t) => {
  const directory = mkdtempSync(join(tmpdir(), "berth-notes-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "notes.json");
  writeFileSync(path, JSON.stringify(STORED));
  const store = fileNotes(path, (cause) => assert.fail(String(cause)));
  const notes = store.load();
  assert.ok(notes);
  assert.deepEqual([notes.bootId, notes.lease.leaseMs, notes.meters["7:1"]?.run.sentBytes], ["boot-1", 60_000, 3]);
  assert.deepEqual(notes.pulledImages, STORED.pulled_images);
  store.save(notes);
  assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), STORED);
});
