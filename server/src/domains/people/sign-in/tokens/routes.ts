import { epochSeconds } from "../../../../base/clock.ts";
import { notFound } from "../../../../base/errors.ts";
import { asId, parseId, type SignInTokenId, type UserId } from "../../../../base/ids.ts";
import { callerOf, type HttpScope } from "../../../../http/server.ts";
import { recordAudit, requireUser } from "../../accounts/index.ts";
import { noSuchUser, parseEmail } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import {
  InvitationParams,
  InvitationsResponse,
  InviteBody,
  InvitedResponse,
  LinkResponse,
  MakeLinkBody,
  RevokedResponse,
} from "./schema.ts";
import { listInvitations, revokeInvitation, type SignInToken } from "./token-store.ts";
import { issueToken, pathOf } from "./tokens.ts";

const TAGS = ["Administration"];

/** Routes by which administrators let people in: links that sign in once, and invitations to sign up. */
export function tokenRoutes(scope: HttpScope, means: SignInMeans): void {
  invitationRoutes(scope, means);

  scope.app.post(
    "/api/v0/admin/sign_in_links/",
    {
      config: { access: { operation: "api.admin.sign_in_link.create", permission: "admin", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Make a link that signs a person in once",
        body: MakeLinkBody,
        response: { 200: LinkResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const { identity, ipAddress } = callerOf(request);
        const { user_id: id } = request.body;
        const user = await requireUser(tx.db, id === undefined ? identity.userId : asId<UserId>(id));
        // Nobody signs in as a team.
        if (user.isTeam) throw noSuchUser(String(user.id));
        const made = { purpose: "link", userId: user.id, createdById: identity.userId } as const;
        const link = await issueToken(tx, made, means.random);
        const args = { user_id: user.id };
        await recordAudit(tx, identity, { ipAddress, action: "api.admin.sign_in_link.create", args });
        const { secret: token, expiresAt } = link;
        const path = pathOf("link", token);
        return { success: true as const, user_id: user.id, token, path, expires_at: epochSeconds(expiresAt) };
      }),
  );
}

function invitationRoutes({ app, database, mutate }: HttpScope, { random }: SignInMeans): void {
  app.post(
    "/api/v0/admin/invitations/",
    {
      config: { access: { operation: "api.admin.invitation.create", permission: "admin", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Invite a person to sign up",
        body: InviteBody,
        response: { 200: InvitedResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { identity, ipAddress } = callerOf(request);
        const email = request.body.email === undefined ? undefined : parseEmail(request.body.email);
        const made = { purpose: "invitation", email, createdById: identity.userId } as const;
        const { secret: token, ...invitation } = await issueToken(tx, made, random);
        const args = { id: invitation.id, email: email ?? null };
        await recordAudit(tx, identity, { ipAddress, action: "api.admin.invitation.create", args });
        const path = pathOf("invitation", token);
        return { success: true as const, ...viewInvitation(invitation), token, path };
      }),
  );

  app.get(
    "/api/v0/admin/invitations/",
    {
      config: { access: { operation: "api.admin.invitation.list", permission: "admin" } },
      schema: { tags: TAGS, summary: "Show invitations to sign up", response: { 200: InvitationsResponse } },
    },
    async () => ({
      success: true as const,
      invitations: (await listInvitations(database.kysely)).map(viewInvitation),
    }),
  );

  app.delete(
    "/api/v0/admin/invitations/:id/",
    {
      config: { access: { operation: "api.admin.invitation.delete", permission: "admin", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Revoke an invitation to sign up",
        params: InvitationParams,
        response: { 200: RevokedResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { identity, ipAddress } = callerOf(request);
        const { id: text } = request.params;
        const id = parseId<SignInTokenId>(text);
        if (id === undefined || !(await revokeInvitation(tx, id))) {
          throw notFound("not_found", `There is no open invitation ${text}.`);
        }
        await recordAudit(tx, identity, { ipAddress, action: "api.admin.invitation.delete", args: { id } });
        return { success: true as const, msg: `Invitation ${id} is revoked.` };
      }),
  );
}

function viewInvitation({ id, userId, email, createdAt, expiresAt, usedAt }: SignInToken) {
  return {
    id,
    email: email ?? null,
    user_id: userId ?? null,
    created_at: epochSeconds(createdAt),
    expires_at: epochSeconds(expiresAt),
    used_at: usedAt === undefined ? null : epochSeconds(usedAt),
  };
}
