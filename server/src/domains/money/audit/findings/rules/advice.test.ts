import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { adviceFor } from "./advice.ts";

const PAGE = path.join(import.meta.dirname, "../../../../../../../docs/audit.md");

test("each kind that the documentation calls an alarm has advice of its own", async () => {
  const page = await readFile(PAGE, "utf8");
  const kinds = [...page.matchAll(/^\| `([a-z_]+)` +\|[^|]*\|[^|]*\balarm\b/gm)].map(([, kind = ""]) => kind);
  assert.ok(kinds.length >= 8, String(kinds));
  const other = adviceFor({ kind: "unknown", outcome: "alarmed" });
  assert.deepEqual(
    kinds.filter((kind) => adviceFor({ kind, outcome: "alarmed" }) === other),
    [],
  );
});

test("a finding that was repaired or that the host was told of asks for nothing", () => {
  for (const outcome of ["repaired", "told"] as const) {
    assert.match(adviceFor({ kind: "stuck_phase", outcome }), /^Nothing/);
  }
});
