import { bindColumns, bindPrices, type OfferContext } from "./offer-columns.ts";
import { CONSTANT_FIELDS, MACHINE_FIELDS, OFFER_FIELDS } from "./offer-fields.ts";
import type { OfferIndex } from "./offer-index.ts";
import type { RankedOffer } from "./ranking.ts";
import type { StoredColumn } from "./slot-table.ts";

/** Number of machines whose texts are kept, about two kilobytes each. */
const KEPT_TEXTS = 8_192;

const SECONDS_PER_DAY = 86_400;
const SECONDS_PER_HOUR = 3_600;

/** Members that depend on the caller, the time and the requested storage. */
const ASKED = [
  "rentable",
  "rented",
  "is_bid",
  "bundled_results",
  "rn",
  "duration",
  "time_remaining",
  "time_remaining_isbid",
  "dph_total",
  "dph_total_adj",
  "storage_total_cost",
  "discount_rate",
  "discounted_hourly",
  "discounted_dph_total",
  "dlperf_per_dphtotal",
  "flops_per_dphtotal",
  "score",
  "search",
  "instance",
] as const;

type Shown = RankedOffer & { readonly rank: number };

/**
 * The JSON of a list of offers, joined from texts: the fixed part of a machine is written once and kept until the
 * machine changes, the rest for each answer. `chosen` names the members to write; undefined writes all.
 */
export function writeOffers(
  index: OfferIndex,
  ranked: readonly RankedOffer[],
  { context, isBundled, chosen }: AnswerOptions,
): string {
  const isWanted = (name: string) => chosen === undefined || chosen.has(name);
  const asked = ASKED.filter(isWanted).map((name) => ({ name, prefix: `,"${name}":` }));
  const valuesOf = bindAsked(index, context, isBundled);
  const fixed = bindFixed(index, chosen);
  const rows = ranked.map(({ slot, count }, place) => {
    const values = valuesOf({ slot, count, rank: place + 1 });
    let text = fixed(slot);
    for (const { name, prefix } of asked) text += prefix + values[name];
    return `{${text.slice(1)}}`;
  });
  return `[${rows.join(",")}]`;
}

export type AnswerOptions = {
  readonly context: OfferContext;
  readonly isBundled: boolean;
  readonly chosen?: ReadonlySet<string> | undefined;
};

/** Writes the fixed members of an offer, each after a comma. */
function bindFixed(
  { machines, offers, machineOf, machineTexts }: OfferIndex,
  chosen: ReadonlySet<string> | undefined,
): (offer: number) => string {
  const isWanted = (name: string) => chosen === undefined || chosen.has(name);
  const ofMachine = MACHINE_NAMES.filter(isWanted).map((name) => memberOf(name, machines.find(name)));
  const ofOffer = OFFER_NAMES.filter(isWanted).map((name) => memberOf(name, offers.find(name)));
  const constants = CONSTANTS.filter(({ name }) => isWanted(name)).map(({ text }) => text);
  const places = isWanted("gpu_ids") ? machines.texts("gpu_ids") : undefined;
  const writeMachine = (machine: number) => {
    const parts = [...constants, ...ofMachine.map(({ prefix, column }) => prefix + storedText(column, machine))];
    // A JSON list, stored as text when the offer was read.
    if (places !== undefined) parts.push(`,"gpu_ids":${places.dictionary.textOf(places.codes[machine] ?? 0) ?? "[]"}`);
    return parts.join("");
  };
  return (offer) => {
    const machine = machineOf[offer] ?? 0;
    const known = chosen === undefined ? machineTexts.get(machine) : undefined;
    let text = known ?? writeMachine(machine);
    if (known === undefined && chosen === undefined) keep(machineTexts, machine, text);
    for (const { prefix, column } of ofOffer) text += prefix + storedText(column, offer);
    return text;
  };
}

function keep(texts: Map<number, string>, slot: number, text: string): void {
  if (texts.size >= KEPT_TEXTS) {
    const [oldest] = texts.keys();
    if (oldest !== undefined) texts.delete(oldest);
  }
  texts.set(slot, text);
}

