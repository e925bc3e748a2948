import type { Clock } from "../../../base/clock.ts";
import { forbidden } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { findHostRole, listGpuMachines } from "../hosts/for-statistics.ts";
import { isOpen, listRentedDevices } from "../market/index.ts";
import { placesOf, type Place } from "./rules/places.ts";
import { countGpus, sampleMarket, type Counted } from "./rules/sample.ts";
import {
  DAY_SECONDS,
  HOUR_SECONDS,
  CENSUS_SECONDS,
  readRange,
  spanOf,
  stretchesOf,
  type Scope,
  type Stretch,
} from "./rules/span.ts";
import {
  claimSpan,
  deleteSpans,
  findEnd,
  findLastCensus,
  insertSamples,
  listHistory,
  listNames,
  listPlaces,
  listSamples,
  listSpansToRollUp,
  listUsage,
  rollUp,
} from "./store.ts";
import { gpuNow, historyOf, priceNow, rentersHistoryOf } from "./views.ts";

const DAY_MS = 86_400_000;
/** How long single censuses, hours and days are kept. */
const KEPT_DAYS = { censuses: 35, hours: 400, days: 3_660 };
const SPANS_PER_RUN = 50;
/** Days of `usage_30d`. */
const USAGE_DAYS = 30;
/** Longer histories for renters are by the day. */
const HOURLY_DAYS_MAX = 14;
const NAMES_MAX = 100;
const NAMES_DEFAULT = ["RTX 5090", "RTX 4090", "RTX 3090"];

/**
 * Counts the market and stores the samples, once for each five minutes over all servers. A market without a
 * GPU to rent or rented is no census: after a start the hosts have not reconnected yet, and the next run will find them.
 */
export async function takeSample(tx: Tx): Promise<number> {
  const span = spanOf(tx.now, CENSUS_SECONDS);
  const counted = await countMarket(tx.db, tx.now);
  const hasSupply = counted.some((one) => one.rentedCount + one.availableCount > 0);
  if (!hasSupply || !(await claimSpan(tx, span))) return 0;
  const samples = sampleMarket(counted);
  await insertSamples(tx, span, samples);
  return samples.length;
}

async function countMarket(db: Reader, now: Date): Promise<readonly Counted[]> {
  const [machines, rented] = [await listGpuMachines(db), await listRentedDevices(db)];
  return countGpus(machines, rented, (machine) => {
    if (isOpen(machine, now)) return "open";
    return machine.isListed && now < machine.offerEndAt ? "closed" : "unlisted";
  });
}

/** Rolls censuses up to hours and hours to days, and deletes old samples. */
export async function keepSamples(tx: Tx): Promise<{ readonly rolled: number; readonly forgotten: number }> {
  let rolled = 0;
  for (const [fromSeconds, toSeconds] of [
    [CENSUS_SECONDS, HOUR_SECONDS],
    [HOUR_SECONDS, DAY_SECONDS],
  ] as const) {
    const due = await listSpansToRollUp(tx.db, { fromSeconds, toSeconds, now: tx.now, limit: SPANS_PER_RUN });
    for (const at of due) {
      const span = { stepSeconds: toSeconds, at };
      if (!(await claimSpan(tx, span))) continue;
      await rollUp(tx, span, fromSeconds);
      rolled += 1;
    }
    // More spans of this length may be left: a day waits until all its hours exist.
    if (due.length === SPANS_PER_RUN) break;
  }
  let forgotten = 0;
  for (const [stepSeconds, days] of [
    [CENSUS_SECONDS, KEPT_DAYS.censuses],
    [HOUR_SECONDS, KEPT_DAYS.hours],
    [DAY_SECONDS, KEPT_DAYS.days],
  ] as const) {
    forgotten += await deleteSpans(tx, stepSeconds, new Date(tx.now.getTime() - days * DAY_MS), SPANS_PER_RUN);
  }
  return { rolled, forgotten };
}

/** Market metrics are for hosts: throws for renters. True for a host without a machine, which gets an explanation instead. */
export async function needsMachine(db: Reader, userId: UserId): Promise<boolean> {
  const role = await findHostRole(db, userId);
  if (role === "renter") throw forbidden("Market metrics are for hosts: join a machine first.", "not_a_host");
  return role === "without_machines";
}

