import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";
import { MAX_ID } from "../../../base/ids.ts";

const Text = Type.String();
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()]);
const Success = Type.Literal(true);

/** Any JSON value: permissions.ts checks it, and answers `invalid_permissions` with the wrong entry's name. */
const AskedPermissions = Type.Unknown();
const Permissions = Type.Object({}, { additionalProperties: true });
/** false: the key is not narrowed and has all permissions of its user. */
const GrantedPermissions = Type.Union([Type.Literal(false), Permissions]);

export const UserIdParams = Type.Object({ user_id: Text });
export const KeyIdParams = Type.Object({ id: Text });

export const IpHistoryResponse = Type.Object({
  success: Success,
  results: Type.Array(
    model("IpAddressUse", {
      id: Type.Integer(),
      user_id: Type.Integer(),
      ip_address: Text,
      timestamp: Type.String({ format: "date-time" }),
      ip: Text,
      first_seen: Type.String({ format: "date-time" }),
      first_location: Text,
    }),
  ),
});

/** Fields of an account that its own record and its parent's list share. */
const PROFILE = {
  id: Type.Integer(),
  email: Text,
  username: Text,
  user: Text,
  fullname: Text,
  balance: Type.Number({ description: "Dollars, with what is set aside for running instances" }),
  credit: Type.Number({ description: "Dollars that can be spent, in whole cents" }),
  balance_threshold: Type.Number(),
  balance_threshold_enabled: Type.Boolean(),
  traffic_limit: Nullable(Type.Number()),
  email_verified: Type.Boolean({
    description: "True when the address is proven: by a mailed token, or by the word of an administrator",
  }),
  has_billing: Type.Boolean(),
  has_payout: Type.Boolean(),
  can_pay: Type.Boolean(),
  billing_creditonly: Type.Boolean(),
  billed_expected: Type.Number(),
  billed_verified: Type.Number(),
  paid_expected: Type.Number(),
  paid_verified: Type.Number(),
  got_signup_credit: Type.Boolean(),
  last4: Text,
  paypal_email: Text,
  wise_email: Text,
  huggingface_cloud_sync_enabled: Type.Boolean(),
  password_resettable: Type.Boolean(),
  ssh_key: Text,
  sid: Text,
  tfa_status: Type.Union([Type.Literal("enabled"), Type.Literal("disabled")]),
  billaddress_line1: Text,
  billaddress_line2: Text,
  billaddress_city: Text,
  billaddress_zip: Text,
  billaddress_country: Text,
  taxinfo: Text,
  parent_id: Nullable(Type.Integer()),
  host_only: Type.Boolean(),
  host_agreement_accepted: Type.Boolean(),
};
export const CurrentUserResponse = model("Account", {
  ...PROFILE,
  is_admin: Type.Boolean(),
  key_id: Type.Integer(),
  created_at: Type.Number(),
  view: Nullable(
    model(
      "AccountView",
      { user_id: Type.Integer(), reason: Type.String(), ends_at: Type.Number() },
      { description: "Set for an administrator who sees the account as its person does; null for everybody else" },
    ),
  ),
  freeze: Nullable(
    model(
      "AccountFreeze",
      {
        id: Type.Integer(),
        reason: Type.String(),
        holds_for: Type.Union([Type.Literal("account"), Type.Literal("member")], {
          description: "`account`, or `member` when the person who holds this key of a team is frozen",
        }),
      },
      {
        description:
          "The freeze for which calls that change something are refused with `account_frozen`; null without one",
      },
    ),
  ),
});
export type CurrentUserResponse = Static<typeof CurrentUserResponse>;

/** profile.ts checks lengths and forms, and answers with the contract's codes. */
export const CreateUserBody = Type.Object({
  email: Type.Optional(Text),
  username: Type.Optional(Text),
  password: Type.Optional(Text),
  host_only: Type.Optional(Type.Boolean()),
  parent_id: Type.Optional(Type.Union([Text, Type.Integer()])),
  ssh_key: Type.Optional(Text),
  captcha: Type.Optional(Text),
});
export type CreateUserBody = Static<typeof CreateUserBody>;

export const CreateUserResponse = Type.Object({
  ...CurrentUserResponse.properties,
  key_id: Type.Integer({ description: "Id of the account's first key" }),
  api_key: Type.String({ description: "The secret of the account's first key; it cannot be read again" }),
});

export const UpdateUserBody = Type.Object({
  normalized_email: Type.Optional(Text),
  username: Type.Optional(Text),
  fullname: Type.Optional(Text),
  ssh_key: Type.Optional(Text),
  billaddress_line1: Type.Optional(Text),
  billaddress_line2: Type.Optional(Text),
  billaddress_city: Type.Optional(Text),
  billaddress_zip: Type.Optional(Text),
  billaddress_country: Type.Optional(Text),
  taxinfo: Type.Optional(Text),
  billaddress_taxinfo: Type.Optional(Type.String()),
  balance_threshold: Type.Optional(Type.Union([Type.Number(), Type.String()])),
  balance_threshold_enabled: Type.Optional(Type.Union([Type.Boolean(), Type.String()])),
  traffic_limit: Type.Optional(Nullable(Type.Number())),
});
export type UpdateUserBody = Static<typeof UpdateUserBody>;
/** The account as it is now, which newer clients read, with the message for older ones. */
export const UpdateUserResponse = Type.Object({ success: Success, msg: Text, ...CurrentUserResponse.properties });

export const ConfirmEmailBody = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 200 }),
});
export const ProveEmailBody = Type.Object({
  email: Type.String(),
});

export const MessageResponse = Type.Object({ success: Success, msg: Text });

