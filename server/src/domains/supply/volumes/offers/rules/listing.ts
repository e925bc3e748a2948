import { invalid } from "../../../../../base/errors.ts";
import type { MachineId, VolumeOfferId } from "../../../../../base/ids.ts";
import { formatDollars, nanos, parseDollars, type Nanos } from "../../../../../base/money.ts";
import { GB_PRICE_DOLLARS_MAX, STORAGE_NANOS_PER_MONTH_MAX } from "../../../../../base/price-limits.ts";
import { refuseDearStorage, type PriceCeilings } from "../../../../../base/price-ceilings.ts";

/** The contract's gigabyte of storage, in which prices and disk sizes are counted. */
export const BYTES_PER_GB = 1_000_000_000;
export const DEFAULT_SIZE_GB = 15;

const GB_MAX = 1_000_000_000;
const DAY_MS = 86_400_000;
/** The end of the year 9999: milliseconds sent instead of seconds lie beyond it. */
const END_DATE_MAX_S = 253_402_300_799;

/** The terms that a host asks for a part of a disk. */
export type Listing = {
  /** Total that may be rented of it at one time, space that is already rented included. */
  readonly sizeBytes: bigint;
  readonly priceNanosPerGbMonth: Nanos;
  /** Only network volumes have one; 0 for local ones. */
  readonly creditDiscountMaxPermille: number;
  readonly endAt: Date;
};

/** The listing of a machine's space after a request. */
export type ListedSpace = {
  readonly machineId: MachineId;
  readonly offerId: VolumeOfferId;
  /** True for the first listing, and for one that replaces another because its terms are worse. */
  readonly isNew: boolean;
  readonly sizeBytes: bigint;
  /** Volumes that were extended to the new end, at their own prices. */
  readonly extended: number;
};

/** The sent fields of a listing request; absent ones keep the listed value, or take the default. */
export type ListingRequest = {
  readonly size?: number;
  readonly price_disk?: number;
  readonly credit_discount_max?: number;
  readonly end_date?: number;
};

export type ListingDefaults = {
  readonly priceNanosPerGbMonth: Nanos;
  readonly creditDiscountMaxPermille: number;
  readonly listedDays: number;
};

/** Defaults of a network volume's listing, as published clients have them; the discount is that of machines. */
export const NETWORK_DEFAULTS = {
  priceNanosPerGbMonth: nanos(150_000_000n),
  creditDiscountMaxPermille: 400,
  listedDays: 30,
} as const satisfies ListingDefaults;

/** Defaults of a local volume's listing, as published clients have them. */
export const LOCAL_DEFAULTS = {
  priceNanosPerGbMonth: nanos(100_000_000n),
  creditDiscountMaxPermille: 0,
  listedDays: 90,
} as const satisfies ListingDefaults;

export type ListingLimits = {
  readonly current: Listing | undefined;
  readonly defaults: ListingDefaults;
  /** Size of the whole disk. */
  readonly capacityBytes: bigint;
  /** Space of the disk that is already rented: a listing never shrinks below it. */
  readonly rentedBytes: bigint;
  readonly now: Date;
  readonly ceilings: PriceCeilings;
};

/** The listing that a request leads to; throws `invalid` naming the field at fault. */
export function planListing(request: ListingRequest, limits: ListingLimits): Listing {
  const { current, defaults, now, ceilings } = limits;
  return {
    sizeBytes: planSize(request.size, limits),
    priceNanosPerGbMonth:
      request.price_disk === undefined
        ? least(current?.priceNanosPerGbMonth ?? defaults.priceNanosPerGbMonth, ceilings.storageNanosPerGbMonth)
        : readPrice(request.price_disk, "price_disk", ceilings),
    creditDiscountMaxPermille:
      request.credit_discount_max === undefined
        ? (current?.creditDiscountMaxPermille ?? defaults.creditDiscountMaxPermille)
        : readDiscount(request.credit_discount_max),
    endAt:
      request.end_date === undefined
        ? keepEnd(current?.endAt ?? new Date(now.getTime() + defaults.listedDays * DAY_MS), now)
        : readEnd(request.end_date, now),
  };
}

function planSize(sizeGb: number | undefined, { current, capacityBytes, rentedBytes }: ListingLimits): bigint {
  if (sizeGb === undefined && current !== undefined) return current.sizeBytes;
  if (sizeGb === undefined) {
    // A small disk is offered whole, and one with much rented space at least with all of that.
    const wanted = BigInt(DEFAULT_SIZE_GB * BYTES_PER_GB);
    const available = wanted < capacityBytes ? wanted : capacityBytes;
    return available > rentedBytes ? available : rentedBytes;
  }
  const sizeBytes = readSize(sizeGb, "size");
  if (sizeBytes > capacityBytes) {
    throw invalid("size", `size must not exceed the disk, which has ${toGb(capacityBytes)} GB`);
  }
  if (sizeBytes < rentedBytes) {
    throw invalid("size", `size must not be below the ${toGb(rentedBytes)} GB that are rented already`);
  }
  return sizeBytes;
}

