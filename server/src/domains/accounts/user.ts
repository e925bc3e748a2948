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
