import { forbidden, type AppError } from "../../../../../base/errors.ts";
import type { UserId } from "../../../../../base/ids.ts";
import type { Nanos } from "../../../../../base/money.ts";

/** A live account. */
export type User = {
  readonly id: UserId;
  readonly email: string;
  /** True when a mail, or an administrator's word, proved that the address is this account's. */
  readonly isEmailProven: boolean;
  readonly username: string;
  readonly fullname: string;
  readonly parentId: UserId | undefined;
  readonly isAdmin: boolean;
  readonly isHostOnly: boolean;
  /** Nobody signs in as a team: its members act for it (member-store.ts). */
  readonly isTeam: boolean;
  readonly sshKey: string;
  readonly billing: {
    readonly line1: string;
    readonly line2: string;
    readonly city: string;
    readonly zip: string;
    readonly country: string;
    readonly taxinfo: string;
  };
  readonly balanceThresholdNanos: Nanos;
  /** Traffic limit of each new instance; undefined for the default from its budget. */
  readonly trafficLimitNanos: Nanos | undefined;
  readonly isBalanceThresholdEnabled: boolean;
  /** True while the account has a second factor. */
  readonly hasTfa: boolean;
  readonly createdAt: Date;
};

/** Domain of team accounts' addresses: no mail arrives there (RFC 2606), and nobody may register one. */
export const TEAM_EMAIL_DOMAIN = "teams.invalid";

/** Domain of the addresses of accounts whose claimed address another account proved: no mail arrives there. */
export const CLAIM_EMAIL_DOMAIN = "unproven.invalid";

/** The error for an operation that a team cannot do because it is no person. */
export function notForTeams(message: string): AppError {
  return forbidden(message, "team_user_forbidden");
}