const SubaccountRecord = model("Subaccount", {
  ...PROFILE,
  key_id: Nullable(Type.Integer()),
  api_key: Type.String({
    description:
      "The beginning of the key of `key_id`: whole keys are not stored, but can be replaced; empty without one",
    examples: ["berth_Ab3xYz..."],
  }),
  created_at: Type.String({ format: "date-time" }),
  deleted_at: Nullable(Type.String({ format: "date-time" })),
  balance: Type.Number({ description: "Dollars, with what is set aside" }),
  credit: Type.Number({ description: "Dollars that it can spend, in whole cents" }),
});
export type SubaccountRecord = Static<typeof SubaccountRecord>;
export const SubaccountsResponse = Type.Object({ users: Type.Array(SubaccountRecord) });

export const RegenerateBody = Type.Object({
  subaccount_user_id: Type.Optional(
    Type.Integer({ description: "Id of the subaccount whose key is replaced", examples: [8] }),
  ),
  regenerate_all: Type.Optional(
    Type.Boolean({ description: "True to replace the keys of all subaccounts, instead of one", examples: [true] }),
  ),
});
export const RegenerateResponse = Type.Object({
  success: Success,
  regenerated_keys: Type.Array(
    model("RegeneratedKey", {
      user_id: Type.Integer({ description: "Id of the subaccount", examples: [8] }),
      email: Text,
      derived_key: Type.String({
        description: "The new key, which is shown this once",
        examples: ["berth_example_key"],
      }),
    }),
    { description: "The new keys, in the order of the subaccounts' ids" },
  ),
});

export const SettingsResponse = Type.Object({
  o: Type.Union([Type.String(), Type.Null()], {
    description: "A script for the start of every instance; always null, since templates have such scripts here",
    examples: [null],
  }),
});

export const CreateKeyBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  permissions: Type.Optional(AskedPermissions),
  key_params: Type.Optional(
    Type.Union([Type.String({ maxLength: 4096 }), Type.Object({}, { additionalProperties: true })]),
  ),
  team_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_ID,
    }),
  ),
  demands_tfa: Type.Optional(Type.Boolean()),
});
export type CreateKeyBody = Static<typeof CreateKeyBody>;

export const CreateKeyResponse = Type.Object({
  success: Success,
  id: Type.Integer(),
  key: Type.String(),
  permissions: GrantedPermissions,
});

export const ApiKeyRecord = model("ApiKey", {
  id: Type.Integer(),
  user_id: Type.Integer({ description: "Id of the user who holds the key" }),
  rights: Type.Union([Type.Literal("full"), Type.Literal("scoped")]),
  team_id: Type.Union([Type.Integer(), Type.Null()]),
  team_name: Nullable(Text),
  team_owner: Nullable(Type.Integer()),
  name: Text,
  key: Type.Null({ description: "Always null: a key is shown once, when it is created" }),
  key_type: Type.Literal("api"),
  key_prefix: Type.String(),
  permissions: GrantedPermissions,
  key_params: Text,
  demands_tfa: Type.Boolean(),
  created_at: Type.Number(),
});
export type ApiKeyRecord = Static<typeof ApiKeyRecord>;

export const ApiKeysResponse = Type.Object({ apikeys: Type.Array(ApiKeyRecord) });

const SshKeyRecord = model("SshKey", {
  id: Type.Integer(),
  user_id: Type.Integer(),
  key: Text,
  public_key: Text,
  ssh_key: Text,
  created_at: Type.Number(),
  deleted_at: Type.Null(),
});
export type SshKeyRecord = Static<typeof SshKeyRecord>;

/** ssh-public-key.ts checks the form, and answers with the contract's codes. */
export const SshKeyBody = model("SshPublicKey", {
  ssh_key: Type.Optional(Type.String({ description: "A public key: the line of a .pub file" })),
});
export const SshKeyResponse = model("StoredSshKey", { success: Success, key: SshKeyRecord });
export const SshKeysResponse = Type.Array(SshKeyRecord);
export const DoneResponse = Type.Object({ success: Success });

/** secret-name.ts checks name and value, and answers with the contract's codes. */
export const SecretNameBody = Type.Object({
  key: Type.Optional(Type.String()),
});
export const SecretBody = model("EnvironmentVariable", { ...SecretNameBody.properties, value: Type.Optional(Text) });
export const SecretsResponse = Type.Object({
  success: Success,
  secrets: Type.Record(Text, Text),
});

export const DeleteKeyResponse = Type.Literal("Successfully Deleted API Key");

export const ResetKeyResponse = Type.Object({ success: Success, new_api_key: Text });

export const AUDIT_LOG_ENTRY = {
  ip_address: Text,
  api_key_id: Nullable(Type.Integer()),
  created_at: Type.Number(),
  api_route: Text,
  args: Type.Object({}, { additionalProperties: true }),
};
export const AuditLogsResponse = Type.Array(model("AuditLogEntry", AUDIT_LOG_ENTRY));

export const AdminCreateUserBody = Type.Object({
  email: Text,
  username: Type.Optional(Text),
  credit: Type.Optional(Type.Number({ minimum: 0, description: "Dollars granted at once" })),
});
export type AdminCreateUserBody = Static<typeof AdminCreateUserBody>;

export const AdminCreateKeyBody = Type.Object({
  email: Type.String({ description: "E-mail address or id of the user" }),
  permissions: Type.Optional(AskedPermissions),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
});
export type AdminCreateKeyBody = Static<typeof AdminCreateKeyBody>;

export const AdminKeyResponse = model("IssuedKey", {
  id: Type.Integer(),
  email: Text,
  api_key: Type.String(),
  key_id: Type.Integer(),
});
