import { formatDollars } from "../../../base/money.ts";
import type { ScheduledMachine } from "../hosts/index.ts";

/**
 * The terms that an offer promises to those who rent it by its id. The lowest bid is not part of it: a bid pays what it
 * offers. Reliability is left out too: it is measured and changes every few minutes.
 */
export type OfferTerms = {
  readonly priceDeviceNanosPerHour: bigint;
  readonly priceDiskNanosPerGbMonth: bigint;
  readonly priceInetUpNanosPerGb: bigint;
  readonly priceInetDownNanosPerGb: bigint;
  readonly creditDiscountMaxPermille: number;
  readonly endAt: Date;
  readonly isVerified: boolean;
  readonly hostingType: number;
  /** The machine's hardware in one text; undefined for an offer that was stored without it. */
  readonly hardware: string | undefined;
};

/** The terms under which a machine is offered now. */
export function termsOf(machine: ScheduledMachine): OfferTerms {
  return {
    priceDeviceNanosPerHour: machine.priceDeviceNanosPerHour,
    priceDiskNanosPerGbMonth: machine.priceDiskNanosPerGbMonth,
    priceInetUpNanosPerGb: machine.priceInetUpNanosPerGb,
    priceInetDownNanosPerGb: machine.priceInetDownNanosPerGb,
    creditDiscountMaxPermille: machine.creditDiscountMaxPermille,
    endAt: machine.offerEndAt,
    isVerified: machine.verification === "verified",
    hostingType: machine.hostingType,
    hardware: machine.hardware,
  };
}

const PRICES = [
  { key: "priceDeviceNanosPerHour", name: "the price of a device", unit: "an hour" },
  { key: "priceDiskNanosPerGbMonth", name: "the price of storage", unit: "per GB and month" },
  { key: "priceInetUpNanosPerGb", name: "the price of sent traffic", unit: "per GB" },
  { key: "priceInetDownNanosPerGb", name: "the price of received traffic", unit: "per GB" },
] as const satisfies readonly { readonly key: keyof OfferTerms; readonly name: string; readonly unit: string }[];

/**
 * Terms that became worse for a renter between an offer's promise and now, each as a clause for people; empty when the
 * offer may keep its id. An offer without stored terms promises nothing, so it is replaced.
 */
export function worsenings(promised: OfferTerms | undefined, now: OfferTerms): readonly string[] {
  if (promised === undefined) return ["its terms were not recorded"];
  const worse: string[] = [];
  for (const { key, name, unit } of PRICES) {
    if (now[key] <= promised[key]) continue;
    worse.push(`${name} rose from $${formatDollars(promised[key])} to $${formatDollars(now[key])} ${unit}`);
  }
  if (now.endAt < promised.endAt) {
    worse.push(`its end moved from ${textOf(promised.endAt)} to ${textOf(now.endAt)} UTC`);
  }
  if (now.creditDiscountMaxPermille < promised.creditDiscountMaxPermille) {
    const [before, after] = [promised.creditDiscountMaxPermille / 10, now.creditDiscountMaxPermille / 10];
    worse.push(`its largest discount for prepaying fell from ${before} % to ${after} %`);
  }
  if (promised.isVerified && !now.isVerified) worse.push("its machine is no longer verified");
  if (now.hostingType < promised.hostingType) worse.push("its machine no longer counts as one in a data centre");
  if (promised.hardware !== undefined && promised.hardware !== now.hardware) worse.push("its hardware changed");
  return worse;
}

/** True when no term changed, for better or for worse. */
export function areSameTerms(one: OfferTerms | undefined, other: OfferTerms): boolean {
  return (
    one !== undefined &&
    PRICES.every(({ key }) => one[key] === other[key]) &&
    one.endAt.getTime() === other.endAt.getTime() &&
    one.creditDiscountMaxPermille === other.creditDiscountMaxPermille &&
    one.isVerified === other.isVerified &&
    one.hostingType === other.hostingType &&
    one.hardware === other.hardware
  );
}

function textOf(at: Date): string {
  return at.toISOString().slice(0, 16).replace("T", " ");
}
