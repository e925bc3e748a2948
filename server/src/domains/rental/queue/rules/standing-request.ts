import { invalid } from "../../../../base/errors.ts";
import { priceFound, readMaxPrice } from "../../../../base/hourly-price.ts";
import { isPlainObject } from "../../../../base/filters/json-input.ts";
import { parseQueryLanguage } from "../../../../base/filters/query-language.ts";
import type { InstanceId, MachineId, StandingRequestId, UserId } from "../../../../base/ids.ts";
import { formatDollars, nanos, parseDollars, toDollars, type Nanos } from "../../../../base/money.ts";

export type Status = "open" | "claimed" | "cancelled" | "expired" | "failed";
/** Conditions and settings of a search, as in the body of `POST /api/v0/bundles/`. */
export type Query = Readonly<Record<string, unknown>>;

/** The search of a request, and the limits of its price. */
export type Terms = {
  readonly query: Query;
  /** For GPUs and disk together; undefined when the bid alone is the limit. */
  readonly totalMaxNanosPerHour: Nanos | undefined;
  readonly bidNanosPerHour: Nanos | undefined;
  readonly diskGb: number;
};

export type StandingRequest = Terms & {
  readonly id: StandingRequestId;
  readonly userId: UserId;
  readonly label: string | undefined;
  readonly image: string;
  readonly templateHashId: string | undefined;
  readonly status: Status;
  readonly reason: string;
  readonly attemptedAt: Date | undefined;
  readonly instanceId: InstanceId | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly closedAt: Date | undefined;
};

const QUERY_LENGTH_MAX = 8192;
const HOURS_MAX = 720;
const HOURS_DEFAULT = 24;
const MS_PER_HOUR = 3_600_000;
const HOURS_PER_MONTH = 720;

/** The fields of a found offer that decide whether a request can have it. Dollars and GB. */
export type FoundOffer = {
  readonly id: number;
  readonly machine_id: number;
  readonly gpu_name: string;
  readonly num_gpus: number;
  readonly dph_base: number;
  readonly dph_total: number;
  readonly min_bid: number;
  readonly storage_cost: number;
  readonly disk_space: number;
};

/** Reads `q`: an object, its JSON text, or the query language. The search itself checks what the conditions mean. */
export function readQuery(q: unknown): Query {
  const query = typeof q === "string" ? readQueryText(q) : q;
  if (!isPlainObject(query)) throw invalid("q", "q must be a query text or an object");
  if (JSON.stringify(query).length > QUERY_LENGTH_MAX) {
    throw invalid("q", `q is longer than ${QUERY_LENGTH_MAX} characters`, "input_too_long");
  }
  return query;
}

/** Refuses a query whose conditions contradict the terms of the price. */
export function checkQuery(query: Query, bidNanosPerHour: Nanos | undefined): void {
  if (bidNanosPerHour === undefined) {
    const { type } = conditionsOf(query);
    const name = textOf(isPlainObject(type) ? type["eq"] : type).toLowerCase();
    if (name !== "bid" && name !== "interruptible") return;
    throw invalid("price", "price is required with the type bid: what to bid, in dollars an hour");
  }
  if ("min_bid" in query || textOf(query["q"]).includes("min_bid")) {
    throw invalid("q", "q: leave min_bid out; price says what a bid may cost");
  }
}

