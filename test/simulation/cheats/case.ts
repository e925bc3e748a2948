// Knowledge of one seed of the market of cheats: its people, the prices they saw, and their real orders.
import type { UserId } from "../../../server/src/base/ids.ts";
import type { CheatHost } from "./host.ts";
import type { Prices } from "../month/facts.ts";
import type { Stretch } from "../month/host.ts";

export type CardPayment = {
  readonly id: number;
  readonly intentId: string;
  readonly cents: number;
  /** True while the payment is disputed, or the dispute is lost: the money is not with the house. */
  isDisputed: boolean;
  /** The bank has decided, and a payment is disputed once. */
  isDecided: boolean;
  /** Refunds that an administrator has asked for, and the bank has not reported yet. */
  refundAskedCents: number;
  /** Refunds that reached the card. */
  refundedCents: number;
};

/** Corrections that administrators booked by hand for and against an account. */
export type ByHand = {
  /** The house's own cash that came to the account. */
  givenNanos: bigint;
  /** The part of corrections against the account that its credit covered. */
  takenNanos: bigint;
  /** Earnings of granted credit that were released to be paid out. */
  releasedNanos: bigint;
  /** An open hold of an administrator on its payouts. */
  payHoldId: number | undefined;
};

/** An offer as a search answered it. */
export type Shown = { readonly offerId: number; readonly size: number; readonly prices: Prices };

export type Person = {
  readonly name: string;
  readonly id: UserId;
  /** The address whose mail this person really reads. */
  readonly mailbox: string;
  /** The address that the account claims. */
  email: string;
  readonly secret: string;
  readonly payments: CardPayment[];
  /** Names of people to whom this one has transferred credit. */
  readonly sentTo: Set<string>;
  grantedNanos: bigint;
  /** Offers of this person's last search, by host and size. */
  readonly shown: Map<string, Shown>;
  readonly shownSpace: Map<string, { readonly offerId: number; readonly price: bigint }>;
  /** Narrow keys of this account, by the name of their rights. */
  readonly narrowKeys: Map<string, string>;
  /** Times in which an administrator kept the account frozen. */
  readonly freezes: Freeze[];
  readonly byHand: ByHand;
};

export type Freeze = Stretch & { readonly id: number };

/** Prices that a renter was shown or has named, and the GPU price that holds where the host asks less by now. */
export type Agreement = { readonly fromMs: number; readonly prices: Prices; readonly gpuDue: bigint };

export type Rental = {
  readonly label: string;
  readonly id: number;
  readonly renter: Person;
  readonly host: CheatHost;
  readonly hostName: string;
  readonly diskGb: number;
  /** Prices that the renter was shown or has named, each with its beginning. */
  readonly agreed: Agreement[];
  /** Times in which the renter wanted the rental to run. */
  readonly orders: Stretch[];
  readonly rentedMs: number;
  destroyedMs: number | undefined;
  isPrepaid: boolean;
  /** Moments at which its container was lost by the host. */
  readonly lossesMs: number[];
  /** Traffic limits that the renter ever set; the default limit holds while this is empty. */
  readonly trafficLimits: bigint[];
  /** The key inside its container, which its host can read; undefined where nobody was told. */
  readonly innerKey: string | undefined;
  /** True when the last stop came by the instance's own key, which may start it again. */
  isStoppedByKey: boolean;
};

export type Stored = {
  readonly label: string;
  readonly id: number;
  readonly renter: Person;
  readonly host: CheatHost;
  readonly sizeGb: number;
  readonly price: bigint;
  readonly fromMs: number;
  deletedMs: number | undefined;
};

export type Machine = {
  readonly owner: Person;
  readonly host: CheatHost;
  /** The price of one GPU and hour in the last listing. */
  listedGpu: bigint;
  /** The lowest price ever of one GPU and hour. */
  cheapestGpu: bigint;
  /** The network disk that it mounts, once it does. */
  networkDiskId: number | undefined;
};

/** One thing that somebody does, as a value: it can be done again in another order, and told. */
export type Deed = { readonly kind: string; readonly label: string; readonly args: Args };
export type Args = Readonly<Record<string, string | number>>;

/** An entry of a case's story: a deed with its outcome, or time that passed. */
export type Told =
  | { readonly kind: "deed"; readonly sentence: string; readonly outcome: string }
  | { readonly kind: "time"; readonly ms: number };
export type Broken = { readonly invariant: string; readonly figures: string };

/** One seed while it is played. */
export type Case = {
  readonly name: string;
  /** The difference of the servers' clocks. */
  readonly clocksDifferMs: number;
  readonly people: Map<string, Person>;
  readonly machines: Map<string, Machine>;
  readonly rentals: Map<string, Rental>;
  readonly stored: Map<string, Stored>;
  /** Endpoint groups by label, with the price that a search answered when they were made. */
  readonly fleets: Map<string, Fleet>;
  /** Standing requests by label. */
  readonly waiting: Map<string, Waiting>;
  readonly teams: Map<string, Team>;
  /** Sentences about people who reached things that are not theirs. */
  readonly reached: string[];
  readonly done: Deed[];
  readonly story: Told[];
  broken: Broken | undefined;
};

export type Fleet = {
  readonly label: string;
  readonly endpointId: number;
  readonly renter: Person;
  readonly machine: Machine;
  readonly hostName: string;
  /** True when the group was made with a key that may not rent. */
  readonly isNarrow: boolean;
  readonly gpuCount: number;
  /** Prices in the search for one worker when the group was made. */
  readonly prices: Prices;
  readonly madeMs: number;
  deletedMs: number | undefined;
};

/** A standing request: rent when something matches. */
export type Waiting = {
  readonly label: string;
  readonly id: number;
  readonly renter: Person;
  readonly machine: Machine;
  readonly hostName: string;
  readonly gpuCount: number;
  /** The most that an hour may cost, disk included. */
  readonly maxNanos: bigint;
  readonly untilMs: number;
  cancelledMs: number | undefined;
};

export type Team = {
  readonly owner: Person;
  readonly id: UserId;
  readonly secret: string;
  invited: string | undefined;
};

export function newCase(name: string, { clocksDifferMs = 0 } = {}): Case {
  return {
    name,
    clocksDifferMs,
    people: new Map(),
    machines: new Map(),
    rentals: new Map(),
    stored: new Map(),
    fleets: new Map(),
    waiting: new Map(),
    teams: new Map(),
    reached: [],
    done: [],
    story: [],
    broken: undefined,
  };
}

/** Dollars of a JSON answer as nano-dollars. */
export function nanosIn(dollars: unknown): bigint {
  return typeof dollars === "number" ? BigInt(Math.round(dollars * 1e9)) : 0n;
}

/** The part of a payment that was not refunded. */
export function keptCents({ cents, refundedCents }: CardPayment): number {
  return cents - refundedCents;
}

export function noneByHand(): ByHand {
  return { givenNanos: 0n, takenNanos: 0n, releasedNanos: 0n, payHoldId: undefined };
}

export function isFrozen({ freezes }: Person): boolean {
  return freezes.some(({ untilMs }) => untilMs === undefined);
}

/** True when the account was frozen at that moment. */
export function wasFrozen({ freezes }: Person, ms: number): boolean {
  return freezes.some(({ fromMs, untilMs = Infinity }) => fromMs < ms && ms < untilMs);
}