const MACHINE_NAMES = Object.keys(MACHINE_FIELDS);
const OFFER_NAMES = Object.keys(OFFER_FIELDS);
const CONSTANTS = Object.entries(CONSTANT_FIELDS).map(([name, { value }]) => ({
  name,
  text: `,"${name}":${JSON.stringify(value)}`,
}));

function memberOf(name: string, column: StoredColumn | undefined) {
  if (column === undefined) throw new TypeError(`${name} is not stored`);
  return { prefix: `,"${name}":`, column };
}

function storedText(column: StoredColumn, slot: number): string {
  if (column.kind === "text") return JSON.stringify(column.dictionary.textOf(column.codes[slot] ?? 0));
  const value = column.values[slot] ?? Number.NaN;
  if (Number.isNaN(value)) return "null";
  return column.type === "boolean" ? String(value === 1) : String(value);
}

/** Computes the members of an offer that depend on the request, as JSON by member. */
function bindAsked(index: OfferIndex, context: OfferContext, isBundled: boolean) {
  const { machineOf } = index;
  const { gpuPrice, diskPerHour, discountRate } = bindPrices(index, context);
  const columnOf = bindColumns(index, context);
  const computed = (name: string) => {
    const source = columnOf(name);
    if (source.kind !== "computed") throw new TypeError(`${name} is not worked out while searching`);
    const { at, ofMachine } = source;
    return (offer: number) => at(ofMachine ? (machineOf[offer] ?? 0) : offer);
  };
  const [rentable, rented, duration] = [computed("rentable"), computed("rented"), computed("duration")];
  const [hourly, discounted] = [computed("discounted_hourly"), computed("discounted_dph_total")];
  const [dlperf, flops] = [computed("dlperf_per_dphtotal"), computed("flops_per_dphtotal")];
  const [total, score] = [computed("dph_total"), computed("score")];
  const isBid = String(context.type === "bid");
  return ({ slot, count, rank }: Shown): Readonly<Record<(typeof ASKED)[number], string>> => {
    const machine = machineOf[slot] ?? 0;
    const seconds = duration(slot);
    const remaining = `"${remainingText(seconds)}"`;
    const [gpu, disk, rate] = [gpuPrice[slot] ?? 0, diskPerHour(machine), discountRate(machine)];
    const [totalText, diskText] = [String(total(slot)), String(disk)];
    return {
      rentable: String(rentable(slot) === 1),
      rented: String(rented(slot) === 1),
      is_bid: isBid,
      bundled_results: isBundled ? String(count) : "null",
      rn: String(rank),
      duration: String(seconds),
      time_remaining: remaining,
      time_remaining_isbid: remaining,
      dph_total: totalText,
      dph_total_adj: totalText,
      storage_total_cost: diskText,
      discount_rate: String(rate),
      discounted_hourly: String(hourly(slot)),
      discounted_dph_total: String(discounted(slot)),
      dlperf_per_dphtotal: String(dlperf(slot)),
      flops_per_dphtotal: String(flops(slot)),
      score: String(score(slot)),
      search: priceText({ gpu, disk, diskText, totalText, rate }),
      instance: priceText({ gpu: 0, disk, diskText, totalText: diskText, rate }),
    };
  };
}

/** Hourly price: while it runs, and for its storage alone. */
function priceText(price: {
  readonly gpu: number;
  readonly disk: number;
  readonly diskText: string;
  readonly totalText: string;
  readonly rate: number;
}): string {
  const { gpu, disk, diskText, totalText, rate } = price;
  const discounted = rate === 0 ? totalText : String(gpu * (1 - rate) + disk);
  return (
    `{"gpuCostPerHour":${gpu},"diskHour":${diskText},"totalHour":${totalText},` +
    `"discountTotalHour":${gpu * rate},"discountedTotalPerHour":${discounted}}`
  );
}

/** `89 days, 3 hours`; empty when the end is past. */
export function remainingText(seconds: number): string {
  if (seconds <= 0) return "";
  const days = Math.floor(seconds / SECONDS_PER_DAY);
  const hours = Math.floor((seconds % SECONDS_PER_DAY) / SECONDS_PER_HOUR);
  const parts = [counted(days, "day"), counted(hours, "hour")].filter((part) => part !== "");
  return parts.length > 0 ? parts.join(", ") : "less than an hour";
}

function counted(count: number, unit: string): string {
  if (count === 0) return "";
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
