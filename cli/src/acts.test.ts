import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { answer } from "../test/answering-server.ts";

const FREEZES = "/api/v0/admin/freezes/";
const CORRECTIONS = "/api/v0/admin/corrections/";
const TAKE_BACK = "/api/v0/admin/earnings/take_back/";
const WHY = ["--reason", "It cheats.", "--reference", "case-7"];
const about = { user: "host@example.com", reason: "It cheats.", reference: "case-7" };

test("acts of an administrator send the account, the reason and the case", async (t) => {
  const booked = { success: true, user_id: 7, transfer_id: "12", is_new: true, balance: -15 };
  const { received, berth } = await answer(t, {
    "GET /api/v0/admin/disputes/": { body: { success: true, accounts: [] } },
    [`POST ${FREEZES}`]: { body: { success: true, id: 3, is_new: true, user_ids: [7] } },
    [`PUT ${FREEZES}3/`]: { body: { success: true, user_ids: [7] } },
    [`POST ${TAKE_BACK}`]: { body: booked },
    [`POST ${CORRECTIONS}`]: { body: booked },
  });
  const { stdout } = await berth("admin", "freeze", "host@example.com", "--reason", "It cheats.");
  assert.deepEqual(JSON.parse(stdout), { success: true, id: 3, is_new: true, user_ids: [7] });
  assert.deepEqual(JSON.parse((await berth("admin", "disputes", "--all")).stdout), { success: true, accounts: [] });
  await berth("admin", "unfreeze", "3", "--reason", "It does not.");
  await berth("admin", "take-back", "host@example.com", "25", ...WHY);
  await berth("admin", "correct", "host@example.com", "4", "--charge", ...WHY);
  await berth("admin", "correct", "host@example.com", "3", "--earnings", ...WHY);
  assert.deepEqual(received, [
    [`POST ${FREEZES}`, { user: "host@example.com", reason: "It cheats." }],
    ["GET /api/v0/admin/disputes/?all=true", undefined],
    [`PUT ${FREEZES}3/`, { reason: "It does not." }],
    [`POST ${TAKE_BACK}`, { ...about, amount: 25 }],
    [`POST ${CORRECTIONS}`, { ...about, amount: -4, side: "credit" }],
    [`POST ${CORRECTIONS}`, { ...about, amount: 3, side: "earnings" }],
  ]);
});

test("an administrator gets all documents of a month, as data or as a file", async (t) => {
  const pages = [
    { next_token: "more", results: [{ number: "2026-R000001" }] },
    { next_token: null, results: [{ number: "2026-R000002" }] },
  ];
  const { received, berth } = await answer(t, {
    "GET /api/v0/admin/documents/": () => ({ body: { success: true, count: 1, ...pages.shift() } }),
    "GET /api/v0/admin/documents/export/": { body: "number,kind" },
  });
  const listed = await berth("admin", "documents", "--month", "2026-03", "--kind", "receipt");
  assert.deepEqual(JSON.parse(listed.stdout).results, [{ number: "2026-R000001" }, { number: "2026-R000002" }]);
  const directory = mkdtempSync(path.join(tmpdir(), "berth-documents-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, "march.csv");
  const written = await berth("admin", "documents", "--month", "2026-03", "--output", file);
  assert.deepEqual(JSON.parse(written.stdout), { success: true, month: "2026-03", file });
  assert.match(readFileSync(file, "utf8"), /number,kind/);
  assert.deepEqual(
    received.map(([request]) => request),
    [
      "GET /api/v0/admin/documents/?limit=500&month=2026-03&kind=receipt",
      "GET /api/v0/admin/documents/?limit=500&month=2026-03&kind=receipt&after_token=more",
      "GET /api/v0/admin/documents/export/?month=2026-03",
    ],
  );
});
