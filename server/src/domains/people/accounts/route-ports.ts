import type { Identity } from "../../../base/identity.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Tx } from "../../../db/transaction.ts";
import type { QueueMail } from "../../notifications/index.ts";
import type { Identities } from "./keys/identities.ts";
import type { ActLog } from "./audit-log/act-log.ts";
import type { IpHistory } from "./ip-history/ip-history.ts";
import type { RandomBytes } from "./keys/rules/keys.ts";
import type { GrantCredit } from "./users/service.ts";
import type { ReadUserFacts } from "./views.ts";

/** Functions of other domains that the routes need; `app.ts` passes in `grantCredit` of the ledger. */
export type AccountPorts = {
  readonly identities: Identities;
  readonly ipHistory: IpHistory;
  readonly actLog: Pick<ActLog, "flush">;
  readonly random: RandomBytes;
  readonly encryption: Encryption;
  /** Queues a mail; undefined where no mail server is set up. */
  readonly queueMail: QueueMail | undefined;
  /** True when everybody may create an account; subaccounts and administrators' accounts are always possible. */
  readonly isSignupOpen: boolean;
  readonly factsOf: ReadUserFacts;
  readonly grantCredit: GrantCredit;
  /**
   * Refuses another key, of a team if one is named, to a caller whose key has a cap: the new key would not have it. In
   * a team, all keys by which the caller ever acted for it count.
   */
  readonly refuseNewKeys: (tx: Tx, identity: Identity, teamId: number | undefined) => Promise<void>;
};

export const ACCOUNT_TAGS = ["Accounts"];
