import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { answer } from "../test/answering-server.ts";

const account = {
  ...{ id: 7, email: "ada@example.com", is_email_proven: true, username: "ada", fullname: "Ada\u001b[31m" },
  ...{ parent_id: null, is_admin: false, is_team: false, has_tfa: true, freeze_id: 2 },
  ...{ created_at: 1_767_225_600, last_seen_at: null, credit: 41.5, held: 1.2, earnings: 0 },
  ...{ running_count: 2, instance_count: 3, machine_count: 0 },
};
const setting = {
  ...{ name: "BERTH_SECRET", meaning: "Secret", value: null, set_by: "environment", by_default: "a file" },
  ...{ option: null, is_secret: true, is_shared: true },
};
const other = { ...setting, name: "BERTH_PORT", value: "8080", set_by: "default", is_secret: false };

test("an administrator sees accounts and settings as tables, and as JSON when asked", async (t) => {
  const { received, berth } = await answer(t, {
    "GET /api/v0/admin/users/": { body: { success: true, users: [account], next_token: "more" } },
    "GET /api/v0/admin/settings/": { body: { success: true, settings: [setting, other] } },
  });
  const { stdout } = await berth("admin", "user", "list", "ada", "--frozen", "--limit", "1");
  assert.match(stdout, /ID +E-MAIL +NAME/);
  assert.match(
    stdout,
    /7 +ada@example\.com +Ada\u{FFFD}\[31m +frozen +\$41\.50 +\$0\.00 +2 +0 +2026-01-01 00:00 +never/u,
  );
  assert.match(stdout, /repeat the command with --after more/);
  assert.deepEqual(received[0], ["GET /api/v0/admin/users/?q=ada&limit=1&frozen=true", undefined]);
  const listed = await berth("admin", "user", "list", "--json");
  assert.deepEqual(JSON.parse(listed.stdout).users, [account]);
  const settings = await berth("admin", "settings", "--set");
  assert.match(settings.stdout, /BERTH_SECRET +\(secret\) +environment +yes/);
  assert.doesNotMatch(settings.stdout, /BERTH_PORT/);
});

test("an administrator pauses the service for some minutes, announces something, and ends both", async (t) => {
  const { received, berth } = await answer(t, {
    "PUT /api/v0/admin/pause/": { body: { success: true, id: 2 } },
    "DELETE /api/v0/admin/pause/": { body: { success: true, id: 2 } },
    "POST /api/v0/admin/announcements/": { body: { success: true, id: 3 } },
    "DELETE /api/v0/admin/announcements/3/": { body: { success: true, id: 3 } },
  });
  const paused = await berth("admin", "pause", "We move.", "--until", "2026-01-31T12:30");
  assert.match(paused.stdout, /paused until 2026-01-31 12:30 UTC .*: nothing is rented or changed, what runs goes on/);
  assert.match((await berth("admin", "resume")).stdout, /Pause 2 has ended/);
  const announced = await berth("admin", "announce", "Soon", "On Sunday.", "--warning", "--to", "hosts");
  assert.match(announced.stdout, /Announcement 3 is published/);
  await berth("admin", "withdraw", "3");
  const until = Date.parse("2026-01-31T12:30Z") / 1000;
  assert.deepEqual(received, [
    ["PUT /api/v0/admin/pause/", { message: "We move.", until }],
    ["DELETE /api/v0/admin/pause/", undefined],
    [
      "POST /api/v0/admin/announcements/",
      { title: "Soon", message: "On Sunday.", level: "warning", audience: "hosts" },
    ],
    ["DELETE /api/v0/admin/announcements/3/", undefined],
  ]);
});

test("a copy of an account is in a file that nobody else reads, and says which kinds are not whole", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-copy-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = path.join(folder, "ada.json");
  await writeFile(file, "of an earlier day", { mode: 0o644 });
  const data = { account: [{ id: 7 }], ssh_keys: [] };
  const { received, berth } = await answer(t, {
    "POST /api/v0/admin/users/7/export/": {
      body: { success: true, user_id: 7, exported_at: 1_767_225_600, data, truncated: ["ssh_keys"] },
    },
  });
  const { stdout } = await berth("admin", "user", "export", "7", "--reason", "They asked.", "--output", file);
  assert.match(stdout, /ada\.json has 1 account, 0 ssh keys\.\nOnly the newest are in it of: ssh keys\./);
  assert.deepEqual(JSON.parse(await readFile(file, "utf8")), data);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(received, [["POST /api/v0/admin/users/7/export/", { reason: "They asked." }]]);
});
