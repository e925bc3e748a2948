import type { Origin } from "../../../base/facts.ts";
import type { InstanceId, LedgerCapId, UserId } from "../../../base/ids.ts";
import type { Nanos } from "../../../base/money.ts";

declare const transferBrand: unique symbol;
declare const holdBrand: unique symbol;
export type TransferId = bigint & { readonly [transferBrand]: true };
export type HoldId = bigint & { readonly [holdBrand]: true };

/** Brands a hold's id from a database column. */
export function asHoldId(value: bigint): HoldId {
  return value as HoldId;
}

/** Brands a transfer's id from a database column. */
export function asTransferId(value: bigint): TransferId {
  return value as TransferId;
}

/**
 * User accounts: `credit` is what a user may spend, `earnings` what a host has earned, a `deposit` is prepaid for one
 * instance. The others belong to the house. Money enters from `issuance` (granted by an administrator) and `stripe`
 * (cards); their balances are negative by all that entered. The balance of `losses` is negative by all that the house
 * has borne. `fees` holds the house's fees, `payouts` all that was paid out.
 */
export const USER_ACCOUNT_KINDS = ["credit", "earnings", "deposit"] as const;
export const HOUSE_ACCOUNT_KINDS = ["issuance", "fees", "payouts", "stripe", "losses"] as const;
export type UserAccountKind = (typeof USER_ACCOUNT_KINDS)[number];
export type HouseAccountKind = (typeof HOUSE_ACCOUNT_KINDS)[number];

/** Names an account without its row, which is created at its first use. */
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

/** The account of the amount that a renter has prepaid for one instance; it pays for that instance only. */
export function depositOf(userId: UserId, instanceId: InstanceId): AccountRef {
  return { kind: "deposit", userId, instanceId };
}

/** The stored kind of an account: a deposit's kind includes its instance (migration 0180). */
export function storedKindOf(account: AccountRef): string {
  return account.kind === "deposit" ? `deposit:${account.instanceId}` : account.kind;
}

/** Why a transfer was made. A closed list, which the database repeats (`ledger_transfers_code`). */
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
/**
 * Prefix of the keys by which a deposit's end is divided between renter, host and house; these transfers are no usage.
 */
export const DEPOSIT_KEY_PREFIX = "deposit:";

/** True for transfers that pay for usage. Counters, an outage or terms decide their amounts, and no person does. */
export function isUsage({ code, key }: { readonly code: string; readonly key: string }): boolean {
  return USAGE_CODES.some((usage) => usage === code) && !key.startsWith(DEPOSIT_KEY_PREFIX);
}

/** Words for an account: `credit of user 7`, `deposit:12 of user 7`, `issuance`. */
export function nameAccount({ kind, userId }: { readonly kind: string; readonly userId: number | undefined }): string {
  return userId === undefined ? kind : `${kind} of user ${userId}`;
}

export type UsageCode = (typeof USAGE_CODES)[number];
export type TransferCode = (typeof TRANSFER_CODES)[number];

/**
 * The cause of a transfer, in snake_case names: `instance_id`, `generation`, `volume_id`, `api_key_id`, `actor`, … A
 * usage charge also names its `quantity` as decimal text: seconds for GPUs, GB-seconds for storage, bytes for
 * bandwidth. A repeated transfer must have the same cause, except for `ip_address`.
 */
export type Cause = Readonly<Record<string, string | number | boolean>>;

/**
 * A request to move money. The caller derives `key` from what it pays for, so that a repetition carries the same key. A
 * repetition must match the cause, but not the description.
 */
export type TransferRequest = {
  readonly key: string;
  readonly debit: AccountRef;
  readonly credit: AccountRef;
  readonly amount: Nanos;
  readonly code: TransferCode;
  readonly cause: Cause;
  readonly description: string;
  /**
   * The request that asked for this transfer; by default the transaction's. Set where several requests share a
   * transaction.
   */
  readonly origin?: Origin | undefined;
};

/** `exists`: this very transfer was posted before. `key_conflict`: another transfer has its key. */
export type TransferOutcome =
  | { readonly kind: "posted"; readonly transferId: TransferId }
  | { readonly kind: "exists"; readonly transferId: TransferId }
  | { readonly kind: "insufficient"; readonly shortfallNanos: Nanos; readonly availableNanos: Nanos }
  | { readonly kind: "key_conflict" };

/** The scope of a limit: `account:7`, `key:3`, `endpoint:5`, `instance:12`. */
export const CAP_SCOPE_KINDS = ["account", "key", "endpoint", "instance"] as const;
export type CapScopeKind = (typeof CAP_SCOPE_KINDS)[number];
export type CapScope = `${CapScopeKind}:${number}`;

/** Periods in UTC; `total` is one period that never ends. */
export const CAP_PERIODS = ["day", "month", "total"] as const;
export type CapPeriod = (typeof CAP_PERIODS)[number];

/** A request to set a user's credit aside, so that coming usage can be paid. */
export type HoldRequest = {
  readonly userId: UserId;
  readonly amount: Nanos;
  readonly cause: Cause;
  /** Scopes whose caps must cover the hold, as the balance must; `account:<userId>` is one of them. */
  readonly scopes: readonly CapScope[];
};

/** The limitation that leaves the least: the balance, or one cap. */
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

/** One side of a transfer, as the owner of its account sees it. */
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
