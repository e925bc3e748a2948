import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Tx } from "../db/transaction.ts";
import type { UserId } from "../base/ids.ts";
import { resolveBySystem, resolverByDns } from "../domains/notifications/index.ts";
import type { Identities } from "../domains/people/accounts/index.ts";
import { createIssuerClient, type SsoMeans, type SsoSettings } from "../domains/people/sign-in/index.ts";
import { appointMember, dismissMember } from "../domains/people/teams/index.ts";

type Means = {
  readonly clock: Clock;
  readonly log: Log;
  readonly identities: Identities;
  readonly freezeAbandoned: (tx: Tx, teamId: UserId) => Promise<void>;
};

/** The client of the issuer, and the ways into teams, of a server with single sign-on. */
export function createSsoMeans(settings: SsoSettings | undefined, means: Means): SsoMeans | undefined {
  if (settings === undefined) return undefined;
  const { clock, log } = means;
  const resolve = settings.isPrivateAllowed ? resolveBySystem : resolverByDns();
  return {
    ...{ settings, log },
    issuer: createIssuerClient(settings, { clock, resolve }),
    appointMember: (tx, appointment) => appointMember(tx, appointment, means),
    dismissMember: (tx, appointment) => dismissMember(tx, appointment, means),
  };
}
