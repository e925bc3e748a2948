import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aMemberWith, aTeam, ask, done, join, type TestTeam } from "../../../../../test/support/teams.ts";

const ABSENT = 2_000_000_000;

describe("roles of teams", () => {
  let app: TestApp;
  let team: TestTeam;
  const cleanups: (() => Promise<void> | void)[] = [];
  before(async () => {
    const scope = { after: (fn: () => Promise<void> | void) => void cleanups.push(fn) };
    app = await testApp(scope as Parameters<typeof testApp>[0]);
    team = await aTeam(app, await app.caller());
  });
  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });

  describe("a role", () => {
    const readTeam = { api: { team_read: {} } };

    test("is made, shown by name and by identifier, changed by number, and deleted by name", async () => {
      const name = `Röle ${randomUUID()}`;
      const made = await done(app, team.secret, "POST", "/team/roles/", { name, permissions: readTeam });
      assert.deepEqual([made.msg, made.name], ["success", name]);
      const record = { id: made.id, name, identifier: null, permissions: readTeam };
      for (const asked of [name, name.toUpperCase(), made.identifier]) {
        assert.deepEqual(await done(app, team.secret, "GET", `/team/roles/${encodeURIComponent(asked)}/`), record);
      }
      const permissions = { api: { misc: {} } };
      const changed = await ask(app, team.secret, "PUT", `/team/roles/${made.id}/`, { name: "other", permissions });
      assert.equal(changed.status, 200, changed.text);
      assert.deepEqual(changed.body, { success: true, msg: "Successfully Updated Team Role For other" });
      assert.equal(changed.headers["content-type"], "application/json");
      const full = await done(app, team.secret, "GET", "/team/roles-full/");
      assert.ok(full.every(({ identifier }: { identifier: string }) => identifier !== "owner"));
      assert.deepEqual(full.at(-1), { ...record, name: "other", permissions });
      const names = await done(app, team.secret, "GET", "/team/roles/");
      assert.deepEqual(names.slice(0, 3), ["Owner", "Manager", "Member"]);
      assert.ok(names.includes("other"));
      const deleted = await ask(app, team.secret, "DELETE", "/team/roles/other/");
      assert.deepEqual(deleted.body, { status: "success", message: "Role removed from team" });
      assert.equal((await ask(app, team.secret, "GET", "/team/roles/other/")).status, 404);
    });

    test("is deleted by the id in the body, not by the name in the path", async () => {
      const make = async () => {
        const name = randomUUID();
        return { name, ...(await done(app, team.secret, "POST", "/team/roles/", { name, permissions: readTeam })) };
      };
      const [kept, gone] = [await make(), await make()];
      const answer = await ask(app, team.secret, "DELETE", `/team/roles/${kept.name}/`, { role_id: gone.id });
      assert.equal(answer.status, 200, answer.text);
      const names = await done(app, team.secret, "GET", "/team/roles/");
      assert.deepEqual([names.includes(kept.name), names.includes(gone.name)], [true, false]);
    });

    test("with an empty document lets its members do nothing", async () => {
      const { secret, role } = await aMemberWith(app, team, {});
      const shown = await done(app, team.secret, "GET", `/team/roles/${encodeURIComponent(role)}/`);
      assert.deepEqual(shown.permissions, {});
      for (const path of ["/users/current/", "/instances/", "/team/members/", "/endptjobs/"]) {
        assert.equal((await ask(app, secret, "GET", path)).status, 403, path);
      }
    });

    test("applies to its members' keys as soon as it is changed", async () => {
      const { secret, role, roleId, person } = await aMemberWith(app, team, readTeam);
      const statuses = async () => [
        (await ask(app, secret, "GET", "/team/members/")).status,
        (await ask(app, secret, "GET", "/endptjobs/")).status,
      ];
      assert.deepEqual(await statuses(), [200, 403]);
      await done(app, team.secret, "PUT", `/team/roles/${roleId}/`, { name: role, permissions: { api: { misc: {} } } });
      assert.deepEqual(await statuses(), [403, 200]);
      await done(app, team.secret, "PUT", `/team/members/${person.id}/roles/`, { role: "manager" });
      assert.deepEqual(await statuses(), [200, 200]);
      const changed = await done(app, team.secret, "POST", `/team/members/${person.id}/roles/`, { role_id: roleId });
      assert.deepEqual(changed.new_role_permissions, { api: { misc: {} } });
      assert.deepEqual(await statuses(), [403, 200]);
      const back = await done(app, team.secret, "DELETE", `/team/members/${person.id}/roles/`);
      assert.equal(back.role, "Member");
      assert.deepEqual(await statuses(), [403, 403]);
    });

    test("that is in use stays, and one that is not takes its invitations with it", async () => {
      const { role, person } = await aMemberWith(app, team, readTeam);
      const other = await app.caller();
      const { token } = await done(app, team.secret, "POST", "/team/invite/", { email: other.email, role });
      const path = `/team/roles/${encodeURIComponent(role)}/`;
      const refused = await ask(app, team.secret, "DELETE", path);
      assert.deepEqual([refused.status, refused.body.error], [400, "role_in_use"]);
      await done(app, team.secret, "DELETE", `/team/members/${person.id}/`);
      await done(app, team.secret, "DELETE", path);
      assert.equal((await ask(app, other.secret, "GET", `/team/invite/${token}/`)).status, 404);
    });

    test("that every team has cannot be changed or deleted, nor can another take its name", async () => {
      for (const [name, verb] of [
        ["owner", "owner role"],
        ["Manager", "default role"],
        ["member", "default role"],
      ] as const) {
        const { id, permissions } = await done(app, team.secret, "GET", `/team/roles/${name}/`);
        const answers = [
          await ask(app, team.secret, "DELETE", `/team/roles/${name}/`),
          await ask(app, team.secret, "PUT", `/team/roles/${id}/`, { name: "x", permissions }),
        ];
        for (const { status, body } of answers) assert.deepEqual([status, body.error], [403, "forbidden"]);
        assert.ok(answers[0]?.body.msg.includes(verb));
        const same = { name: name.toUpperCase(), permissions };
        assert.equal((await ask(app, team.secret, "POST", "/team/roles/", same)).body.error, "role_name_exists");
      }
    });

    test("with an invalid name or invalid permissions is refused with the field's name", async () => {
      const create = (body: unknown) => ask(app, team.secret, "POST", "/team/roles/", body);
      for (const [body, error, field] of [
        [{ permissions: readTeam }, "invalid_args", "name"],
        [{ name: " ", permissions: readTeam }, "invalid_args", "name"],
        [{ name: "a\u0007", permissions: readTeam }, "invalid_characters", "name"],
        [{ name: "n".repeat(100_000), permissions: readTeam }, "input_too_long", "name"],
        [{ name: "r" }, "missing_permissions", "permissions"],
        [{ name: "r", permissions: "all" }, "invalid_permissions", "permissions"],
        [{ name: "r", permissions: { api: { everything: {} } } }, "invalid_permissions", "permissions.api.everything"],
      ] as const) {
        const answer = await create(body);
        assert.deepEqual([answer.status, answer.body.error, answer.body.field], [400, error, field]);
      }
      const identifiers = new Set<string>();
      const names = ["!!!", "漢字", "a b", "A-B", "a_b "];
      for (const name of names) {
        const answer = await create({ name, permissions: readTeam });
        assert.equal(answer.status, 200, name);
        identifiers.add(answer.body.identifier);
      }
      assert.equal(identifiers.size, names.length);
    });

    test("belongs to one team and is not found in another", async () => {
      const other = await aTeam(app, await app.caller());
      const made = await done(app, other.secret, "POST", "/team/roles/", { name: "theirs", permissions: readTeam });
      const person = await app.caller();
      await join(app, team, person);
      for (const [method, path, body] of [
        ["GET", "/team/roles/theirs/", undefined],
        ["DELETE", "/team/roles/theirs/", undefined],
        ["PUT", `/team/roles/${made.id}/`, { name: "x", permissions: readTeam }],
        ["PUT", `/team/roles/${ABSENT}/`, { name: "x", permissions: readTeam }],
        ["PUT", "/team/roles/theirs/", { name: "x", permissions: readTeam }],
        ["PUT", `/team/members/${person.id}/roles/`, { role_id: made.id }],
        ["PUT", `/team/members/${person.id}/roles/`, { role: "theirs" }],
      ] as const) {
        const answer = await ask(app, team.secret, method, path, body);
        assert.deepEqual([answer.status, answer.body.error], [404, "not_found"], `${method} ${path}`);
      }
    });

    test("called owner cannot be given to others or changed", async () => {
      const manager = await join(app, team, await app.caller(), "manager");
      const person = await app.caller();
      await join(app, team, person);
      for (const secret of [manager, team.secret]) {
        const given = await ask(app, secret, "PUT", `/team/members/${person.id}/roles/`, { role: "owner" });
        assert.deepEqual([given.status, given.body.error], [403, "forbidden"]);
        const taken = await ask(app, secret, "DELETE", `/team/members/${team.owner.id}/roles/`);
        assert.deepEqual([taken.status, taken.body.error], [400, "owner_stays"]);
      }
    });
  });
});
