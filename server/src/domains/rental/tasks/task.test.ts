import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { noteOf, type LongTask } from "./rules/task.ts";

const NOW = new Date("2026-01-31T12:00:00Z");
const before = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);

function copy(overrides: Partial<LongTask> = {}): LongTask {
  return {
    action: {
      type: "copy",
      source: { kind: "instance", id: 1, path: "/error/failed" },
      destination: { kind: "volume", id: 2, path: "/" },
    },
    isFromBackup: false,
    cancelledAt: undefined,
    completedAt: undefined,
    isSuccess: false,
    text: "",
    ...overrides,
  };
}

test("the note on a copy names source, destination and progress, and for a minute its end", () => {
  assert.equal(noteOf([], NOW), undefined);
  assert.equal(noteOf([copy()], NOW), "copying from C.1 to V.2");
  assert.equal(noteOf([copy({ isFromBackup: true })], NOW), "copying from vast.1 to V.2");
  assert.equal(noteOf([copy({ text: " 12%\n3 MB/s " })], NOW), "copying from C.1 to V.2: 12% 3 MB/s");
  const done = { completedAt: before(59), isSuccess: true, text: "anything" };
  assert.equal(noteOf([copy(done)], NOW), "copy from C.1 to V.2 is complete");
  assert.equal(noteOf([copy({ ...done, completedAt: before(60) })], NOW), undefined);
  const lost = { completedAt: before(1), text: "no space left" };
  assert.equal(noteOf([copy(lost)], NOW), "copy from C.1 to V.2 ended early: no space left");
  assert.equal(noteOf([copy({ cancelledAt: before(1) })], NOW), "copy from C.1 to V.2 was cancelled");
  assert.equal(noteOf([copy({ cancelledAt: before(61) })], NOW), undefined);
});

test("a running task is shown before a finished one, and of two the newer", () => {
  const over = copy({ completedAt: before(1), isSuccess: true });
  const tasks = [over, copy({ text: "newer" }), copy({ text: "older" })];
  assert.equal(noteOf(tasks, NOW), "copying from C.1 to V.2: newer");
});

test("no progress can look like a failure of the instance, for any text of hosts and files", () => {
  const alarm = fc.constantFrom(
    "Error",
    "FAILED",
    "failure",
    "exception",
    "Traceback",
    "OCI runtime",
    "permission denied",
  );
  fc.assert(
    fc.property(fc.string(), alarm, fc.string(), (head, word, tail) => {
      const text = `${head}${word}${tail}`;
      assert.equal(noteOf([copy({ text })], NOW), "copying from C.1 to V.2");
    }),
  );
});
