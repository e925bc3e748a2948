import assert from "node:assert/strict";
import { test } from "node:test";
import { answer } from "../test/answering-server.ts";

const AUDIT = "GET /api/v0/admin/audit/";
const check = (name: string, count: number, differences: readonly object[] = []) => ({
  name,
  title: `What ${name} have to be`,
  examined_count: 1204,
  difference_count: count,
  differences,
});
const report = (checks: readonly object[], rest: object = {}) => ({
  success: true,
  state: "finished",
  is_sound: true,
  is_full: false,
  audited_at: 1_772_366_400,
  sealed_until: 1_772_323_200,
  checks,
  ...rest,
});

test("an audit that finds nothing says so, check by check, and ends well", async (t) => {
  const { berth } = await answer(t, { [AUDIT]: { body: report([check("balances", 0), check("amounts", 0)]) } });
  const { code, stdout } = await berth("audit");
  assert.equal(code, 0);
  assert.equal(
    stdout,
    `CHECK     ROWS  DIFFER  RULE
balances  1204       0  What balances have to be
amounts   1204       0  What amounts have to be

Nothing differs, as of 2026-03-01 12:00 UTC. The checkpoint of 2026-03-01 00:00 UTC was trusted: --full reads what is before it, too.
`,
  );
});

test("rows that differ are shown with what they are and what they should be, and the exit code is 1", async (t) => {
  const rows = [{ subject: "line 12", problem: "it costs something else", stored: "5", expected: "4" }];
  const body = report([check("balances", 0), check("amounts", 3, rows)], { is_sound: false });
  const { berth } = await answer(t, { [AUDIT]: { body } });
  const { code, stdout } = await berth("audit");
  assert.equal(code, 1);
  assert.match(stdout, /\n\namounts: What amounts have to be\nROW {6}STORED {2}EXPECTED {2}PROBLEM\nline 12 /);
  assert.match(stdout, /it costs something else\n… and 2 more\n\n1 of 2 checks found rows that differ/);
  const json = await berth("audit", "--json");
  assert.equal(json.code, 1);
  assert.deepEqual(JSON.parse(json.stdout), body);
});

test("a full audit says that everything was read", async (t) => {
  const { berth } = await answer(t, { [AUDIT]: { body: report([], { is_full: true }) } });
  assert.match((await berth("audit", "--full")).stdout, /Everything was read\.\n$/);
});

test("it asks again until the audit is done", async (t) => {
  let asked = 0;
  const { received, berth } = await answer(t, {
    [AUDIT]: () => {
      asked += 1;
      return { body: asked < 3 ? report([], { state: "running", is_sound: null }) : report([check("held", 0)]) };
    },
  });
  const { code, stdout } = await berth("audit", "--full");
  assert.equal(code, 0);
  assert.match(stdout, /^CHECK +ROWS/);
  assert.deepEqual(
    received.map(([call]) => call),
    Array.from({ length: 3 }, () => `${AUDIT}?full=true`),
  );
});
