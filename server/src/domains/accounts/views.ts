import { epochSeconds } from "../../base/clock.ts";
import type { ApiKeyId } from "../../base/ids.ts";
import { toDollars, type Nanos } from "../../base/money.ts";
import type { AuditRecord } from "./audit-store.ts";
import type { IpRecord } from "./ip-store.ts";
import type { ApiKey } from "./key-store.ts";
import type { Permissions } from "./permissions.ts";
import type { ApiKeyRecord, CurrentUserResponse, SshKeyRecord } from "./schema.ts";
import type { SshKey } from "./ssh-key-store.ts";
import type { Subaccount } from "./user-store.ts";
import type { User } from "./user.ts";

const NANOS_PER_CENT = 10_000_000n;

/** What a user owns: `available` is the part that nothing has been set aside from. */
export type BalanceView = { readonly balanceNanos: Nanos; readonly availableNanos: Nanos };

/** offer-fields.md §8.1. Berth has no cards, payouts by itself, mail or second factor: those fields say so. */
export function viewUser(
  user: User,
  { balanceNanos, availableNanos }: BalanceView,
  keyId: ApiKeyId,
): CurrentUserResponse {
  const { billing } = user;
  return {
    id: user.id,
    email: user.email,
    username: user.username,
    user: user.username,
    fullname: user.fullname,
    balance: toDollars(balanceNanos),
    credit: toDollars(wholeCents(availableNanos)),
    balance_threshold: toDollars(user.balanceThresholdNanos),
    balance_threshold_enabled: user.isBalanceThresholdEnabled,
    email_verified: false,
    has_billing: false,
    has_payout: false,
    can_pay: availableNanos > 0n,
    billing_creditonly: true,
    billed_expected: 0,
    billed_verified: 0,
    paid_expected: 0,
    paid_verified: 0,
    got_signup_credit: false,
    last4: "",
    paypal_email: "",
    password_resettable: false,
    ssh_key: user.sshKey,
    key_id: keyId,
    sid: "",
    tfa_status: "disabled",
    billaddress_line1: billing.line1,
    billaddress_line2: billing.line2,
    billaddress_city: billing.city,
    billaddress_zip: billing.zip,
    billaddress_country: billing.country,
    taxinfo: billing.taxinfo,
    parent_id: user.parentId ?? null,
    host_only: user.isHostOnly,
    created_at: epochSeconds(user.createdAt),
  };
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

export function viewSubaccount(subaccount: Subaccount) {
  return {
    id: subaccount.id,
    parent_id: subaccount.parentId,
    key_id: subaccount.keyId ?? null,
    email: subaccount.email,
    username: subaccount.username,
    created_at: subaccount.createdAt.toISOString(),
    deleted_at: subaccount.deletedAt?.toISOString() ?? null,
  };
}

export function viewApiKey(key: ApiKey): ApiKeyRecord {
  return {
    id: key.id,
    user_id: key.userId,
    rights: key.permissions === undefined ? "full" : "scoped",
    team_id: null,
    team_name: null,
    name: key.name,
    key_prefix: key.prefix,
    permissions: viewPermissions(key.permissions),
    key_params: key.keyParams,
    created_at: epochSeconds(key.createdAt),
  };
}

/** `false` says that the key is not narrowed (operations.md §6.2). */
export function viewPermissions(permissions: Permissions) {
  return permissions ?? (false as const);
}

/** The text under each of the names by which some client reads it (operations.md §6.3). */
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

/** Rounded down: what is shown as credit can be spent. */
function wholeCents(amount: Nanos): bigint {
  const remainder = ((amount % NANOS_PER_CENT) + NANOS_PER_CENT) % NANOS_PER_CENT;
  return amount - remainder;
}