function readQueryText(text: string): unknown {
  if (!text.trimStart().startsWith("{")) return { q: text };
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid("q", "q is not valid JSON", "invalid_request", { cause });
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/**
 * The most that may be paid an hour, in nano-dollars. A bid is its own limit; `max_dph` then covers the disk as well.
 */
export function readTotalMax(maxDph: number | undefined, bidNanosPerHour: Nanos | undefined): Nanos | undefined {
  if (maxDph === undefined) {
    if (bidNanosPerHour !== undefined) return undefined;
    throw invalid("max_dph", "max_dph is required unless price says what to bid");
  }
  const amount = readMaxPrice("max_dph", maxDph);
  if (amount === undefined) return undefined;
  if (bidNanosPerHour !== undefined && bidNanosPerHour > amount) {
    throw invalid("price", `price is more than max_dph, which is $${formatDollars(amount)} an hour`, "invalid_price");
  }
  return amount;
}

export function readExpiry(hours: number | undefined, now: Date): Date {
  const given = hours ?? HOURS_DEFAULT;
  if (!(given > 0 && given <= HOURS_MAX)) {
    throw invalid("expires_in_hours", `expires_in_hours must be a number above 0 and up to ${HOURS_MAX}`);
  }
  return new Date(now.getTime() + Math.max(1, Math.round(given * MS_PER_HOUR)));
}

/** The number of best offers that an attempt goes through. */
const HITS_MAX = 16;
/** Searches hold totals as doubles, so offers a hair above the limit are found too and then compared exactly. */
const ROUNDING_DOLLARS = 1e-8;
/** Three names of one column. The limit uses one that the query leaves free, so that both conditions hold. */
const TOTAL_NAMES = ["dphtotal", "dph_total", "dph"] as const;

/** The search for offers that the request can use: cheapest first, unless its renter says otherwise. */
function searchFor(terms: Terms): Query {
  const { query, totalMaxNanosPerHour, bidNanosPerHour } = terms;
  const limits: Record<string, unknown> = {};
  if (bidNanosPerHour !== undefined) limits["min_bid"] = { lte: toDollars(bidNanosPerHour) + ROUNDING_DOLLARS };
  else if (totalMaxNanosPerHour !== undefined) {
    const free = TOTAL_NAMES.find((name) => !(name in query)) ?? "dphtotal";
    limits[free] = { lte: toDollars(totalMaxNanosPerHour) + ROUNDING_DOLLARS };
  }
  return { ...searchAtAnyPrice(terms), ...limits, limit: HITS_MAX };
}

/**
 * The search of `searchFor` among these machines, or among all others. A query that names machines itself is searched
 * as it is; the caller then chooses.
 */
export function searchAmong(terms: Terms, machines: { readonly [Operator in "in" | "notin"]?: readonly MachineId[] }) {
  const search = searchFor(terms);
  const { query } = terms;
  const namesMachines = "machine_id" in query || textOf(query["q"]).includes("machine_id");
  return namesMachines ? search : { ...search, machine_id: machines };
}

/**
 * True when the request can have the offer at its price, to the nano-dollar. Offers tried in vain would be kept from
 * the next requests. A bid pays what it offers, not the least that would win.
 */
export function isWithinLimit(terms: Terms, offer: Pick<FoundOffer, "dph_base" | "min_bid" | "storage_cost">): boolean {
  const { totalMaxNanosPerHour, bidNanosPerHour, diskGb } = terms;
  if (bidNanosPerHour !== undefined && (parseDollars(offer.min_bid) ?? Infinity) > bidNanosPerHour) return false;
  if (totalMaxNanosPerHour === undefined) return true;
  const paid = bidNanosPerHour === undefined ? offer : { ...offer, dph_base: toDollars(bidNanosPerHour) };
  return (priceFound(paid, diskGb) ?? Infinity) <= totalMaxNanosPerHour;
}

/** The search without the limit of its price, which shows the offers and their cost. */
export function searchAtAnyPrice({ query, bidNanosPerHour, diskGb }: Terms): Query {
  return {
    ...query,
    order: query["order"] ?? [["dph_total", "asc"]],
    type: bidNanosPerHour === undefined ? "ondemand" : "bid",
    allocated_storage: diskGb,
    rentable: { eq: true },
    // Bundling would show equal offers as one row, and when that is gone the next best would be unknown.
    disable_bundling: true,
  };
}

/** The facts of a request that decide quickly whether a changed offer may concern it. */
export type Glance = {
  readonly isBid: boolean;
  readonly dollarsMax: number;
  readonly diskGb: number;
  /** In lower case with blanks; undefined when the query may take any name. */
  readonly gpuNames: ReadonlySet<string> | undefined;
  readonly gpuCountMin: number;
  readonly gpuCountMax: number;
};

/** The lowest prices and the largest disk among the offers of one kind: this many GPUs of this name. */
export type Kind = {
  readonly gpuName: string;
  readonly gpuCount: number;
  readonly onDemandDollars: number;
  readonly minBidDollars: number;
  readonly storageDollarsPerGbMonth: number;
  readonly diskGb: number;
};

/** The kinds of these offers. */
export function kindsOf(offers: readonly FoundOffer[]): readonly Kind[] {
  const kinds = new Map<string, Kind>();
  for (const offer of offers) {
    const name = `${offer.num_gpus} ${offer.gpu_name}`;
    const known = kinds.get(name);
    kinds.set(name, {
      gpuName: offer.gpu_name,
      gpuCount: offer.num_gpus,
      onDemandDollars: Math.min(offer.dph_base, known?.onDemandDollars ?? Infinity),
      minBidDollars: Math.min(offer.min_bid, known?.minBidDollars ?? Infinity),
      storageDollarsPerGbMonth: Math.min(offer.storage_cost, known?.storageDollarsPerGbMonth ?? Infinity),
      diskGb: Math.max(offer.disk_space, known?.diskGb ?? 0),
    });
  }
  return [...kinds.values()];
}

export function glanceOf({ query, totalMaxNanosPerHour, bidNanosPerHour, diskGb }: Terms): Glance {
  const conditions = conditionsOf(query);
  const limit = bidNanosPerHour ?? totalMaxNanosPerHour ?? nanos(0n);
  const count = boundsOf(conditions["num_gpus"]);
  return {
    isBid: bidNanosPerHour !== undefined,
    dollarsMax: toDollars(limit) + ROUNDING_DOLLARS,
    diskGb,
    gpuNames: namesOf(conditions["gpu_name"]),
    gpuCountMin: count.min,
    gpuCountMax: count.max,
  };
}

/** True when an offer of this kind may be one for the request; false only when no such offer can be. */
export function mayConcern(glance: Glance, kind: Kind): boolean {
  if (kind.diskGb < glance.diskGb) return false;
  if (kind.gpuCount < glance.gpuCountMin || kind.gpuCount > glance.gpuCountMax) return false;
  if (glance.gpuNames !== undefined && !glance.gpuNames.has(plainName(kind.gpuName))) return false;
  if (glance.isBid) return kind.minBidDollars <= glance.dollarsMax;
  return kind.onDemandDollars + (kind.storageDollarsPerGbMonth * glance.diskGb) / HOURS_PER_MONTH <= glance.dollarsMax;
}

/** The conditions of a query, those in the query language included. */
function conditionsOf(query: Query): Query {
  return typeof query["q"] === "string" ? { ...readText(query["q"]), ...query } : query;
}

/** A query that cannot be read may concern any offer: the search itself then says what is wrong with it. */
function readText(q: string): Query {
  try {
    return parseQueryLanguage(q, { source: "q" }).filters;
  } catch {
    return {};
  }
}

function plainName(name: string): string {
  return name.replaceAll("_", " ").trim().toLowerCase();
}

/** The names that `eq` and `in` allow; undefined when the conditions do not decide it. */
function namesOf(conditions: unknown): ReadonlySet<string> | undefined {
  if (!isPlainObject(conditions)) return undefined;
  const listed = [conditions["eq"] ?? conditions["in"]].flat();
  const isAny = listed.length === 0 || listed.some((name) => typeof name !== "string" || name === "any");
  return isAny ? undefined : new Set(listed.map((name) => plainName(String(name))));
}

function boundsOf(conditions: unknown): { readonly min: number; readonly max: number } {
  if (!isPlainObject(conditions)) return { min: 0, max: Infinity };
  const read = (operator: string) => {
    const value = conditions[operator];
    const number = typeof value === "number" ? value : Number.parseFloat(String(value));
    return Number.isFinite(number) ? number : undefined;
  };
  const equal = read("eq");
  return {
    min: equal ?? read("gte") ?? read("gt") ?? 0,
    max: equal ?? read("lte") ?? read("lt") ?? Infinity,
  };
}
