import { epochSeconds } from "../../../base/clock.ts";
import type { Identity } from "../../../base/identity.ts";
import type { UserId } from "../../../base/ids.ts";
import { toDollars, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import type { AuditRecord } from "./audit-log/store.ts";
import type { IpRecord } from "./ip-history/store.ts";
import type { ApiKey } from "./keys/store.ts";
import type { Permissions } from "./keys/rules/permissions.ts";
import type { ApiKeyRecord, CurrentUserResponse, SshKeyRecord, SubaccountRecord } from "./schema.ts";
import type { SshKey } from "./ssh-keys/store.ts";
import type { Subaccount } from "./subaccounts/store.ts";
import type { User } from "./users/rules/user.ts";

const NANOS_PER_CENT = 10_000_000n;

/** A user's credit: `available` is the part that nothing has been set aside from. */
export type BalanceView = { readonly balanceNanos: Nanos; readonly availableNanos: Nanos };

/** Facts about a user's cards and payouts. */
export type PaymentStandingView = {
  /** Last digits of the card that is charged; undefined when none is saved. */
  readonly last4: string | undefined;
  readonly hasPayoutMethod: boolean;
};

/** Facts about a user that other domains know. */
export type UserFacts = {
  readonly balance: BalanceView;
  readonly payments: PaymentStandingView;
  /** True when the user has a machine, or a token or credential with which one joins. */
  readonly isHost: boolean;
};

/** Reads these facts of each of the users; `app.ts` passes it in. */
export type ReadUserFacts = (
  db: Reader,
  userIds: readonly UserId[],
) => Promise<readonly (UserFacts & { readonly userId: UserId })[]>;

/** The part of an identity that a record of the caller's own account shows. */
export type OwnIdentity = Pick<Identity, "apiKeyId" | "isAdmin" | "session" | "freeze" | "memberFreeze" | "view">;

/** The API's record of the caller's own account. */
export function viewUser(
  user: User,
  { identity, ...facts }: UserFacts & { readonly identity: OwnIdentity },
): CurrentUserResponse {
  return {
    ...viewProfile(user, facts),
    is_admin: identity.isAdmin,
    key_id: identity.apiKeyId,
    sid: identity.session === undefined ? "" : String(identity.apiKeyId),
    created_at: epochSeconds(user.createdAt),
    view: viewView(identity),
    freeze: viewFreeze(identity),
  };
}

/**
 * The fields that records of all users share. Berth has no sign-up credit: that field says so.
 */
function viewProfile(user: User, { balance, payments, isHost }: UserFacts) {
  const { billing } = user;
  const hasCard = payments.last4 !== undefined;
  return {
    id: user.id,
    email: user.email,
    username: user.username,
    user: user.username,
    fullname: user.fullname,
    ...viewBalance(balance),
    balance_threshold: toDollars(user.balanceThresholdNanos),
    balance_threshold_enabled: user.isBalanceThresholdEnabled,
    traffic_limit: user.trafficLimitNanos === undefined ? null : toDollars(user.trafficLimitNanos),
    email_verified: user.isEmailProven,
    has_billing: hasCard,
    has_payout: payments.hasPayoutMethod,
    can_pay: balance.availableNanos > 0n || (hasCard && user.isBalanceThresholdEnabled),
    billing_creditonly: !hasCard,
    billed_expected: 0,
    billed_verified: 0,
    paid_expected: 0,
    paid_verified: 0,
    got_signup_credit: false,
    last4: payments.last4 ?? "",
    paypal_email: "",
    wise_email: "",
    huggingface_cloud_sync_enabled: false,
    password_resettable: false,
    ssh_key: user.sshKey,
    sid: "",
    tfa_status: user.hasTfa ? ("enabled" as const) : ("disabled" as const),
    billaddress_line1: billing.line1,
    billaddress_line2: billing.line2,
    billaddress_city: billing.city,
    billaddress_zip: billing.zip,
    billaddress_country: billing.country,
    taxinfo: billing.taxinfo,
    parent_id: user.parentId ?? null,
    host_only: user.isHostOnly,
    host_agreement_accepted: isHost,
  };
}

function viewView({ view }: Pick<Identity, "view">): CurrentUserResponse["view"] {
  if (view === undefined) return null;
  return { user_id: view.userId, reason: view.reason, ends_at: epochSeconds(view.endsAt) };
}

function viewFreeze({
  freeze,
  memberFreeze,
}: Pick<Identity, "freeze" | "memberFreeze">): CurrentUserResponse["freeze"] {
  if (freeze !== undefined) return { ...freeze, holds_for: "account" };
  return memberFreeze === undefined ? null : { ...memberFreeze, holds_for: "member" };
}

/** `credit` is rounded down: all that is shown can be spent. */
export function viewBalance({ balanceNanos, availableNanos }: BalanceView) {
  return { balance: toDollars(balanceNanos), credit: toDollars(wholeCents(availableNanos)) };
}

export function viewIpRecord(record: IpRecord) {
  return {
    id: record.id,
    user_id: record.userId,
    ip_address: record.ipAddress,
    timestamp: record.lastSeenAt.toISOString(),
    ip: record.ipAddress,
    first_seen: record.firstSeenAt.toISOString(),
    first_location: "",
  };
}

/** The API's record of a subaccount. Keys are stored hashed, so that only the beginning of its key is shown. */
export function viewSubaccount(subaccount: Subaccount, facts: UserFacts): SubaccountRecord {
  const { key, createdAt, deletedAt, parentId } = subaccount;
  return {
    ...viewProfile(subaccount, facts),
    parent_id: parentId ?? null,
    key_id: key?.id ?? null,
    api_key: key === undefined ? "" : `${key.prefix}...`,
    created_at: createdAt.toISOString(),
    deleted_at: deletedAt?.toISOString() ?? null,
  };
}

export function viewApiKey(key: ApiKey): ApiKeyRecord {
  return {
    id: key.id,
    user_id: key.memberId ?? key.userId,
    rights: key.permissions === undefined ? "full" : "scoped",
    team_id: key.memberId === undefined ? null : key.userId,
    team_name: key.teamName ?? null,
    team_owner: key.teamOwnerId ?? null,
    name: key.name,
    key: null,
    key_type: "api",
    key_prefix: key.prefix,
    permissions: viewPermissions(key.permissions),
    key_params: key.keyParams,
    demands_tfa: key.demandsTfa,
    created_at: epochSeconds(key.createdAt),
  };
}

/** The permission document of a key; `false` for a key without limits, as clients expect. */
export function viewPermissions(permissions: Permissions) {
  return permissions ?? (false as const);
}

/** An SSH key with its text under each name that some client reads. */
export function viewSshKey({ id, userId, publicKey, createdAt }: SshKey): SshKeyRecord {
  return {
    id,
    user_id: userId,
    key: publicKey,
    public_key: publicKey,
    ssh_key: publicKey,
    created_at: epochSeconds(createdAt),
    deleted_at: null,
  };
}

export function viewAuditRecord(record: AuditRecord) {
  return {
    ip_address: record.ipAddress,
    api_key_id: record.apiKeyId ?? null,
    created_at: epochSeconds(record.createdAt),
    api_route: record.action,
    args: record.args,
  };
}

function wholeCents(amount: Nanos): bigint {
  const remainder = ((amount % NANOS_PER_CENT) + NANOS_PER_CENT) % NANOS_PER_CENT;
  return amount - remainder;
}
