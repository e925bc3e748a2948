import type { FastifyRequest } from "fastify";
import type { UserId } from "../../base/ids.ts";
import type { Sealer } from "../../base/seal.ts";
import { identityOf } from "../../http/server.ts";
import type { Identities } from "./identities.ts";
import type { IpHistory } from "./ip-history.ts";
import type { RandomBytes } from "./keys.ts";
import type { Caller, GrantCredit } from "./user-service.ts";
import type { BalanceView } from "./views.ts";

/** What the routes need and do not own; `balanceOf` and `grantCredit` come from the ledger through `app.ts`. */
export type AccountPorts = {
  readonly identities: Identities;
  readonly ipHistory: IpHistory;
  readonly random: RandomBytes;
  readonly sealer: Sealer;
  readonly balanceOf: (userId: UserId) => Promise<BalanceView>;
  readonly grantCredit: GrantCredit;
};

export const ACCOUNT_TAGS = ["Accounts"];

export function callerOf(request: FastifyRequest): Caller {
  return { identity: identityOf(request), ipAddress: request.ip };
}
