// Words of the market page's address.

export const OFFER_TYPES = ["ondemand", "bid", "reserved"] as const;
export type OfferType = (typeof OFFER_TYPES)[number];

const SORT_FIELDS = [
  ...(["score", "dph_total", "gpu_ram", "num_gpus", "cpu_ram", "disk_space", "inet_down"] as const),
  ...(["reliability", "duration", "gpu_name"] as const),
] as const;
/** Fields that the market is sorted by. */
export type SortField = (typeof SORT_FIELDS)[number];

/** The field of that name; the score, which is the server's own order, for any other name. */
export function sortFieldOf(name: string | undefined): SortField {
  return SORT_FIELDS.find((field) => field === name) ?? "score";
}
