import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../base/clock.ts";
import { followKernelLog, type KernelLine } from "./kernel-log.ts";

test("the kernel's lines come in order", async (t) => {
  const lines: KernelLine[] = [];
  const failures: unknown[] = [];
  const stop = followKernelLog(systemClock)(
    (line) => lines.push(line),
    (cause) => failures.push(cause),
  );
  t.after(stop);
  await until("the log of this boot", () => lines.length > 0 || failures.length > 0);
  // Without root, or in a sandbox without a kernel log, there is nothing to follow, and that is said.
  if (failures.length > 0) return assert.match(String(failures[0]), /EPERM|EACCES|ENOENT/);
  assert.ok(lines.every((line, index) => index === 0 || line.sequence > (lines[index - 1]?.sequence ?? 0)));
  assert.ok(lines[0]?.isPast);
});
