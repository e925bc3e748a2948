import { epochSeconds } from "../../../base/clock.ts";
import { invalid } from "../../../base/errors.ts";
import { parseId, type UserId } from "../../../base/ids.ts";
import { callerOf, identityOf, type HttpScope } from "../../../http/server.ts";
import { listMembers } from "../accounts/for-teams.ts";
import { requireOwnTeam } from "./authority.ts";
import { acceptInvitation, inviteMember, type NewInvitation } from "./invitation-service.ts";
import { changeMemberRole, leaveTeam, removeMember } from "./member-service.ts";
import type { RoleName } from "./role-service.ts";
import { TEAM_TAGS } from "./tags.ts";
import {
  InvitationParams,
  InviteQuery,
  InviteResponse,
  JoinedResponse,
  LeftResponse,
  MemberParams,
  MemberRoleBody,
  MemberRoleResponse,
  MembersResponse,
  StatusResponse,
} from "./schema.ts";
import type { TeamMeans } from "./team-service.ts";
import { viewMember, viewRole } from "./views.ts";

export function memberRoutes(scope: HttpScope, means: TeamMeans): void {
  listAndRemove(scope, means);
  leave(scope, means);
  changeRoles(scope, means);
  invitations(scope, means);
}

function listAndRemove({ app, database, mutate }: HttpScope, means: TeamMeans): void {
  app.get(
    "/api/v0/team/members/",
    {
      config: { access: { operation: "api.team.members", permission: "team_read" } },
      schema: { tags: TEAM_TAGS, summary: "Show the members of a team", response: { 200: MembersResponse } },
    },
    async (request) => {
      const { team } = await requireOwnTeam(database.kysely, identityOf(request));
      return (await listMembers(database.kysely, team.id)).map(viewMember);
    },
  );

  app.delete(
    "/api/v0/team/members/:id/",
    {
      config: { access: { operation: "api.team.remove_member", permission: "team_write", limit: "keys" } },
      schema: {
        tags: TEAM_TAGS,
        summary: "Remove a member, and the member's keys of the team",
        params: MemberParams,
        response: { 200: StatusResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        await removeMember(tx, callerOf(request), parseId<UserId>(request.params.id), means);
        return { status: "success" as const, message: "User removed from the team." };
      }),
  );
}

function leave({ app, mutate }: HttpScope, means: TeamMeans): void {
  app.delete(
    "/api/v0/teams/:id/membership/",
    {
      config: { access: { operation: "api.team.leave", permission: "user_write", limit: "keys" } },
      schema: { tags: TEAM_TAGS, summary: "Leave a team", params: MemberParams, response: { 200: LeftResponse } },
    },
    (request) =>
      mutate(request, async (tx) => {
        const id = await leaveTeam(tx, callerOf(request), parseId<UserId>(request.params.id), means);
        return { success: true as const, msg: `You are no member of team ${id} any more.` };
      }),
  );
}

function changeRoles({ app, mutate }: HttpScope, { identities }: TeamMeans): void {
  const change = (id: string, role: RoleName | undefined) => ({ id: parseId<UserId>(id), role });
  for (const method of ["POST", "PUT"] as const) {
    app.route({
      method,
      url: "/api/v0/team/members/:id/roles/",
      config: {
        access: { operation: "api.team.set_member_role", permission: "team_write", isAlias: method === "PUT" },
      },
      schema: {
        tags: TEAM_TAGS,
        summary: "Give a member another role",
        params: MemberParams,
        body: MemberRoleBody,
        response: { 200: MemberRoleResponse },
      },
      handler: (request) =>
        mutate(request, async (tx) => {
          const asked = change(request.params.id, roleNameOf(request.body));
          if (asked.role === undefined) throw invalid("role", "role or role_id is required");
          return viewChange(await changeMemberRole(tx, callerOf(request), asked, identities));
        }),
    });
  }

  app.delete(
    "/api/v0/team/members/:id/roles/",
    {
      config: { access: { operation: "api.team.reset_member_role", permission: "team_write" } },
      schema: {
        tags: TEAM_TAGS,
        summary: "Give a member the role Member again",
        params: MemberParams,
        response: { 200: MemberRoleResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const asked = change(request.params.id, undefined);
        return viewChange(await changeMemberRole(tx, callerOf(request), asked, identities));
      }),
  );
}

function messageOf({ email, unmailed }: NewInvitation): string {
  if (unmailed === undefined) return `New invitation sent to ${email}`;
  return `New invitation for ${email}. Hand over the token yourself: it was not mailed, since ${unmailed}.`;
}

function invitations({ app, mutate }: HttpScope, means: TeamMeans): void {
  app.post(
    "/api/v0/team/invite/",
    {
      config: { access: { operation: "api.team.invite", permission: "team_write", limit: "keys" } },
      schema: {
        tags: TEAM_TAGS,
        summary: "Invite somebody by e-mail address",
        querystring: InviteQuery,
        body: InviteQuery,
        response: { 200: InviteResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { email = request.query.email, role = request.query.role } = request.body;
        const invitation = await inviteMember(tx, callerOf(request), { email, role }, means);
        return {
          success: true as const,
          msg: messageOf(invitation),
          token: invitation.token,
          expires_at: epochSeconds(invitation.expiresAt),
        };
      }),
  );

  app.get(
    "/api/v0/team/invite/:token/",
    {
      config: { access: { operation: "api.team.accept_invite", permission: "user_write", limit: "keys" } },
      schema: {
        tags: TEAM_TAGS,
        summary: "Accept an invitation, as the one who is invited",
        params: InvitationParams,
        response: { 200: JoinedResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { team, role, keyId, secret } = await acceptInvitation(
          tx,
          callerOf(request),
          request.params.token,
          means,
        );
        return {
          success: true as const,
          msg: `You are a member of the team ${team.name}, as ${role.name}.`,
          team_id: team.id,
          team_name: team.name,
          role: role.name,
          key_id: keyId,
          key: secret,
        };
      }),
  );
}

function roleNameOf({
  role,
  role_id: id,
}: {
  readonly role?: string;
  readonly role_id?: number;
}): RoleName | undefined {
  if (id !== undefined) return { id };
  return role === undefined ? undefined : { name: role };
}

function viewChange({ member, role }: Awaited<ReturnType<typeof changeMemberRole>>) {
  return {
    success: true as const,
    msg: `${member.username} has the role ${role.name} now.`,
    role: role.name,
    new_role_permissions: viewRole(role).permissions,
  };
}
