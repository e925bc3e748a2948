import type { AccountFreezeId, ApiKeyId, InstanceId, UserId } from "./ids.ts";

export const PERMISSION_CATEGORIES = [
  "instance_read",
  "instance_write",
  "user_read",
  "user_write",
  "billing_read",
  "billing_write",
  "machine_read",
  "machine_write",
  "misc",
  "team_read",
  "team_write",
] as const;
export type PermissionCategory = (typeof PERMISSION_CATEGORIES)[number];

/** An open freeze, as the caller whom it stops is told of it. */
export type Freeze = {
  readonly id: AccountFreezeId;
  /** A phrase or sentence of the administrator who froze the account. */
  readonly reason: string;
};

/** A session of a person, which a password or a second factor opened. */
export type Session = { readonly kind: "session" | "tfa"; readonly expiresAt: Date };

/** A look of an administrator at the console as another account (base/account-view.ts). */
export type AccountView = {
  readonly adminId: UserId;
  readonly userId: UserId;
  readonly reason: string;
  readonly endsAt: Date;
};

/** The caller, resolved from the key of a request. */
export type Identity = {
  /** The account that the key acts as, and that pays: a person's own, or a team's. */
  readonly userId: UserId;
  readonly apiKeyId: ApiKeyId;
  /** The member who holds the key, when it is the key of a team. */
  readonly memberId: UserId | undefined;
  readonly isAdmin: boolean;
  /** Rights of the key, within the role of its user in a team; undefined grants all rights of the user. */
  readonly permissions: PermissionDocument | undefined;
  /** The instance that the key lies in: it may touch this instance and nothing else. */
  readonly instanceId: InstanceId | undefined;
  /** The session that the key is of; absent for an API key. */
  readonly session?: Session | undefined;
  /** True when destructive operations need a session that a second factor opened, and this key is none. */
  readonly demandsTfa?: boolean;
  /** The open freeze of the account; absent while there is none. */
  readonly freeze?: Freeze | undefined;
  /** Set when the caller is an administrator who sees the account as its person does, and may change nothing. */
  readonly view?: AccountView | undefined;
  /** The open freeze of the member who holds the key of a team. */
  readonly memberFreeze?: Freeze | undefined;
};

/** The identity and address of a request. */
export type Caller = { readonly identity: Identity; readonly ipAddress: string };

export type Comparison = "eq" | "lte" | "gte";
export type Constraints = Readonly<Record<string, Readonly<Partial<Record<Comparison, string | number | boolean>>>>>;
/** Limits on one child operation; an empty grant allows all of it. */
export type Grant = { readonly constraints?: Constraints };
/**
 * A permission document: an empty category grants all of it, a filled one its named operations. What it does not name,
 * it does not grant: the empty document grants nothing.
 */
export type PermissionDocument = {
  readonly api?: Readonly<Partial<Record<PermissionCategory, Readonly<Record<string, Grant>>>>>;
};
