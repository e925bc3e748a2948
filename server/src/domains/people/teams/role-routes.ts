import { parseId, type TeamRoleId } from "../../../base/ids.ts";
import { callerOf, identityOf, type HttpScope } from "../../../http/server.ts";
import { listRoles } from "../accounts/for-teams.ts";
import { requireOwnTeam } from "./authority.ts";
import { changeRole, createRole, findNamedRole, removeRole } from "./role-service.ts";
import { TEAM_TAGS } from "./tags.ts";
import {
  CreateRoleResponse,
  DeleteRoleBody,
  MessageResponse,
  RoleBody,
  RoleNamesResponse,
  RoleParams,
  RoleRecord,
  RolesResponse,
  StatusResponse,
} from "./schema.ts";
import type { TeamMeans } from "./team-service.ts";
import { viewRole } from "./views.ts";

export function roleRoutes(scope: HttpScope, means: TeamMeans): void {
  readRoles(scope);
  changeRoles(scope, means);
}

function readRoles({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/team/roles/",
    {
      config: { access: { operation: "api.team.roles", permission: "team_read" } },
      schema: { tags: TEAM_TAGS, summary: "Show the names of a team's roles", response: { 200: RoleNamesResponse } },
    },
    async (request) => {
      const { team } = await requireOwnTeam(database.kysely, identityOf(request));
      return (await listRoles(database.kysely, team.id)).map(({ name }) => name);
    },
  );

  app.get(
    "/api/v0/team/roles-full/",
    {
      config: { access: { operation: "api.team.roles_full", permission: "team_read" } },
      schema: {
        tags: TEAM_TAGS,
        summary: "Show the roles that members can be given",
        response: { 200: RolesResponse },
      },
    },
    async (request) => {
      const { team } = await requireOwnTeam(database.kysely, identityOf(request));
      const roles = await listRoles(database.kysely, team.id);
      return roles.filter(({ identifier }) => identifier !== "owner").map(viewRole);
    },
  );

  app.get(
    "/api/v0/team/roles/:name/",
    {
      config: { access: { operation: "api.team.show_role", permission: "team_read" } },
      schema: { tags: TEAM_TAGS, summary: "Show one role", params: RoleParams, response: { 200: RoleRecord } },
    },
    async (request) => {
      const { team } = await requireOwnTeam(database.kysely, identityOf(request));
      return viewRole(await findNamedRole(database.kysely, team.id, { name: request.params.name }));
    },
  );
}

function changeRoles({ app, mutate }: HttpScope, { identities }: TeamMeans): void {
  app.post(
    "/api/v0/team/roles/",
    {
      config: { access: { operation: "api.team.create_role", permission: "team_write" } },
      schema: { tags: TEAM_TAGS, summary: "Create a role", body: RoleBody, response: { 200: CreateRoleResponse } },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { name, permissions } = request.body;
        const role = await createRole(tx, callerOf(request), { name, permissions });
        return { msg: "success" as const, id: role.id, name: role.name, identifier: role.identifier };
      }),
  );

  app.put(
    "/api/v0/team/roles/:name/",
    {
      config: { access: { operation: "api.team.update_role", permission: "team_write" } },
      schema: {
        tags: TEAM_TAGS,
        summary: "Change a role, by its number",
        params: RoleParams,
        body: RoleBody,
        response: { 200: MessageResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { name, permissions } = request.body;
        const id = parseId<TeamRoleId>(request.params.name);
        const role = await changeRole(tx, callerOf(request), { id, name, permissions }, identities);
        return { success: true as const, msg: `Successfully Updated Team Role For ${role.name}` };
      }),
  );

  app.delete(
    "/api/v0/team/roles/:name/",
    {
      config: { access: { operation: "api.team.delete_role", permission: "team_write" } },
      schema: {
        tags: TEAM_TAGS,
        summary: "Delete a role",
        params: RoleParams,
        body: DeleteRoleBody,
        response: { 200: StatusResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { role_id: id } = request.body;
        await removeRole(tx, callerOf(request), id === undefined ? { name: request.params.name } : { id });
        return { status: "success" as const, message: "Role removed from team" };
      }),
  );
}
