import { sql } from "kysely";
import { insertRows } from "../../../db/insert-rows.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { Bucket, Sample } from "./rules/sample.ts";
import type { Scope, Span, Stretch } from "./rules/span.ts";

/** Claims the samples of this span; false when another process, or this one, has claimed them. */
export async function claimSpan(tx: Tx, { stepSeconds, at }: Span): Promise<boolean> {
  const result = await tx.db
    .insertInto("gpu_sample_runs")
    .values({ step_s: stepSeconds, at })
    .onConflict((oc) => oc.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function insertSamples(tx: Tx, { stepSeconds, at }: Span, samples: readonly Sample[]): Promise<void> {
  const rowOf = (sample: Sample) => ({
    step_s: stepSeconds,
    at,
    gpu_name: sample.gpuName,
    verified: sample.verified,
    hosting: sample.hosting,
    rented_count: sample.rentedCount,
    available_count: sample.availableCount,
    unavailable_count: sample.unavailableCount,
    dlperf: sample.dlperf,
    tflops: sample.tflops,
    price_p10_nanos: sample.prices.p10 ?? null,
    price_p25_nanos: sample.prices.p25 ?? null,
    price_p50_nanos: sample.prices.p50 ?? null,
    price_p75_nanos: sample.prices.p75 ?? null,
    price_p90_nanos: sample.prices.p90 ?? null,
    rented_p10_nanos: sample.rentedPrices.p10 ?? null,
    rented_p50_nanos: sample.rentedPrices.p50 ?? null,
    rented_p90_nanos: sample.rentedPrices.p90 ?? null,
    available_p10_nanos: sample.availablePrices.p10 ?? null,
    available_p50_nanos: sample.availablePrices.p50 ?? null,
    available_p90_nanos: sample.availablePrices.p90 ?? null,
    available_min_nanos: sample.lowestAvailablePrice ?? null,
  });
  const ofAll = samples.filter(({ bucket }) => bucket === "all");
  await insertRows(tx, "gpu_samples", ofAll.map(rowOf));
  const ofBuckets = samples.flatMap((sample) =>
    sample.bucket === "all" ? [] : [{ ...rowOf(sample), bucket: sample.bucket }],
  );
  await insertRows(tx, "gpu_bucket_samples", ofBuckets);
}

/** The samples of machines of one size, or of all, under the name `gpu_samples`. */
function samplesOf(bucket: Bucket) {
  if (bucket === "all") return sql`gpu_samples`;
  return sql`(select * from gpu_bucket_samples where bucket = ${bucket}) as gpu_samples`;
}

/** Longer spans that are over and can be made of shorter ones, oldest first. */
export async function listSpansToRollUp(
  db: Reader,
  { fromSeconds, toSeconds, now, limit }: { fromSeconds: number; toSeconds: number; now: Date; limit: number },
): Promise<readonly Date[]> {
  const { rows } = await sql<{ at: Date }>`
    with span as (
      select distinct date_bin(make_interval(secs => ${toSeconds}), at, timestamptz 'epoch') as at
      from gpu_sample_runs where step_s = ${fromSeconds}
    )
    select span.at from span
    where span.at + make_interval(secs => ${toSeconds}) <= ${now}::timestamptz
      and not exists (select from gpu_sample_runs as long where long.step_s = ${toSeconds} and long.at = span.at)
    order by span.at limit ${limit}
  `.execute(db);
  return rows.map(({ at }) => at);
}

/** Columns that are a mean over the samples with a price. */
const PRICES = [
  "price_p10_nanos",
  "price_p25_nanos",
  "price_p50_nanos",
  "price_p75_nanos",
  "price_p90_nanos",
  "rented_p10_nanos",
  "rented_p50_nanos",
  "rented_p90_nanos",
  "available_p10_nanos",
  "available_p50_nanos",
  "available_p90_nanos",
] as const;

/**
 * Computes the samples of a long span from the short ones within it: means, in which a census without a GPU counts as
 * zero, and the minimum of the lowest prices. The caller has claimed the span.
 */
export async function rollUp(tx: Tx, { stepSeconds, at }: Span, fromSeconds: number): Promise<void> {
  const within = sql`step_s = ${fromSeconds} and at >= ${at}::timestamptz
    and at < ${at}::timestamptz + make_interval(secs => ${stepSeconds})`;
  const means = sql.join(PRICES.map((name) => sql`avg(${sql.ref(name)})::bigint`));
  for (const [table, keys] of [
    ["gpu_samples", ["gpu_name", "verified", "hosting"]],
    ["gpu_bucket_samples", ["gpu_name", "verified", "hosting", "bucket"]],
  ] as const) {
    const key = sql.join(keys.map((name) => sql.ref(name)));
    await sql`
    insert into ${sql.table(table)}
      (step_s, at, ${key}, rented_count, available_count, unavailable_count, dlperf, tflops,
       ${sql.join(PRICES.map((name) => sql.ref(name)))}, available_min_nanos)
    select ${stepSeconds}::integer, ${at}::timestamptz, ${key},
      sum(rented_count) / censuses.count, sum(available_count) / censuses.count, sum(unavailable_count) / censuses.count, avg(dlperf), avg(tflops), ${means},
      min(available_min_nanos)
    from ${sql.table(table)} cross join (select count(*) as count from gpu_sample_runs where ${within}) as censuses
    where ${within}
    group by ${key}, censuses.count
  `.execute(tx.db);
  }
}

/** Deletes spans before this time, with their samples. */
export async function deleteSpans(tx: Tx, stepSeconds: number, before: Date, limit: number): Promise<number> {
  const result = await sql`
    delete from gpu_sample_runs where step_s = ${stepSeconds} and at in (
      select at from gpu_sample_runs where step_s = ${stepSeconds} and at < ${before}::timestamptz
      order by at limit ${limit}
    )
  `.execute(tx.db);
  return Number(result.numAffectedRows ?? 0n);
}

/** The time of the last census, no later than `until`. */
export async function findLastCensus(db: Reader, until: Date): Promise<Date | undefined> {
  const row = await db
    .selectFrom("gpu_sample_runs")
    .select("at")
    .where("step_s", "=", 300)
    .where("at", "<=", until)
    .orderBy("at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.at;
}

/** End of the last sample of this length that began before `until`. */
export async function findEnd(db: Reader, stepSeconds: number, until: Date): Promise<Date | undefined> {
  const row = await db
    .selectFrom("gpu_sample_runs")
    .select("at")
    .where("step_s", "=", stepSeconds)
    .where("at", "<", until)
    .orderBy("at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && new Date(row.at.getTime() + stepSeconds * 1000);
}

export type StoredSample = {
  readonly gpuName: string;
  readonly verified: Sample["verified"];
  readonly rentedCount: number;
  readonly availableCount: number;
  readonly unavailableCount: number;
  readonly dlperf: number;
  readonly tflops: number;
} & Readonly<Record<(typeof PRICES)[number], bigint | null>>;

/** The samples of one census, of every scope of verification. */
export async function listSamples(
  db: Reader,
  at: Date,
  { hosting, bucket }: Pick<Sample, "hosting" | "bucket">,
): Promise<readonly StoredSample[]> {
  const samples =
    bucket === "all"
      ? db.selectFrom("gpu_samples")
      : db.selectFrom("gpu_bucket_samples as gpu_samples").where("bucket", "=", bucket);
  return samples
    .select([
      "gpu_name as gpuName",
      "verified",
      "rented_count as rentedCount",
      "available_count as availableCount",
      "unavailable_count as unavailableCount",
      "dlperf",
      "tflops",
      ...PRICES,
    ])
    .where("step_s", "=", 300)
    .where("at", "=", at)
    .where("hosting", "=", hosting)
    .orderBy("gpu_name")
    .execute();
}

/** The spans of these stretches, each with its step of the answer. */
function spansIn(stretches: readonly Stretch[], start: Date, stepSeconds: number) {
  return sql`
    select run.step_s, run.at, floor(extract(epoch from run.at - ${start}::timestamptz) / ${stepSeconds})::integer as place
    from unnest(
      ${stretches.map((stretch) => stretch.stepSeconds)}::integer[],
      ${stretches.map((stretch) => stretch.from)}::timestamptz[], ${stretches.map((stretch) => stretch.until)}::timestamptz[]
    ) as stretch (step_s, starts_at, ends_at)
    join gpu_sample_runs as run on run.step_s = stretch.step_s and run.at >= starts_at and run.at < ends_at`;
}

/**
 * Share of its GPUs that were rented over this time, by name: each census is weighted with the time that it stands for.
 */
export async function listUsage(
  db: Reader,
  stretches: readonly Stretch[],
  { verified, hosting, bucket }: Scope,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ gpu_name: string; usage: number }>`
    with span as (${spansIn(stretches, new Date(0), 1)})
    select gpu_name, sum(rented_count * step_s) / sum((rented_count + available_count) * step_s) as usage
    from span join ${samplesOf(bucket)} using (step_s, at)
    where verified = ${verified} and hosting = ${hosting}
    group by gpu_name having sum(rented_count + available_count) > 0
  `.execute(db);
  return new Map(rows.map((row) => [row.gpu_name, row.usage]));
}

/** Names that were counted in this time, the most numerous first. */
export async function listNames(
  db: Reader,
  stretches: readonly Stretch[],
  { verified, hosting, bucket }: Scope,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await sql<{ gpu_name: string }>`
    with span as (${spansIn(stretches, new Date(0), 1)})
    select gpu_name from span join ${samplesOf(bucket)} using (step_s, at)
    where verified = ${verified} and hosting = ${hosting}
    group by gpu_name order by sum((rented_count + available_count) * step_s) desc, gpu_name limit ${limit}
  `.execute(db);
  return rows.map((row) => row.gpu_name);
}

export type HistoryRow = {
  readonly gpuName: string;
  readonly verified: Sample["verified"];
  readonly place: number;
  readonly rentedCount: number;
  readonly availableCount: number;
  readonly unavailableCount: number;
  readonly dlperf: number;
  readonly tflops: number;
  readonly rentedP10: bigint | null;
  readonly rentedP50: bigint | null;
  readonly rentedP90: bigint | null;
  readonly availableP10: bigint | null;
  readonly availableP50: bigint | null;
  readonly availableP90: bigint | null;
  /** Null also for samples that were stored without it. */
  readonly availableMin: bigint | null;
};

type HistoryQuery = {
  readonly stretches: readonly Stretch[];
  readonly start: Date;
  readonly stepSeconds: number;
  readonly names: readonly string[];
  readonly hosting: Sample["hosting"];
  readonly bucket: Bucket;
};

/** The mean of each step, by name and verification. */
export async function listHistory(
  db: Reader,
  { stretches, start, stepSeconds, names, hosting, bucket }: HistoryQuery,
): Promise<readonly HistoryRow[]> {
  const { rows } = await sql<HistoryRow>`
    with span as (${spansIn(stretches, start, stepSeconds)}),
    step as (select place, sum(step_s) as seconds from span group by place)
    select gpu_name as "gpuName", verified, place, sum(rented_count * step_s) / step.seconds as "rentedCount",
      sum(available_count * step_s) / step.seconds as "availableCount",
      sum(unavailable_count * step_s) / step.seconds as "unavailableCount", avg(dlperf) as dlperf, avg(tflops) as tflops,
      avg(rented_p10_nanos)::bigint as "rentedP10", avg(rented_p50_nanos)::bigint as "rentedP50",
      avg(rented_p90_nanos)::bigint as "rentedP90", avg(available_p10_nanos)::bigint as "availableP10",
      avg(available_p50_nanos)::bigint as "availableP50", avg(available_p90_nanos)::bigint as "availableP90",
      min(available_min_nanos) as "availableMin"
    from span join step using (place) join ${samplesOf(bucket)} using (step_s, at)
    where hosting = ${hosting} and gpu_name = any(${names}::text[])
    group by gpu_name, verified, place, step.seconds
    order by gpu_name, verified, place
  `.execute(db);
  return rows;
}

/** The steps of the answer that contain a census. */
export async function listPlaces(
  db: Reader,
  { stretches, start, stepSeconds }: Pick<HistoryQuery, "stretches" | "start" | "stepSeconds">,
): Promise<readonly number[]> {
  const { rows } = await sql<{ place: number }>`
    select distinct place from (${spansIn(stretches, start, stepSeconds)}) as span order by place
  `.execute(db);
  return rows.map(({ place }) => place);
}
