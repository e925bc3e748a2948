import type { Origin } from "../../../base/facts.ts";
import type { InstanceId, LedgerCapId, UserId } from "../../../base/ids.ts";
import type { Nanos } from "../../../base/money.ts";

declare const transferBrand: unique symbol;
declare const holdBrand: unique symbol;
export type TransferId = bigint & { readonly [transferBrand]: true };
export type HoldId = bigint & { readonly [holdBrand]: true };

/** Brands a hold's id that came out of a database column. */
export function asHoldId(value: bigint): HoldId {
  return value as HoldId;
}

/** Brands a transfer's id that came out of a database column. */
export function asTransferId(value: bigint): TransferId {
  return value as TransferId;
}

/**
 * `credit` is what a user may spend, `earnings` what a host has earned, a `deposit` what was prepaid for one instance. The
 * others belong to the house. Money enters from `issuance` (an administrator's word) and `stripe` (cards), which are below
 * zero by what came; `losses` is below zero by what the house has borne. `fees` are kept, `payouts` have been paid out.
 */
export const USER_ACCOUNT_KINDS = ["credit", "earnings", "deposit"] as const;
export const HOUSE_ACCOUNT_KINDS = ["issuance", "fees", "payouts", "stripe", "losses"] as const;
export type UserAccountKind = (typeof USER_ACCOUNT_KINDS)[number];
export type HouseAccountKind = (typeof HOUSE_ACCOUNT_KINDS)[number];

/** Names an account without knowing its row, which is made when it is first needed. */
export type AccountRef =
  | { readonly kind: Exclude<UserAccountKind, "deposit">; readonly userId: UserId }
  | { readonly kind: "deposit"; readonly userId: UserId; readonly instanceId: InstanceId }
  | { readonly kind: HouseAccountKind };

export const ISSUANCE = { kind: "issuance" } as const satisfies AccountRef;
export const FEES = { kind: "fees" } as const satisfies AccountRef;
export const PAYOUTS = { kind: "payouts" } as const satisfies AccountRef;
export const STRIPE = { kind: "stripe" } as const satisfies AccountRef;
export const LOSSES = { kind: "losses" } as const satisfies AccountRef;

export function creditOf(userId: UserId): AccountRef {
  return { kind: "credit", userId };
}

export function earningsOf(userId: UserId): AccountRef {
  return { kind: "earnings", userId };
}

/** What a renter has prepaid for one instance: nothing else can be paid from it. */
export function depositOf(userId: UserId, instanceId: InstanceId): AccountRef {
  return { kind: "deposit", userId, instanceId };
}

/** The kind as it is stored: that of a deposit names its instance (migration 0180). */
export function storedKindOf(account: AccountRef): string {
  return account.kind === "deposit" ? `deposit:${account.instanceId}` : account.kind;
}

/** What a transfer was for. Closed: the database holds the same list (`ledger_transfers_code`). */
export const USAGE_CODES = ["usage_gpu", "usage_storage", "usage_bandwidth_up", "usage_bandwidth_down"] as const;
export const TRANSFER_CODES = [
  "credit_granted",
  "credit_transfer",
  ...USAGE_CODES,
  "prepay",
  "refund",
  "payout",
  "fee",
  "payment",
  "payment_returned",
  "host_credit",
  "payout_returned",
  "write_off",
  "grant_released",
  "storage_owed",
  "taken_back",
  "earnings_taken_back",
  "correction",
] as const;
/** Keys of what a deposit's end divides between renter, host and house: no usage, whatever its code. */
export const DEPOSIT_KEY_PREFIX = "deposit:";

/** Whether a transfer pays for what was used: a counter, an outage or terms say how much, and no person. */
export function isUsage({ code, key }: { readonly code: string; readonly key: string }): boolean {
  return USAGE_CODES.some((usage) => usage === code) && !key.startsWith(DEPOSIT_KEY_PREFIX);
}

/** An account in words: `credit of user 7`, `deposit:12 of user 7`, `issuance`. */
export function nameAccount({ kind, userId }: { readonly kind: string; readonly userId: number | undefined }): string {
  return userId === undefined ? kind : `${kind} of user ${userId}`;
}

export type UsageCode = (typeof USAGE_CODES)[number];
export type TransferCode = (typeof TRANSFER_CODES)[number];

/**
 * Why money moved, in snake_case names: `instance_id`, `generation`, `volume_id`, `api_key_id`, `actor`, … A usage
 * charge also names its `quantity` as decimal text: seconds for GPUs, GB-seconds for storage, bytes for bandwidth.
 * `ip_address` alone may differ when a transfer is repeated.
 */
export type Cause = Readonly<Record<string, string | number | boolean>>;

/**
 * A wish to move money. The caller makes `key` from what it pays for, so that a repetition carries the same one. Cause
 * is part of the content that a repetition must match; description is not.
 */
export type TransferRequest = {
  readonly key: string;
  readonly debit: AccountRef;
  readonly credit: AccountRef;
  readonly amount: Nanos;
  readonly code: TransferCode;
  readonly cause: Cause;
  readonly description: string;
  /** Who asked for it, where several requests share a transaction; the transaction's when left out. */
  readonly origin?: Origin | undefined;
};

/** `exists` means that this very transfer was posted before; `key_conflict` that its key belongs to another one. */
export type TransferOutcome =
  | { readonly kind: "posted"; readonly transferId: TransferId }
  | { readonly kind: "exists"; readonly transferId: TransferId }
  | { readonly kind: "insufficient"; readonly shortfallNanos: Nanos; readonly availableNanos: Nanos }
  | { readonly kind: "key_conflict" };

/** Whose limit something counts against: `account:7`, `key:3`, `endpoint:5`, `instance:12`. */
export const CAP_SCOPE_KINDS = ["account", "key", "endpoint", "instance"] as const;
export type CapScopeKind = (typeof CAP_SCOPE_KINDS)[number];
export type CapScope = `${CapScopeKind}:${number}`;

/** Days and months of UTC; `total` never begins anew. */
export const CAP_PERIODS = ["day", "month", "total"] as const;
export type CapPeriod = (typeof CAP_PERIODS)[number];

/** A wish to set a user's credit aside, so that what is about to be used can be paid. */
export type HoldRequest = {
  readonly userId: UserId;
  readonly amount: Nanos;
  readonly cause: Cause;
  /** The caps of these bear it as well as the balance; `account:<userId>` is one of them. */
  readonly scopes: readonly CapScope[];
};

/** What leaves least: the balance, or one cap. */
export type Limitation =
  | { readonly kind: "balance" }
  | { readonly kind: "cap"; readonly capId: LedgerCapId; readonly scope: CapScope; readonly period: CapPeriod };

export type HoldOutcome =
  | { readonly kind: "placed"; readonly holdId: HoldId }
  | {
      readonly kind: "insufficient";
      readonly shortfallNanos: Nanos;
      readonly availableNanos: Nanos;
      readonly limitedBy: Limitation;
    };

/** `available` is `balance − held`. */
export type Balance = { readonly balance: Nanos; readonly held: Nanos; readonly available: Nanos };

/** One side of a transfer, as the owner of that account sees it. */
export type TransferEntry = {
  readonly transferId: TransferId;
  readonly key: string;
  readonly accountKind: UserAccountKind;
  /** `in` raised the account's balance by `amount`, `out` lowered it. */
  readonly direction: "in" | "out";
  readonly amount: Nanos;
  readonly code: TransferCode;
  readonly cause: Cause;
  readonly description: string;
  readonly createdAt: Date;
};
