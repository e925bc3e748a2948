// Offers as the market page asks for them: the columns that it shows, a page's worth at first, all of them on request.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { offerSearchAsks } from "../../../../sdk/src/index.ts";
import { client } from "../../api/client.ts";
import type { Sort } from "../../ui/table-types.ts";
import type { OfferType, SortField } from "./fields.ts";

const TEXTS = ["gpu_name", "geolocation", "verification", "cpu_name", "hostname"] as const;
const NUMBERS = [
  ...(["id", "machine_id", "bundled_results", "num_gpus", "gpu_ram", "dph_total", "min_bid", "dlperf"] as const),
  ...(["cpu_cores_effective", "cpu_ram", "disk_space", "disk_bw", "inet_down", "inet_up", "reliability"] as const),
  ...(["duration", "cuda_max_good", "storage_cost", "inet_down_cost", "inet_up_cost"] as const),
  ...(["discounted_dph_total", "pcie_bw", "direct_port_count"] as const),
  ...(["avail_vol_ask_id", "avail_vol_size"] as const),
] as const;
const FLAGS = ["rentable", "rented", "is_simulated"] as const;
const COLUMNS: readonly string[] = [...TEXTS, ...NUMBERS, ...FLAGS];

/** An offer as the table shows it, with the units of the API; undefined where the server says nothing. */
export type OfferRow = {
  readonly [K in (typeof TEXTS)[number]]: string | undefined;
} & { readonly [K in (typeof NUMBERS)[number]]: number | undefined } & {
  readonly [K in (typeof FLAGS)[number]]: boolean;
} & { readonly id: number };

export type OfferSearch = {
  readonly q: string;
  readonly type: OfferType;
  readonly sort: SortField;
  readonly isAscending: boolean;
  readonly limit: number;
};

/** Rows of an answer, and how many offers match in all. */
export type Found = { readonly rows: readonly OfferRow[]; readonly matching: number };

/** Offers that match a search, at most `limit` rows; those of the search before are kept until they come. */
export function offersQuery({ q, type, sort, isAscending, limit }: OfferSearch) {
  return queryOptions({
    queryKey: ["offer", "offer.page", { q, type, sort, isAscending, limit }],
    queryFn: ({ signal }) =>
      find({ q: rentableOf(q), type, order: [[sort, isAscending ? "asc" : "desc"]], limit }, signal),
    placeholderData: keepPreviousData,
  });
}

/** One offer, also while it cannot be rented; null when it is gone. */
export function offerQuery(id: number, type: OfferType) {
  return queryOptions({
    queryKey: ["offer", "offer.one", { id, type }],
    async queryFn({ signal }): Promise<OfferRow | null> {
      const { rows } = await find({ id: { eq: id }, type, limit: 1, disable_bundling: true }, signal);
      return rows[0] ?? null;
    },
  });
}

async function find(q: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Found> {
  const body = { select_cols: [...COLUMNS], q };
  const { offers, matching } = await offerSearchAsks(client, { body }, { signal });
  return { rows: offers.map(readOffer), matching };
}

/** The number of offers on the market that can be rented. */
export const offerCountQuery = queryOptions({
  queryKey: ["offer", "offer.count"],
  async queryFn({ signal }) {
    const body = { select_cols: ["id"], q: { q: rentableOf(""), limit: 0 } };
    return (await offerSearchAsks(client, { body }, { signal })).matching;
  },
});

/** Rows that are asked for at first; "more" asks for four times as many. */
export const FIRST_ROWS = 100;
export const BY_SCORE: Sort = { key: "score", isDescending: true };
/** Rows that one search answers at most. */
export const OFFERS_MAX = 10_000;

/** The search, for offers that can be rented now unless it says otherwise itself. */
function rentableOf(q: string): string {
  return /\brentable\b/.test(q) ? q : `rentable=true ${q}`;
}

function readOffer(raw: Readonly<Record<string, unknown>>): OfferRow {
  const texts = Object.fromEntries(TEXTS.map((name) => [name, textOf(raw[name])]));
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, numberOf(raw[name])]));
  const flags = Object.fromEntries(FLAGS.map((name) => [name, raw[name] === true]));
  // Each list of names was read by the reader of its type.
  return { ...texts, ...numbers, ...flags, id: numberOf(raw["id"]) ?? 0 } as OfferRow;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
