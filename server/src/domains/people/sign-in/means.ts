import type { Encryption } from "../../../base/encryption.ts";
import type { Identity } from "../../../base/identity.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import type { Identities, RandomBytes } from "../accounts/index.ts";
import type { ReadUserFacts } from "../accounts/for-sign-in.ts";
import type { QueueMail } from "../../notifications/index.ts";
import type { SmsSender } from "./sms.ts";
import type { SsoMeans } from "./sso/means.ts";

/** Settings of the sign-in with a browser. */
export type BrowserSettings = {
  /** The way in which people without an account get one. */
  readonly signUp: "open" | "invitation" | "sso";
  /** Providers of single sign-on, in the order in which they are offered. */
  readonly sso: readonly { readonly id: string; readonly name: string }[];
  /** The configured address of this server, for links in mails; undefined where none is. */
  readonly publicUrl: string | undefined;
  /** The version of this server. */
  readonly version: string;
  /** True when the hosts of this server are invented. */
  readonly isSimulated: boolean;
};

/** Functions of other parts that sign-in needs; `app.ts` passes them in. */
export type SignInMeans = {
  readonly identities: Identities;
  readonly random: RandomBytes;
  readonly encryption: Encryption;
  /** The key of the hashes of codes (rules/codes.ts). */
  readonly codeKey: Buffer;
  /** Queues a mail; undefined where no mail server is set up. */
  readonly queueMail: QueueMail | undefined;
  /** Sends text messages; undefined where no provider is set up. */
  readonly sms: SmsSender | undefined;
  readonly factsOf: ReadUserFacts;
  /** The address at which browsers reach this server, by the operator's setting. */
  readonly publicUrl: string | undefined;
  /** Single sign-on; undefined where the operator names no issuer. */
  readonly sso: SsoMeans | undefined;
  readonly browser: BrowserSettings;
  /** Refuses another key to a caller whose key has a cap: the new key would not have it. */
  readonly refuseNewKeys: (tx: Tx, identity: Identity, teamId: number | undefined) => Promise<void>;
  /** Refuses a session of a team to a member who has or had a capped key of it. */
  readonly refuseCappedMember: (
    tx: Tx,
    member: { readonly teamId: UserId; readonly memberId: UserId },
  ) => Promise<void>;
};
