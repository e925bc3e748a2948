import { Type } from "typebox";
import { model } from "../../../http/model.ts";
import { MAX_ID } from "../../../base/ids.ts";
import { MAX_DOLLARS } from "../../../base/money.ts";
import { ApiKeyRecord } from "../accounts/for-teams.ts";

const Text = Type.String();
const Success = Type.Literal(true);
const Id = Type.Integer({ minimum: 1, maximum: MAX_ID });
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()]);
/** Any JSON value: the code that reads permission documents names the fault. */
const AskedPermissions = Type.Unknown();
const Permissions = Type.Object({}, { additionalProperties: true });

/** authority.ts checks names, with the contract's codes. */
export const CreateTeamBody = Type.Object({
  team_name: Type.Optional(Text),
  transfer_credit: Type.Optional(Type.Number({ minimum: 0, maximum: MAX_DOLLARS })),
});
export const CreateTeamResponse = Type.Object({
  success: Success,
  msg: Text,
  id: Type.Integer(),
  team_name: Text,
  key_id: Type.Integer({ description: "Id of the key that acts as the team" }),
  key: Type.String(),
});

export const RenameTeamBody = Type.Object({ team_name: Type.Optional(Text) });
export const RenameTeamResponse = Type.Object({ success: Success, msg: Text, id: Type.Integer(), team_name: Text });

export const DeleteTeamResponse = Type.Object({
  success: Success,
  msg: Text,
  pkey_id: Nullable(Type.Integer()),
});

export const TransferTeamBody = Type.Object({
  new_team_owner_id: Type.Optional(Id),
  user_id: Type.Optional(Id),
  email: Type.Optional(Text),
});
export const MessageResponse = Type.Object({ success: Success, msg: Text });

export const TeamsResponse = Type.Object({
  teams: Type.Array(model("Team", { id: Type.Integer(), team_name: Text, role: Text, is_owner: Type.Boolean() })),
});

export const BalancesResponse = Type.Object({
  success: Type.Literal(true),
  msg: Type.String({ description: "The number of teams in words", examples: ["1 team"] }),
  balances: Type.Array(
    model("TeamBalance", {
      team_id: Type.Integer(),
      team_name: Text,
      balance: Type.Number({ description: "Dollars, with what is set aside" }),
      credit: Type.Number({ description: "Dollars that it can spend, in whole cents" }),
    }),
  ),
});

export const TeamKeysResponse = Type.Object({
  success: Type.Boolean({ description: "False when the team has no keys" }),
  msg: Type.Optional(Text),
  keys_found: Type.Integer(),
  keys: Type.Record(
    Text,
    Type.Array(
      model("TeamKey", {
        id: Type.Integer(),
        user_id: Type.Integer(),
        username: Text,
        key: Type.String(),
        key_type: Type.Literal("api"),
        created_at: Type.Number(),
        role_name: Text,
      }),
    ),
  ),
  apikeys: Type.Array(ApiKeyRecord),
});

export const MembersResponse = Type.Array(
  model("TeamMember", {
    id: Type.Integer(),
    username: Text,
    email: Text,
    fullname: Text,
    roles: Type.Array(Text),
    role: Text,
  }),
);
export const MemberParams = Type.Object({ id: Text });
export const StatusResponse = model("StatusMessage", { status: Type.Literal("success"), message: Text });

export const MemberRoleBody = Type.Object({
  role: Type.Optional(Type.String()),
  role_id: Type.Optional(Id),
});
export const MemberRoleResponse = model("MemberRole", {
  success: Success,
  msg: Text,
  role: Text,
  new_role_permissions: Permissions,
});

/** In the query or in the body: clients differ. */
export const InviteQuery = Type.Object({ email: Type.Optional(Text), role: Type.Optional(Text) });
export const InviteResponse = Type.Object({
  success: Success,
  msg: Text,
  token: Type.String(),
  expires_at: Type.Number(),
});
export const InvitationParams = Type.Object({ token: Text });
export const JoinedResponse = Type.Object({
  success: Success,
  msg: Text,
  team_id: Type.Integer(),
  team_name: Text,
  role: Text,
  key_id: Type.Integer(),
  key: Type.String(),
});

export const RoleBody = Type.Object({
  name: Type.Optional(Text),
  permissions: Type.Optional(AskedPermissions),
});
export const CreateRoleResponse = Type.Object({
  msg: Type.Literal("success"),
  id: Type.Integer(),
  name: Text,
  identifier: Text,
});
export const RoleParams = Type.Object({
  name: Type.String(),
});
export const RoleRecord = model("TeamRole", {
  id: Type.Integer(),
  name: Text,
  identifier: Nullable(Text),
  permissions: Permissions,
});
export const RolesResponse = Type.Array(RoleRecord);
export const RoleNamesResponse = Type.Array(Text);
/** Clients name the role to delete in the path, in the body, or in both; the body counts. */
export const DeleteRoleBody = Type.Object({ role_id: Type.Optional(Id) });

export const LeftResponse = Type.Object({ success: Type.Literal(true), msg: Type.String() });
