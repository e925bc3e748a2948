import { forbidden, type AppError } from "../../base/errors.ts";
import type { UserId } from "../../base/ids.ts";
import type { Nanos } from "../../base/money.ts";

/** A live account. */
export type User = {
  readonly id: UserId;
  readonly email: string;
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
  readonly isBalanceThresholdEnabled: boolean;
  readonly createdAt: Date;
};

/** Where the accounts of teams have their addresses: nobody gets mail there (RFC 2606), and nobody may register one. */
export const TEAM_EMAIL_DOMAIN = "teams.invalid";

/** What a team cannot do because it is no person. */
export function notForTeams(message: string): AppError {
  return forbidden(message, "team_user_forbidden");
}
