import type { FastifyRequest } from "fastify";
import type { Identity } from "../../../base/identity.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Sealer } from "../../../base/seal.ts";
import type { Tx } from "../../../db/transaction.ts";
import { identityOf } from "../../../http/server.ts";
import type { QueueMail } from "../../notifications/index.ts";
import type { Identities } from "./keys/identities.ts";
import type { IpHistory } from "./ip-history/ip-history.ts";
import type { RandomBytes } from "./keys/rules/keys.ts";
import type { Caller } from "./caller.ts";
import type { GrantCredit } from "./users/service.ts";
import type { BalanceView, PaymentStandingView } from "./views.ts";

/** What the routes need and do not own; `balanceOf` and `grantCredit` come from the ledger through `app.ts`. */
export type AccountPorts = {
  readonly identities: Identities;
  readonly ipHistory: IpHistory;
  readonly random: RandomBytes;
  readonly sealer: Sealer;
  /** Undefined where no mail server is set up. */
  readonly queueMail: QueueMail | undefined;
  /** Whether anybody may make an account; subaccounts and administrators' accounts are made either way. */
  readonly isSignupOpen: boolean;
  readonly balanceOf: (userId: UserId) => Promise<BalanceView>;
  /** The same for many, of whom those without money may be left out. */
  readonly balancesOf: (userIds: readonly UserId[]) => Promise<ReadonlyMap<UserId, BalanceView>>;
  /** What `payments` knows of the user, through `app.ts`. */
  readonly paymentStandingOf: (userId: UserId) => Promise<PaymentStandingView>;
  readonly grantCredit: GrantCredit;
  /** Refuses to make another key, of a team if one is named, where a limit is on one: the other would not have it. */
  readonly refuseNewKeys: (tx: Tx, identity: Identity, teamId: number | undefined) => Promise<void>;
};

export const ACCOUNT_TAGS = ["Accounts"];

export function callerOf(request: FastifyRequest): Caller {
  return { identity: identityOf(request), ipAddress: request.ip };
}
