// The script's own knowledge: who agreed on which terms with whom, and until when. Nothing here asks the server.
import type { MonthHost } from "./host.ts";
import type { Person } from "./world.ts";

/** Prices in nano-dollars: an hour of all GPUs, a GB of disk for 30 days, a GB of traffic. */
export type Prices = { readonly gpu: bigint; readonly disk: bigint; readonly up: bigint; readonly down: bigint };

export type Rental = {
  readonly id: number;
  readonly label: string;
  readonly payer: Person;
  readonly host: MonthHost;
  readonly diskGb: number;
  /** The agreed prices, each with its beginning. */
  readonly agreed: { readonly fromMs: number; readonly prices: Prices }[];
  /** A deposit pays at this discount, from when on. */
  reserved: { readonly fromMs: number; readonly discountPpm: number; readonly dollars: number } | undefined;
  destroyedMs: number | undefined;
};

export type Volume = {
  readonly id: number;
  readonly payer: Person;
  readonly host: MonthHost;
  readonly sizeGb: number;
  readonly price: bigint;
  readonly fromMs: number;
  deletedMs: number | undefined;
};

/** An absence longer than a lease: nobody saw the host, and none of its time costs anything. */
export type Outage = { readonly host: MonthHost; readonly fromMs: number; readonly untilMs: number };

export type Audit = { readonly at: Date; readonly isSound: boolean; readonly differences: readonly unknown[] };

export function nanosOf(dollars: number): bigint {
  return BigInt(Math.round(dollars * 1e9));
}