/** Bytes of a size in GB; throws `invalid` naming the field unless it is at least one byte and below 10⁹ GB. */
export function readSize(sizeGb: number, field: string): bigint {
  const bytes = Math.round(sizeGb * BYTES_PER_GB);
  if (!(bytes >= 1 && sizeGb <= GB_MAX)) throw invalid(field, `${field} must be more than 0 and at most ${GB_MAX} GB`);
  return BigInt(bytes);
}

export function toGb(bytes: bigint): number {
  return Number(bytes) / BYTES_PER_GB;
}

function least(one: Nanos, other: Nanos): Nanos {
  return one < other ? one : other;
}

function readPrice(dollars: number, field: string, ceilings: PriceCeilings): Nanos {
  const price = parseDollars(dollars);
  if (price === undefined || price < 0n || dollars < 0 || dollars > GB_PRICE_DOLLARS_MAX) {
    throw invalid(field, `${field} must be from 0 to ${GB_PRICE_DOLLARS_MAX} dollars per GB and month`);
  }
  refuseDearStorage(field, price, ceilings);
  return price;
}

function readDiscount(fraction: number): number {
  if (!(fraction >= 0 && fraction <= 1)) {
    throw invalid("credit_discount_max", "credit_discount_max must be from 0 to 1");
  }
  return Math.round(fraction * 1000);
}

function readEnd(seconds: number, now: Date): Date {
  if (!(seconds <= END_DATE_MAX_S && seconds * 1000 > now.getTime())) {
    throw invalid("end_date", "end_date must lie in the future, in seconds since 1970 and before the year 10000");
  }
  return new Date(seconds * 1000);
}

function keepEnd(endAt: Date, now: Date): Date {
  if (endAt <= now) throw invalid("end_date", "end_date is required: the listing's own end has passed");
  return endAt;
}

export type Space = {
  readonly sizeBytes: bigint;
  readonly rentedBytes: bigint;
  /** Unpromised space of the disk; undefined for a disk that holds volumes only. */
  readonly diskFreeBytes?: bigint | undefined;
};

/** Rentable space of a listing now: the listed size, as far as the disk still has it. */
export function freeBytes({ sizeBytes, rentedBytes, diskFreeBytes }: Space): bigint {
  const left = sizeBytes > rentedBytes ? sizeBytes - rentedBytes : 0n;
  return diskFreeBytes === undefined || left < diskFreeBytes ? left : diskFreeBytes;
}

/** The size to rent of a listing; throws `invalid` naming `field` when it does not fit. */
export function planRent(sizeGb: number | undefined, space: Space, field: string): bigint {
  const sizeBytes = readSize(sizeGb ?? DEFAULT_SIZE_GB, field);
  refuseBeyond(space, sizeBytes, field);
  return sizeBytes;
}

/** Throws `invalid` naming `field` when this size cannot be rented. */
export function refuseBeyond(space: Space, sizeBytes: bigint, field: string): void {
  const free = freeBytes(space);
  if (sizeBytes > free) throw invalid(field, `${field}: ${toGb(sizeBytes)} GB are wanted, ${toGb(free)} GB are free`);
}

/** Throws `invalid` naming `field` when this size would cost more than can be charged. */
export function refuseImmense(sizeBytes: bigint, priceNanosPerGbMonth: Nanos, field: string): void {
  const bytesPerGb = BigInt(BYTES_PER_GB);
  if (sizeBytes * priceNanosPerGbMonth <= STORAGE_NANOS_PER_MONTH_MAX * bytesPerGb) return;
  const most = toGb((STORAGE_NANOS_PER_MONTH_MAX * bytesPerGb) / priceNanosPerGbMonth);
  const price = `$${formatDollars(priceNanosPerGbMonth)} per GB and month`;
  throw invalid(field, `${field}: ${toGb(sizeBytes)} GB are wanted; at ${price} it may be ${most} GB at most`);
}

/** Without `-` in front, so that no command line takes a name for an option. */
const VOLUME_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** A volume's stored name: empty when the request gave none. */
export function readVolumeName(name: string | undefined, field: string): string {
  if (name === undefined || name === "") return "";
  if (!VOLUME_NAME.test(name))
    throw invalid(field, `${field} must be 1 to 64 letters, digits, _ and -, and not begin with -`);
  return name;
}
