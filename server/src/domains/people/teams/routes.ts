import { invalid } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import { callerOf, identityOf, type HttpScope } from "../../../http/server.ts";
import { listMembers, listMemberships, listTeamKeys, type BalanceView } from "../accounts/for-teams.ts";
import { requireOwnTeam } from "./authority.ts";
import { readBalances } from "./balance-service.ts";
import { memberRoutes } from "./member-routes.ts";
import { roleRoutes } from "./role-routes.ts";
import { TEAM_TAGS } from "./tags.ts";
import {
  BalancesResponse,
  CreateTeamBody,
  CreateTeamResponse,
  DeleteTeamResponse,
  MessageResponse,
  RenameTeamBody,
  RenameTeamResponse,
  TeamKeysResponse,
  TeamsResponse,
  TransferTeamBody,
} from "./schema.ts";
import { changeTeamName, createTeam, deleteTeam, transferOwnership, type TeamMeans } from "./team-service.ts";
import { viewMembership, viewTeamBalance, viewTeamKeys } from "./views.ts";

export type TeamPorts = TeamMeans & { readonly balanceOf: (userId: UserId) => Promise<BalanceView> };

/** Routes of teams, their members and roles. Sessions of a team are listed where people sign in. */
export function teamRoutes(scope: HttpScope, ports: TeamPorts): void {
  createAndDelete(scope, ports);
  changeTeam(scope, ports);
  readTeam(scope, ports);
  memberRoutes(scope, ports);
  roleRoutes(scope, ports);
}

function createAndDelete({ app, mutate }: HttpScope, ports: TeamPorts): void {
  app.post(
    "/api/v0/team/",
    {
      config: { access: { operation: "api.team.create", permission: "user_write", limit: "keys" } },
      schema: {
        tags: TEAM_TAGS,
        summary: "Create a team, and a key that acts as it",
        body: CreateTeamBody,
        response: { 200: CreateTeamResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { team_name: name, transfer_credit: transferCredit } = request.body;
        const team = await createTeam(tx, callerOf(request), { name, transferCredit }, ports);
        return {
          success: true as const,
          msg: "Team Successfully Created!",
          id: team.id,
          team_name: team.name,
          key_id: team.keyId,
          key: team.secret,
        };
      }),
  );

  app.delete(
    "/api/v0/team/",
    {
      config: { access: { operation: "api.team.delete", permission: "user_write", limit: "keys", movesMoney: true } },
      schema: {
        tags: TEAM_TAGS,
        summary: "Delete the team of the calling key; its credit goes to the owner",
        response: { 200: DeleteTeamResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { personalKeyId } = await deleteTeam(tx, callerOf(request), ports);
        return { success: true as const, msg: "Team Successfully Deleted!", pkey_id: personalKeyId ?? null };
      }),
  );
}

function changeTeam({ app, mutate }: HttpScope, { identities }: TeamPorts): void {
  app.put(
    "/api/v0/team/",
    {
      config: { access: { operation: "api.team.update", permission: "team_write" } },
      schema: {
        tags: TEAM_TAGS,
        summary: "Rename a team",
        body: RenameTeamBody,
        response: { 200: RenameTeamResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { id, name } = await changeTeamName(tx, callerOf(request), request.body.team_name);
        return { success: true as const, msg: `The team is called ${name}.`, id, team_name: name };
      }),
  );

  app.put(
    "/api/v0/team/transfer/",
    {
      config: { access: { operation: "api.team.transfer", permission: "team_write", limit: "keys" } },
      schema: {
        tags: TEAM_TAGS,
        summary: "Hand a team over to another member",
        body: TransferTeamBody,
        response: { 200: MessageResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { email, user_id: userId, new_team_owner_id: newOwnerId = userId } = request.body;
        const recipient = email ?? newOwnerId;
        if (recipient === undefined) {
          throw invalid("new_team_owner_id", "new_team_owner_id, user_id or email is required");
        }
        const done = await transferOwnership(tx, callerOf(request), String(recipient), identities);
        return { success: true as const, msg: `${done.username} owns the team ${done.teamName} now.` };
      }),
  );
}

function readTeam({ app, database }: HttpScope, { balanceOf }: TeamPorts): void {
  app.get(
    "/api/v0/teams/",
    {
      config: { access: { operation: "api.team.list", permission: "user_read" } },
      schema: { tags: TEAM_TAGS, summary: "Show own teams", response: { 200: TeamsResponse } },
    },
    async (request) => {
      const { userId, memberId } = identityOf(request);
      const all = await listMemberships(database.kysely, memberId ?? userId);
      // A key of a team sees that team only.
      const shown = memberId === undefined ? all : all.filter(({ teamId }) => teamId === userId);
      return { teams: shown.map(viewMembership) };
    },
  );

  app.get(
    "/api/v0/team/balances/",
    {
      config: { access: { operation: "api.team.balances", permission: "billing_read" } },
      schema: { tags: TEAM_TAGS, summary: "Show the balances of teams", response: { 200: BalancesResponse } },
    },
    async (request) => {
      const balances = await readBalances(database.kysely, identityOf(request), balanceOf);
      return {
        success: true as const,
        msg: `${balances.length} ${balances.length === 1 ? "team" : "teams"}`,
        balances: balances.map(({ team, balance }) => viewTeamBalance(team, balance)),
      };
    },
  );

  app.get(
    "/api/v0/team/apikeys/",
    {
      config: { access: { operation: "api.team.apikeys", permission: "team_read" } },
      schema: { tags: TEAM_TAGS, summary: "Show the keys of all members", response: { 200: TeamKeysResponse } },
    },
    async (request) => {
      const { team } = await requireOwnTeam(database.kysely, identityOf(request));
      const members = await listMembers(database.kysely, team.id);
      return viewTeamKeys(await listTeamKeys(database.kysely, team.id), members);
    },
  );
}
