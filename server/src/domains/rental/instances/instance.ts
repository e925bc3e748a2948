import type { InstanceId, MachineId, OfferId, TemplateId, UserId } from "../../../base/ids.ts";
import type { Nanos } from "../../../base/money.ts";
import type { CapScope, HoldId } from "../../money/ledger/index.ts";
import type { EncryptedLaunch } from "../templates/index.ts";
import type { DesiredState, Phase } from "./lifecycle/rules/lifecycle.ts";

/** An instance as it is stored: intent, commitment and observation are separate facts with one writer each. */
export type Instance = {
  readonly id: InstanceId;
  readonly userId: UserId;
  readonly machineId: MachineId;
  readonly offerId: OfferId;
  readonly templateId: TemplateId | undefined;
  readonly templateHashId: string | undefined;
  readonly label: string | undefined;
  readonly isBid: boolean;
  /** What its own host runs on idle devices: below every bid, and free of charge. */
  readonly isBackground: boolean;
  /** For the whole rental: the agreed price, or the bid. */
  readonly priceNanosPerHour: Nanos;
  /** What prepaying takes off the price while the deposit lasts, in millionths; 0 for a rental that is not reserved. */
  readonly discountPpm: number;
  readonly storageNanosPerGbMonth: Nanos;
  readonly inetUpNanosPerGb: Nanos;
  readonly inetDownNanosPerGb: Nanos;
  readonly traffic: InstanceTraffic;
  readonly deviceCount: number;
  readonly diskBytes: bigint;
  readonly launch: EncryptedLaunch;
  readonly desired: DesiredState;
  readonly phase: Phase;
  readonly phaseCause: string;
  readonly phaseSinceAt: Date;
  /** Until when it may stay in its phase; undefined where waiting is the right thing to do. */
  readonly deadlineAt: Date | undefined;
  readonly generation: number;
  /** Of its container: grows when that is to be made anew. */
  readonly revision: number;
  readonly observed: Observation | undefined;
  /** What is wrong with the devices that it holds; empty when nothing is. */
  readonly deviceProblem: string;
  readonly holdId: HoldId | undefined;
  /** Whose limits its spending counts against, besides its account's and its own. */
  readonly capScopes: readonly CapScope[];
  readonly createdAt: Date;
  readonly endAt: Date;
};

/** What its traffic may cost, as of its last settlement. */
export type InstanceTraffic = {
  /** What its renter set; undefined for the budget. */
  readonly limitNanos: Nanos | undefined;
  readonly spentNanos: Nanos;
  /** Of the budget; undefined where a limit is set. */
  readonly leftNanos: Nanos | undefined;
  readonly isReached: boolean;
};

/** What the host last said of it. */
export type Observation = {
  readonly generation: number;
  readonly state: string;
  readonly statusMsg: string;
  readonly ports: Readonly<Record<string, number>>;
  /** Of the SSH server in front of it, as in `known_hosts` without the name. */
  readonly sshHostKey: string | undefined;
  readonly at: Date;
};

/** Who changed something, for the event log: `user:7`, `host:3`, `market`, `rule`. */
export type Actor = string;
