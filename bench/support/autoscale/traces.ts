import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { seededRandom } from "../../../agent/src/base/random.ts";
import type { Arrival } from "../../../server/src/domains/serverless/simulation/types.ts";

export type TrafficTrace = {
  readonly name: string;
  readonly arrivals: readonly Arrival[];
  /** The rules were chosen with its first half in view; otherwise with nothing of it. */
  readonly isLookedAt: boolean;
};

/** A token that is read costs a tenth of one that is written, as it is read together with all others. */
const READ_COST = 0.1;
const DAY_S = 86_400;
const WINDOW_S = 600;
const BUSY_S = 4 * 3_600;
const REQUESTS_A_DAY_MAX = 60_000;
/** Times of the conversation trace are rounded to this, and spread over it here. */
const TICK_MS = 3_000;

/** Clients for which no rule was tuned, by their place among the busiest of a file. */
const UNSEEN_CLIENTS = [
  ["reasoning", "deepseek-r1_rates_day1", 2],
  ["reasoning", "deepseek-r1_rates_day1", 3],
  ["small model", "m-small_rates_week1", 0],
  ["small model", "m-small_rates_week1", 1],
  ["large model", "m-large_rates_week1", 0],
  ["large model", "m-large_rates_week1", 1],
] as const;

/** The public traces in a folder; those that are not there are left out. */
export function readTraces(folder: string): readonly TrafficTrace[] {
  const sources: readonly (readonly [string, string, (file: string) => readonly Arrival[], boolean])[] = [
    ["azure code", "azure-llm-2023/code_1816-1855.csv", readAzure, true],
    ["azure conversation", "azure-llm-2023/conv_1816-1855.csv", readAzure, true],
    ["mooncake conversation", "mooncake-conversation/conversation_0-2400s.jsonl.gz", readMooncake, true],
    [
      "servegen reasoning, client 0",
      "servegen-clients/deepseek-r1_rates_day1.csv.gz",
      (file) => readServegen(file, 0),
      true,
    ],
    [
      "servegen reasoning, client 1",
      "servegen-clients/deepseek-r1_rates_day1.csv.gz",
      (file) => readServegen(file, 1),
      true,
    ],
    ...UNSEEN_CLIENTS.map(
      ([kind, file, place]) =>
        [
          `servegen ${kind}, client ${place}`,
          `servegen-clients/${file}.csv.gz`,
          (full: string) => readServegen(full, place),
          false,
        ] as const,
    ),
  ];
  return sources.flatMap(([name, file, read, isLookedAt]) => {
    const full = path.join(folder, file);
    return existsSync(full) ? [{ name, arrivals: read(full), isLookedAt }] : [];
  });
}

/** Times that workers took to load a model, in a random but always equal order. */
export function readStartTimes(folder: string): readonly number[] {
  const file = path.join(folder, "alibaba-genai-2026/basemodel_update_latency_ms_0-15h.csv.gz");
  if (!existsSync(file)) return madeStartTimes();
  const times = readRows(file).map((row) => Number(row["value"]));
  return shuffled(times.filter((time) => time > 0));
}

/** Start times like those of image generators: 23 s in the median, 52 s for one in a hundred. */
export function madeStartTimes(): readonly number[] {
  const random = seededRandom("start times");
  return Array.from({ length: 200 }, () => 23_000 * Math.exp(0.35 * normal(random)));
}

/** Traffic that drifts, bursts and pauses, for machines without a recorded trace. */
export function madeTrace(seconds: number, seed = "traffic"): TrafficTrace {
  const random = seededRandom(seed);
  const arrivals: Arrival[] = [];
  let burstUntil = 0;
  for (let second = 0; second < seconds; second += 1) {
    if (random() < 1 / 300) burstUntil = second + 30 + 60 * random();
    const tide = 1 + 0.4 * Math.sin((2 * Math.PI * second) / 1_800);
    const rate = 4 * tide * (second < burstUntil ? 2 : 1);
    for (let at = -Math.log(1 - random()) / rate; at < 1; at -= Math.log(1 - random()) / rate) {
      arrivals.push({ atMs: (second + at) * 1_000, load: 300 * Math.exp(0.5 * normal(random)) });
    }
  }
  return { name: `generated: tide and bursts, "${seed}"`, arrivals, isLookedAt: seed === "traffic" };
}

