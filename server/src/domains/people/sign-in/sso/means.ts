import type { Log } from "../../../../base/log.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import type { IssuerClient } from "./issuer-client.ts";
import type { SsoSettings } from "./settings.ts";

/** Membership of a team, which a group of the issuer gives. */
export type Appointment = {
  readonly teamId: UserId;
  readonly memberId: UserId;
  readonly ipAddress: string;
};

/** Functions of other parts that single sign-on needs. */
export type SsoMeans = {
  readonly settings: SsoSettings;
  readonly issuer: IssuerClient;
  readonly log: Log;
  /** Makes a person a member of a team, or changes the role of one whom a group made a member; the reason where it cannot. */
  readonly appointMember: (
    tx: Tx,
    appointment: Appointment & { readonly role: string; readonly isAppointed: boolean },
  ) => Promise<"appointed" | "others" | "no_team" | "no_role" | "no_room">;
  /** Ends a membership, but not that of the owner. */
  readonly dismissMember: (tx: Tx, appointment: Appointment) => Promise<void>;
};