async function stretchesBetween(db: Reader, start: Date, end: Date, stepSeconds: number) {
  const ends = { hours: await findEnd(db, HOUR_SECONDS, end), days: await findEnd(db, DAY_SECONDS, end) };
  return stretchesOf({ start, end, stepSeconds }, ends);
}

/** Counts of the newest census. */
export async function showCurrent(db: Reader, now: Date, scope: Scope) {
  const at = await findLastCensus(db, now);
  const end = spanOf(new Date(now.getTime() + CENSUS_SECONDS * 1000), CENSUS_SECONDS).at;
  const start = new Date(end.getTime() - USAGE_DAYS * DAY_MS);
  const usage = await listUsage(db, await stretchesBetween(db, start, end, HOUR_SECONDS), scope);
  const samples = at === undefined ? [] : await listSamples(db, at, scope);
  return gpuNow(samples, scope, usage);
}

export type HistoryAsked = Scope & {
  readonly names: readonly string[] | "all" | undefined;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly step?: string | undefined;
};

export async function showHistory(db: Reader, now: Date, asked: HistoryAsked) {
  const { verified, hosting, bucket } = asked;
  const isAll = asked.names === "all";
  const given = isAll ? [] : (asked.names ?? NAMES_DEFAULT).slice(0, NAMES_MAX);
  const range = readRange(asked, { now, nameCount: isAll ? NAMES_MAX : given.length });
  const stretches: readonly Stretch[] = await stretchesBetween(db, range.start, range.end, range.stepSeconds);
  const names = isAll ? await listNames(db, stretches, asked, NAMES_MAX) : given;
  const query = { stretches, start: range.start, stepSeconds: range.stepSeconds, names, hosting, bucket };
  const [places, rows] = [await listPlaces(db, query), await listHistory(db, query)];
  return historyOf(rows, { names, places, range, verified, bucket });
}

export type RentersHistoryAsked = Pick<Scope, "verified" | "bucket"> & {
  readonly gpuName: string;
  readonly days: number;
};

/** Prices and supply of one kind of GPU for renters, by the hour or by the day: a public answer. */
export async function showRentersHistory(db: Reader, now: Date, asked: RentersHistoryAsked) {
  const stepSeconds = asked.days > HOURLY_DAYS_MAX ? DAY_SECONDS : HOUR_SECONDS;
  const end = new Date(now.getTime() + CENSUS_SECONDS * 1000);
  const { at: start } = spanOf(new Date(now.getTime() - asked.days * DAY_MS), stepSeconds);
  const stretches = await stretchesBetween(db, start, end, stepSeconds);
  const query = {
    stretches,
    start,
    stepSeconds,
    names: [asked.gpuName],
    hosting: "all",
    bucket: asked.bucket,
  } as const;
  const rows = (await listHistory(db, query)).filter(({ verified }) => verified === asked.verified);
  return { stepSeconds, points: rentersHistoryOf(rows, { start, stepSeconds, bucket: asked.bucket }) };
}

/** Present prices and counts of GPUs, and those of a day ago: a public answer. */
export async function showPrices(db: Reader, now: Date) {
  const dayAgo = new Date(now.getTime() - DAY_MS);
  const [at, before] = [await findLastCensus(db, now), await findLastCensus(db, dayAgo)];
  const samples = at === undefined ? [] : await listSamples(db, at, EVERYWHERE);
  // A much older census does not describe the market a day ago.
  const isKnown = before !== undefined && dayAgo.getTime() - before.getTime() < HOUR_SECONDS * 1000;
  return { sampledAt: at, gpus: priceNow(samples, isKnown ? await listSamples(db, before, EVERYWHERE) : []) };
}

const EVERYWHERE = { hosting: "all", bucket: "all" } as const;
const PLACES_KEPT_MS = 3_600_000;

/** Locations of the GPUs, counted at most once an hour. */
export function createPlaces(clock: Clock): (db: Reader) => Promise<readonly Place[]> {
  let known: { readonly places: Promise<readonly Place[]>; readonly untilMs: number } | undefined;
  return (db) => {
    const nowMs = clock.monotonicMs();
    if (known === undefined || known.untilMs <= nowMs) {
      const places = countMarket(db, clock.now()).then(placesOf);
      const mine = { places, untilMs: nowMs + PLACES_KEPT_MS };
      known = mine;
      // A failed count must not be the answer for the next hour.
      places.catch(() => {
        if (known === mine) known = undefined;
      });
    }
    return known.places;
  };
}
