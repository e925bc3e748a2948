import type { Identity } from "../../../base/identity.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Tx } from "../../../db/transaction.ts";
import type { QueueMail } from "../../notifications/index.ts";
import type { Identities } from "./keys/identities.ts";
import type { IpHistory } from "./ip-history/ip-history.ts";
import type { RandomBytes } from "./keys/rules/keys.ts";
import type { GrantCredit } from "./users/service.ts";
import type { BalanceView, PaymentStandingView } from "./views.ts";

/** Functions of other domains that the routes need; `app.ts` passes in `balanceOf` and `grantCredit` of the ledger. */
export type AccountPorts = {
  readonly identities: Identities;
  readonly ipHistory: IpHistory;
  readonly random: RandomBytes;
  readonly encryption: Encryption;
  /** Queues a mail; undefined where no mail server is set up. */
  readonly queueMail: QueueMail | undefined;
  /** True when everybody may create an account; subaccounts and administrators' accounts are always possible. */
  readonly isSignupOpen: boolean;
  readonly balanceOf: (userId: UserId) => Promise<BalanceView>;
  /** Balances of many users; those without money may be left out. */
  readonly balancesOf: (userIds: readonly UserId[]) => Promise<ReadonlyMap<UserId, BalanceView>>;
  /** Payment facts of the user, passed in from `payments` by `app.ts`. */
  readonly paymentStandingOf: (userId: UserId) => Promise<PaymentStandingView>;
  /** Payment facts of many users; those without any may be left out. */
  readonly paymentStandingsOf: (userIds: readonly UserId[]) => Promise<ReadonlyMap<UserId, PaymentStandingView>>;
  readonly grantCredit: GrantCredit;
  /**
   * Refuses another key, of a team if one is named, to a caller whose key has a cap: the new key would not have it. In
   * a team, all keys by which the caller ever acted for it count.
   */
  readonly refuseNewKeys: (tx: Tx, identity: Identity, teamId: number | undefined) => Promise<void>;
};

export const ACCOUNT_TAGS = ["Accounts"];
