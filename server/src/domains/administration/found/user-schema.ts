import { Type, type Static } from "typebox";
import { MAX_ID } from "../../../base/ids.ts";
import { model } from "../../../http/model.ts";
import { flag, idFilter, PAGE, textFilter } from "./query.ts";

const START = 1_767_225_600;
const Success = Type.Literal(true);
const MomentOrNull = (description: string) =>
  Type.Union([Type.Number(), Type.Null()], {
    description: `${description}, in seconds since the epoch`,
    examples: [START],
  });
const count = (description: string, example: number) => Type.Integer({ description, examples: [example] });
const dollars = (description: string, example: number) => Type.Number({ description, examples: [example] });
const yes = (description: string, example = false) => Type.Boolean({ description, examples: [example] });

export const UsersQuery = Type.Object({
  q: textFilter("Id of the account, or a part of its name or e-mail address", "ada@"),
  key_id: idFilter("Id of an API key: the account and the member that it is of", 5),
  frozen: flag("`true` for frozen accounts only, `false` for others"),
  admin: flag("`true` for administrators only, `false` for others"),
  team: flag("`true` for teams only, `false` for people"),
  ...PAGE,
});

const ACCOUNT = {
  id: count("Id of the account", 7),
  email: Type.String(),
  is_email_proven: yes("True when the address is proven to be the account's own", true),
  username: Type.String(),
  fullname: Type.String(),
  parent_id: Type.Union([Type.Integer(), Type.Null()], {
    description: "Id of the parent account, or null",
    examples: [null],
  }),
  is_admin: yes("True for an administrator"),
  is_team: yes("True for the account of a team"),
  has_tfa: yes("True when the account has a second factor", true),
  freeze_id: Type.Union([Type.Integer(), Type.Null()], {
    description: "Id of the open freeze that holds for the account; null while it is not frozen",
    examples: [null],
  }),
  created_at: Type.Number(),
  last_seen_at: MomentOrNull("Time of the last request with one of its keys; null when there was none"),
  credit: dollars("Dollars of credit, with usage that is not charged yet", 41.5),
  held: dollars("Dollars of the credit that are set aside for what runs", 1.2),
  earnings: dollars("Dollars earned as a host that are not paid out", 0),
  running_count: count("Number of its instances that run", 2),
  instance_count: count("Number of its instances that are not over", 3),
  machine_count: count("Number of its machines", 0),
};
const FoundAccount = model("FoundAccount", ACCOUNT);
export type FoundAccount = Static<typeof FoundAccount>;

export const UsersResponse = Type.Object({
  success: Success,
  users: Type.Array(FoundAccount, { description: "Accounts, the newest first" }),
  next_token: Type.Union([Type.String(), Type.Null()]),
});

export const UserParams = Type.Object({ id: Type.Integer({ minimum: 1, maximum: MAX_ID }) });

const Counts = model(
  "AccountCounts",
  {
    keys: count("Number of its API keys", 2),
    sessions: count("Number of its open sessions", 1),
    members: count("Number of members, of a team", 0),
    teams: count("Number of teams that it is a member of", 1),
    subaccounts: count("Number of its subaccounts", 0),
    volumes: count("Number of its volumes", 1),
    network_disks: count("Number of its network disks", 0),
    endpoints: count("Number of its endpoints", 1),
    standing_requests: count("Number of its requests that wait in the queue", 0),
  },
  { description: "Numbers of the things that the account has" },
);

const Money = model(
  "AccountMoney",
  {
    credit: dollars("Dollars of credit, less usage that is not charged yet", 41.32),
    available: dollars("Dollars of the credit that can be spent now", 40.12),
    held: dollars("Dollars of the credit that are set aside for what runs", 1.2),
    earnings: dollars("Dollars earned as a host that are not paid out", 0),
  },
  { description: "Money of the account" },
);

const AccountFreeze = model("AccountFreezeRow", {
  id: count("Id of the freeze", 2),
  reason: Type.String({ description: "Reason of the freeze", examples: ["Reports of renters are looked into."] }),
  frozen_by: count("Id of the administrator", 1),
  frozen_at: Type.Number(),
  lifted_at: MomentOrNull("Time at which it was lifted; null while it is open"),
  lift_reason: Type.Union([Type.String(), Type.Null()], {
    description: "Reason of the lift; null while it is open",
    examples: [null],
  }),
});

const AccountFlag = model("AccountFlag", {
  id: count("Id of the flag", 8),
  machine_id: Type.Union([Type.Integer(), Type.Null()], {
    description: "Id of the machine; null when it is the host's",
    examples: [12],
  }),
  kind: Type.String({ description: "Kind of the flag", examples: ["slow_line"] }),
  msg: Type.String(),
  since: Type.Number({ description: "Time at which it was seen first, in seconds since the epoch", examples: [START] }),
  seen_count: count("Number of times that it was seen", 3),
});

const AccountPayoutHold = model("AccountPayoutHold", {
  id: count("Id of the hold", 6),
  kind: Type.String({ description: "Cause of the hold", examples: ["operator"] }),
  reason: Type.String({ description: "Reason, which the host reads", examples: ["No machine is verified."] }),
  placed_at: Type.Number({ description: "Time at which it was placed, in seconds since the epoch", examples: [START] }),
});

export const UserResponse = Type.Object({
  success: Success,
  account: model(
    "AccountFile",
    {
      ...ACCOUNT,
      deleted_at: MomentOrNull("Time at which the account was deleted; null while it exists"),
      counts: Counts,
      money: Money,
      freezes: Type.Array(AccountFreeze, {
        description: "Freezes of the account itself, the newest first, 50 at most",
      }),
      flags: Type.Array(AccountFlag, { description: "Open flags of the host, the newest first, 50 at most" }),
      payout_holds: Type.Array(AccountPayoutHold, { description: "Open holds on its payouts" }),
    },
    { description: "Record of the account" },
  ),
});
export type UserResponse = Static<typeof UserResponse>;
