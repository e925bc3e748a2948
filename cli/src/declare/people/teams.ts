import type { Command } from "commander";
import { serverCommand } from "../connection.ts";
import { parseAmount, parseEmail, parseId, parseJsonObject } from "../../parse.ts";

/** Teams: accounts of their own, for which their members act with keys of the team. */
export function declareTeamCommands(program: Command): void {
  const team = program.command("team").description("teams: rent together, and pay from one account");
  declareOwn(team);
  declareMembers(team);
  declareRoles(team);
  serverCommand(program, "subaccounts", "list your subaccounts with what each can spend").action(async (options) =>
    (await import("../../commands/account/subaccounts.ts")).listSubaccounts(options),
  );
}

function declareOwn(team: Command): void {
  serverCommand(team, "create", "create a team, and a key that acts as it; the key is shown once")
    .argument("<name>", "name of the team, which no other team has")
    .option("--credit <dollars>", "dollars of your credit to begin with", parseAmount)
    .action(async (name, options) => (await import("../../commands/team/create.ts")).createTeam(name, options));
  serverCommand(team, "list", "list the teams that you are a member of").action(async (options) =>
    (await import("../../commands/team/list.ts")).listTeams(options),
  );
  serverCommand(team, "key", "make a key that acts as a team of yours; it is shown once")
    .argument("<team>", "id of the team, from `berth team list`", parseId)
    .option("--name <text>", "name of the key", "team")
    .action(async (id, options) => (await import("../../commands/team/key.ts")).createTeamKey(id, options));
  serverCommand(team, "rename", "rename the team of the key")
    .argument("<name>", "its new name")
    .action(async (name, options) => (await import("../../commands/team/change.ts")).renameTeam(name, options));
  serverCommand(team, "transfer", "hand the team of the key over to another member; you become a manager of it")
    .argument("<member>", "user id or e-mail address")
    .action(async (member, options) => (await import("../../commands/team/change.ts")).transferTeam(member, options));
  serverCommand(
    team,
    "delete",
    "delete the team of the key; nothing may be left in it, and its credit goes to you",
  ).action(async (options) => (await import("../../commands/team/change.ts")).deleteTeam(options));
}

function declareMembers(team: Command): void {
  serverCommand(team, "members", "list the members of the team of the key").action(async (options) =>
    (await import("../../commands/team/members.ts")).listMembers(options),
  );
  serverCommand(team, "invite", "invite somebody into the team of the key, for four hours")
    .argument("<email>", "e-mail address of the person's account", parseEmail)
    .argument("[role]", "a role of `berth team roles`", "member")
    .action(async (email, role, options) =>
      (await import("../../commands/team/members.ts")).invite(email, role, options),
    );
  serverCommand(team, "accept", "accept an invitation; your key of the team is shown once")
    .argument("<token>", "token of the invitation")
    .action(async (token, options) => (await import("../../commands/team/members.ts")).accept(token, options));
  serverCommand(team, "set-role", "give a member another role")
    .argument("<member>", "user id, from `berth team members`", parseId)
    .argument("<role>", "a role of `berth team roles`")
    .action(async (id, role, options) => (await import("../../commands/team/members.ts")).setRole(id, role, options));
  serverCommand(team, "remove", "remove a member; their keys of the team stop working at once")
    .argument("<member>", "user id, from `berth team members`", parseId)
    .action(async (id, options) => (await import("../../commands/team/members.ts")).remove(id, options));
}

function declareRoles(team: Command): void {
  serverCommand(team, "roles", "list the roles of the team of the key").action(async (options) =>
    (await import("../../commands/team/roles.ts")).listRoles(options),
  );
  serverCommand(team, "create-role", "create a role; it cannot allow more than you may yourself")
    .argument("<name>", "name of the role")
    .argument("<permissions>", 'such as {"api":{"instance_read":{}}}', parseJsonObject)
    .action(async (name, permissions, options) =>
      (await import("../../commands/team/roles.ts")).createRole(name, permissions, options),
    );
  serverCommand(team, "update-role", "change the permissions of a role, for all members who have it")
    .argument("<id>", "number of the role, from `berth team roles`", parseId)
    .argument("<permissions>", 'such as {"api":{"instance_read":{}}}', parseJsonObject)
    .option("--name <text>", "new name of the role")
    .action(async (id, permissions, options) =>
      (await import("../../commands/team/roles.ts")).updateRole(id, permissions, options),
    );
  serverCommand(team, "delete-role", "delete a role that nobody has")
    .argument("<name>", "its name or identifier")
    .action(async (name, options) => (await import("../../commands/team/roles.ts")).deleteRole(name, options));
}
