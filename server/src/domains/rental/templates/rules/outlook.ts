import { DISK_GB_MAX, type TemplateContent } from "./content.ts";

/** Names in stored filters that are settings of a search, and no conditions on offers. */
const SETTINGS: ReadonlySet<string> = new Set([
  "q",
  "type",
  "order",
  "limit",
  "allocated_storage",
  "disable_bundling",
  "rentable",
]);
/** Conditions that are explained one by one; a template may have more. */
const EXPLAINED_MAX = 16;

export type Wish = {
  readonly type: "ondemand" | "bid";
  readonly gpuCount: number | undefined;
  readonly gpuName: string | undefined;
  readonly diskGb: number | undefined;
};

export type Condition = { readonly field: string; readonly wanted: Readonly<Record<string, unknown>> };
type Query = Readonly<Record<string, unknown>>;

/** Conditions that a rental of a template has for an offer: its own filters, its disk, and what the caller wants besides. */
export function conditionsOf(content: TemplateContent, wish: Wish): readonly Condition[] {
  const disk = Math.min(DISK_GB_MAX, wish.diskGb ?? content.recommended_disk_space);
  const own = Object.entries(content.extra_filters).filter(([field]) => !SETTINGS.has(field));
  const asked: Record<string, Readonly<Record<string, unknown>>> = {
    ...Object.fromEntries(own),
    ...(wish.gpuName === undefined ? {} : { gpu_name: { eq: wish.gpuName } }),
    ...(wish.gpuCount === undefined ? {} : { num_gpus: { eq: wish.gpuCount } }),
    disk_space: { ...own.find(([field]) => field === "disk_space")?.[1], gte: disk },
  };
  return Object.entries(asked).map(([field, wanted]) => ({ field, wanted }));
}

/** Searches are over offers that can be rented now; each offer counts by itself. */
export function queryOf(conditions: readonly Condition[], type: Wish["type"]): Query {
  const wanted = Object.fromEntries(conditions.map((condition) => [condition.field, condition.wanted]));
  return { ...wanted, rentable: { eq: true }, type, allocated_storage: 0, disable_bundling: true };
}

export type Refusal = Condition & {
  /** Offers that do not meet this condition. */
  readonly offers: number;
  /** Offers that would match without this condition. */
  readonly alone: number;
};

export type Counts = { readonly offers: number; readonly matching: number; readonly refusals: readonly Refusal[] };

/** Counts offers with all conditions, with each one alone, and with all but each one. */
export function countByCondition(
  conditions: readonly Condition[],
  type: Wish["type"],
  count: (query: Query) => number,
): Counts {
  const offers = count(queryOf([], type));
  const matching = count(queryOf(conditions, type));
  const refusals = conditions.slice(0, EXPLAINED_MAX).map((condition) => ({
    ...condition,
    offers: offers - count(queryOf([condition], type)),
    alone:
      count(
        queryOf(
          conditions.filter((other) => other !== condition),
          type,
        ),
      ) - matching,
  }));
  return {
    offers,
    matching,
    refusals: refusals.filter((one) => one.offers > 0).toSorted((a, b) => b.alone - a.alone || b.offers - a.offers),
  };
}

const NAMES: Readonly<Record<string, string>> = {
  disk_space: "GB of free disk",
  cuda_max_good: "CUDA version",
  gpu_ram: "MB of GPU memory",
  gpu_total_ram: "MB of GPU memory in all",
  num_gpus: "number of GPUs",
  gpu_name: "GPU model",
  compute_cap: "compute capability",
  driver_version: "driver version",
  reliability: "reliability",
  cpu_ram: "MB of memory",
};
const WORDS: Readonly<Record<string, string>> = {
  eq: "is",
  neq: "is not",
  gt: "is above",
  gte: "is at least",
  lt: "is below",
  lte: "is at most",
  in: "is one of",
  notin: "is none of",
};

/** A sentence such as "120 of 300 offers do not meet: GB of free disk is at least 40." */
export function refusalSentence({ field, wanted, offers }: Refusal, total: number): string {
  const name = NAMES[field] ?? field;
  const parts = Object.entries(wanted).map(([operator, value]) => {
    const text = Array.isArray(value) ? value.join(", ") : String(value);
    return `${name} ${WORDS[operator] ?? operator} ${text}`;
  });
  return `${offers} of ${total} offers do not meet: ${parts.join(" and ")}.`;
}
