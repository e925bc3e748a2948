import { forbidden, type AppError } from "../../../../../base/errors.ts";
import type { UserId } from "../../../../../base/ids.ts";
import type { Nanos } from "../../../../../base/money.ts";

/** A live account. */
export type User = {
  readonly id: UserId;
  readonly email: string;
  /** Whether a mail, or the operator, proved that the address is this account's. */
  readonly isEmailProven: boolean;
  readonly username: string;
  readonly fullname: string;
  readonly parentId: UserId | undefined;
  readonly isAdmin: boolean;
  readonly isHostOnly: boolean;
  /** Nobody signs in as it: its members act for it (member-store.ts). */
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
  /** What the traffic of each new instance may cost; undefined for the budget. */
  readonly trafficLimitNanos: Nanos | undefined;
  readonly isBalanceThresholdEnabled: boolean;
  readonly createdAt: Date;
};

/** Where the accounts of teams have their addresses: nobody gets mail there (RFC 2606), and nobody may register one. */
export const TEAM_EMAIL_DOMAIN = "teams.invalid";

/** Where accounts have their addresses whose own another account proved to be its own: nobody gets mail there. */
export const CLAIM_EMAIL_DOMAIN = "unproven.invalid";

/** What a team cannot do because it is no person. */
export function notForTeams(message: string): AppError {
  return forbidden(message, "team_user_forbidden");
}
