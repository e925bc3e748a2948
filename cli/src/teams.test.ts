import assert from "node:assert/strict";
import { test } from "node:test";
import { answer } from "../test/answering-server.ts";

const made = {
  success: true,
  msg: "Team Successfully Created!",
  id: 9,
  team_name: "lab",
  key_id: 4,
  key: "berth_secret",
};

test("a team is created with a key of its own, which is shown, and the caller's stays personal", async (t) => {
  const { received, berth } = await answer(t, { "POST /api/v0/team/": { body: made } });
  const { stdout } = await berth("team", "create", "lab", "--credit", "5");
  assert.match(stdout, /^The team lab is created, with the id 9\. Its key is shown only now:\n\n {2}berth_secret\n/);
  assert.deepEqual(received, [["POST /api/v0/team/", { team_name: "lab", transfer_credit: 5 }]]);
  const json = JSON.parse((await berth("team", "create", "lab", "--json")).stdout);
  assert.deepEqual(json, { ...made, api_key: "berth_secret" });
});

test("teams, members, roles and subaccounts are listed", async (t) => {
  const person = { id: 2, username: "ada", email: "ada@example.com", fullname: "", roles: ["Owner"], role: "Owner" };
  const { berth } = await answer(t, {
    "GET /api/v0/teams/": { body: { teams: [{ id: 9, team_name: "lab", role: "Owner", is_owner: true }] } },
    "GET /api/v0/team/members/": { body: [person] },
    "GET /api/v0/team/roles-full/": {
      body: [
        {
          id: 1,
          name: "Reader",
          identifier: "reader",
          permissions: { api: { user_read: {}, misc: { "api.a.b": {} } } },
        },
      ],
    },
    "GET /api/v0/subaccounts/": {
      body: { users: [{ id: 5, username: "kid", email: "kid@example.com", balance: 2, credit: 1.5 }] },
    },
  });
  assert.match((await berth("team", "list")).stdout, /^ID +NAME +YOUR ROLE\n 9 +lab +Owner/);
  assert.match((await berth("team", "members")).stdout, /\n 2 +ada +ada@example\.com +- +Owner/);
  assert.match((await berth("team", "roles")).stdout, /\n 1 +Reader +reader +user_read, misc \(in part\)/);
  assert.match((await berth("subaccounts")).stdout, /\n 5 +kid +kid@example\.com +\$2\.00 +\$1\.50/);
});

test("each command sends its options, and prints a key where there is one", async (t) => {
  const done = { success: true, msg: "It is done." };
  const { received, berth } = await answer(t, {
    "POST /api/v0/team/invite/": { body: { ...done, token: "tok", expires_at: 0 } },
    "GET /api/v0/team/invite/tok/": {
      body: { ...done, team_id: 9, team_name: "lab", role: "Member", key_id: 6, key: "berth_joined" },
    },
    "POST /api/v0/auth/apikeys/": { body: { id: 4, key: "berth_again", permissions: false } },
    "POST /api/v0/team/members/2/roles/": { body: { ...done, role: "Manager" } },
    "DELETE /api/v0/team/members/2/": { body: { status: "success", message: "User removed from the team." } },
    "POST /api/v0/team/roles/": { body: { msg: "success", id: 1, name: "Reader", identifier: "reader" } },
    "PUT /api/v0/team/roles/1/": { body: { success: true, msg: "Successfully Updated Team Role For Reader" } },
    "DELETE /api/v0/team/roles/Reader/": { body: { status: "success", message: "Role removed from team" } },
    "PUT /api/v0/team/": { body: { ...done, id: 9, team_name: "den" } },
    "PUT /api/v0/team/transfer/": { body: done },
    "DELETE /api/v0/team/": { body: { ...done, pkey_id: 4 } },
    "PUT /api/v0/commands/transfer_credit/": { body: { success: true } },
  });
  const permissions = { api: { user_read: {} } };
  const calls: readonly (readonly [readonly string[], RegExp, unknown])[] = [
    [["invite", "bob@example.com"], /berth team accept tok/, { email: "bob@example.com", role: "member" }],
    [["accept", "tok"], /berth_joined/, undefined],
    [["key", "9"], /berth_again/, { name: "team", team_id: 9 }],
    [["set-role", "2", "manager"], /done/, { role: "manager" }],
    [["remove", "2"], /User 2/, undefined],
    [["create-role", "Reader", JSON.stringify(permissions)], /Reader/, { name: "Reader", permissions }],
    [["update-role", "1", JSON.stringify(permissions)], /Role 1/, { permissions }],
    [["delete-role", "Reader"], /deleted/, undefined],
    [["rename", "den"], /done/, { team_name: "den" }],
    [["transfer", "2"], /done/, { user_id: 2 }],
    [["transfer", "bob@example.com"], /done/, { email: "bob@example.com" }],
    [["delete"], /Key 4/, undefined],
  ];
  for (const [words, shown, body] of calls) {
    const { stdout, stderr } = await berth("team", ...words);
    assert.match(stdout, shown, `${words.join(" ")}: ${stderr}`);
    if (body !== undefined) assert.deepEqual(received.at(-1)?.[1], body, words.join(" "));
  }
  await berth("transfer", "me", "3", "--from", "kid@example.com");
  assert.deepEqual(received.at(-1)?.[1], { recipient: "me", amount: 3, sender: "kid@example.com" });
});