function readAzure(file: string): readonly Arrival[] {
  const rows = readRows(file).map((row) => ({
    at: Date.parse(`${(row["TIMESTAMP"] ?? "").slice(0, 23).replace(" ", "T")}Z`),
    load: costOf(Number(row["ContextTokens"]), Number(row["GeneratedTokens"])),
  }));
  const first = rows[0]?.at ?? 0;
  return rows.map(({ at, load }) => ({ atMs: at - first, load }));
}

function readMooncake(file: string): readonly Arrival[] {
  const random = seededRandom("ticks");
  const lines = gunzipSync(readFileSync(file)).toString("utf8").trim().split("\n");
  const arrivals = lines.map((line): Arrival => {
    const { timestamp, input_length: read, output_length: written } = JSON.parse(line) as Record<string, number>;
    return { atMs: (timestamp ?? 0) + random() * TICK_MS, load: costOf(read ?? 0, written ?? 0) };
  });
  return arrivals.toSorted((a, b) => a.atMs - b.atMs);
}

/**
 * The busiest hours of a client, by its place among the busiest of those that send no more than so many requests a day: its
 * rate by the window, drawn with the spread of gaps that was measured in it.
 */
function readServegen(file: string, place: number): readonly Arrival[] {
  const byClient = new Map<string, { readonly from: number; readonly rate: number; readonly variation: number }[]>();
  for (const { client = "", t_s: from, rate_rps: rate, cv_iat: variation } of readRows(file)) {
    const window = { from: Number(from), rate: Number(rate), variation: Number(variation) };
    if (window.from < DAY_S && window.rate > 0) byClient.set(client, [...(byClient.get(client) ?? []), window]);
  }
  const countOf = (windows: readonly { readonly rate: number }[]) =>
    windows.reduce((sum, { rate }) => sum + rate * WINDOW_S, 0);
  const clients = [...byClient.values()].filter((each) => countOf(each) <= REQUESTS_A_DAY_MAX);
  const windows = clients.toSorted((a, b) => countOf(b) - countOf(a))[place] ?? [];
  const hoursFrom = (start: number) => windows.filter(({ from }) => from >= start && from < start + BUSY_S);
  const starts = windows.map(({ from }) => from);
  const [startS = 0] = starts.toSorted((a, b) => countOf(hoursFrom(b)) - countOf(hoursFrom(a)));
  const random = seededRandom("gaps");
  const arrivals: Arrival[] = [];
  for (const { from, rate, variation } of hoursFrom(startS)) {
    const gap = gapsOf(rate, variation, random);
    for (let at = gap() * random(); at < WINDOW_S; at += gap()) {
      arrivals.push({ atMs: (from - startS + at) * 1_000, load: 900 * Math.exp(0.6 * normal(random)) });
    }
  }
  return arrivals.toSorted((a, b) => a.atMs - b.atMs);
}

/** Gaps of a mean and a coefficient of variation: a mixture of two exponentials, or an Erlang sum below 1. */
function gapsOf(rate: number, variation: number, random: () => number): () => number {
  const exponential = (mean: number) => -Math.log(1 - random()) * mean;
  if (!(variation > 1)) {
    const parts = Math.max(1, Math.min(20, Math.round(1 / Math.max(0.05, variation) ** 2)));
    return () =>
      Array.from({ length: parts }, () => exponential(1 / rate / parts)).reduce((sum, each) => sum + each, 0);
  }
  const share = (1 + Math.sqrt((variation ** 2 - 1) / (variation ** 2 + 1))) / 2;
  return () => (random() < share ? exponential(1 / (2 * share * rate)) : exponential(1 / (2 * (1 - share) * rate)));
}

function costOf(read: number, written: number): number {
  return READ_COST * read + written;
}

function readRows(file: string): readonly Readonly<Record<string, string>>[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  const [head = "", ...lines] = text.trim().split(/\r?\n/);
  const names = head.split(",");
  return lines.map((line) => {
    const values = line.split(",");
    return Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
  });
}

function shuffled(values: readonly number[]): readonly number[] {
  const random = seededRandom("order");
  return values
    .map((value) => ({ value, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ value }) => value);
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
