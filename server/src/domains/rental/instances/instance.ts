import type { ObservedInstance } from "../../../../../protocol/index.ts";
import type { InstanceId, MachineId, OfferId, TemplateId, UserId } from "../../../base/ids.ts";
import type { Nanos } from "../../../base/money.ts";
import type { CapScope } from "../../money/ledger/index.ts";
import type { EncryptedLaunch } from "../templates/index.ts";
import type { DesiredState, Phase } from "./lifecycle/rules/lifecycle.ts";

/** An instance as it is stored: intent, commitment and observation are separate facts with one writer each. */
export type Instance = {
  readonly id: InstanceId;
  readonly userId: UserId;
  readonly machineId: MachineId;
  readonly offerId: OfferId;
  /** The bundle that its offer was shown in when it was rented; undefined where that is unknown. */
  readonly bundleId: number | undefined;
  readonly templateId: TemplateId | undefined;
  readonly templateHashId: string | undefined;
  readonly label: string | undefined;
  readonly isBid: boolean;
  /** True for a background job of its own host: below every bid, and free of charge. */
  readonly isBackground: boolean;
  /** The agreed price or the bid, for the whole rental. */
  readonly priceNanosPerHour: Nanos;
  /**
   * The discount of prepaid running time in millionths, while the deposit lasts; 0 for a rental that is not reserved.
   */
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
  /** The deadline of its phase; undefined when it may wait. */
  readonly deadlineAt: Date | undefined;
  readonly generation: number;
  /** The time up to which its host may have a newer run; undefined unless the database was set back lately. */
  readonly newerRunsUntilAt: Date | undefined;
  /** The revision of its container, which grows when that is to be created again. */
  readonly revision: number;
  readonly observed: Observation | undefined;
  /** The problem of the devices that it holds; empty when there is none. */
  readonly deviceProblem: string;
  /** The scopes whose caps its spending counts against, besides its account's and its own. */
  readonly capScopes: readonly CapScope[];
  readonly createdAt: Date;
  readonly endAt: Date;
};

/** The limit of its traffic costs, as of its last settlement. */
export type InstanceTraffic = {
  /** The limit that its renter set; undefined for the budget. */
  readonly limitNanos: Nanos | undefined;
  readonly spentNanos: Nanos;
  /** The rest of the budget; undefined when a limit is set. */
  readonly leftNanos: Nanos | undefined;
  readonly isReached: boolean;
};

/** The last report of its host. */
export type Observation = {
  readonly generation: number;
  readonly state: string;
  readonly statusMsg: string;
  readonly ports: Readonly<Record<string, number>>;
  /** How far the pull of its image has come; undefined where none is under way, or its size is not known. */
  readonly pull: NonNullable<ObservedInstance["pull"]> | undefined;
  /** The key of the SSH server in front of it, as in `known_hosts` without the name. */
  readonly sshHostKey: string | undefined;
  readonly at: Date;
};

/** The actor of a change, for the event log: `user:7`, `host:3`, `market`, `rule`. */
export type Actor = string;
