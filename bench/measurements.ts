// The cost of measurements of many machines: to take and store the samples of ten seconds, to roll up a quarter of an
// hour, and to keep it. The control stores the same subjects as one row for each of them and ten seconds.
import { sql } from "kysely";
import type { Measurements } from "../protocol/index.ts";
import { decodeAgentMessage } from "../protocol/index.ts";
import type { Clock } from "../server/src/base/clock.ts";
import { asId, type MachineId } from "../server/src/base/ids.ts";
import type { Reader } from "../server/src/db/transaction.ts";
import { withTransaction } from "../server/src/db/transaction.ts";
import { MeasurementIntake, measurementLoops } from "../server/src/domains/supply/measurements/for-assembly.ts";
import { readBlock } from "../server/src/domains/supply/measurements/rules/block.ts";
import { ManualClock } from "../test/support/manual-clock.ts";
import { readNumbers } from "./support/arguments.ts";
import { startBenchDatabase, type BenchDatabase } from "./support/bench-database.ts";
import { describeEnvironment } from "./support/environment.ts";
import { rounded, table } from "./support/figures.ts";

const DEFAULTS = { machines: 1_000, instances: 8 };
type Options = Readonly<typeof DEFAULTS>;

const SAMPLES = 90;
const SAMPLE_MS = 10_000;
const QUARTERS_PER_DAY = 96;
const BEGIN_MS = Date.UTC(2026, 0, 5, 12);

export type MeasurementCost = {
  /** Processor time of both processes for ten seconds of all machines, in milliseconds. */
  readonly storeMs: number;
  readonly rollUpMs: number;
  readonly controlMs: number;
  readonly bytesPerInstanceDay: number;
  readonly heldBytes: number;
  readonly controlBytesPerInstanceDay: number;
};

export async function run(args: readonly string[]): Promise<void> {
  await measureMeasurements(readNumbers(args, DEFAULTS));
}

/** Runs the benchmark and returns its figures; throws when stored points differ from the readings. */
export async function measureMeasurements(options: Options): Promise<MeasurementCost> {
  const bench = await startBenchDatabase();
  try {
    console.log(describeEnvironment(bench.dataDir));
    const clock = new ManualClock(BEGIN_MS);
    const stored = await storeQuarter(bench, clock, options);
    const sampleBytes = await sizeOf(bench.database.kysely, "measurement_samples");
    clock.jump(SAMPLE_MS * 30);
    const rolled = await bench.measure(() => rollAll(bench, clock));
    const tiers = await readTiers(bench.database.kysely, options);
    await checkPoints(bench.database.kysely, options);
    const dayBytes = await joinDays(bench, clock, tiers);
    const control = await storeControl(bench, clock, options);
    const controlBytes = await sizeOf(bench.database.kysely, "measurement_control");
    return report(options, { stored, rolled, control, sampleBytes, controlBytes, tiers, dayBytes });
  } finally {
    await bench.stop();
  }
}

type Spent = { readonly used: { readonly serverMs: number; readonly postgresMs: number } };

/** A reading that changes with machine, instance and time, as a busy one does. */
function reading(machine: number, instance: number, at: number): number {
  return Math.abs(Math.round(500 + 450 * Math.sin(machine + instance * 1.7 + at / 9) + ((at * 7919) % 37)));
}

function messageOf(machine: number, at: number, instances: number): string {
  const use = (seed: number) => ({
    cpu_percent: reading(machine, seed, at) / 5,
    memory_bytes: reading(machine, seed, at) * 30_000_000,
    disk_bytes: 40_000_000_000 + at * 1_000_000,
    received_bytes_per_s: reading(machine, seed, at + 3) * 300,
    sent_bytes_per_s: reading(machine, seed, at + 5) * 90,
  });
  const message: Measurements = {
    kind: "measurements",
    machine: use(99),
    gpus: Array.from({ length: instances }, (_, index) => ({
      uuid: uuidOf(machine, index),
      index,
      utilization_percent: reading(machine, index, at) / 10,
      used_memory_mb: 10_000 + reading(machine, index, at),
      temperature_c: 40 + Math.round(reading(machine, index, at) / 30),
      power_w: 80 + reading(machine, index, at) / 3,
    })),
    instances: Array.from({ length: instances }, (_, index) => ({
      instance_id: instanceIdOf(machine, index, instances),
      ...use(index),
    })),
  };
  return JSON.stringify(message);
}

const uuidOf = (machine: number, index: number) => `GPU-${machine}-${index}`;
const instanceIdOf = (machine: number, index: number, instances: number) => machine * instances + index + 1;

/** Takes what all machines say in a quarter of an hour, as text, and stores each ten seconds. */
async function storeQuarter({ database, measure }: BenchDatabase, clock: ManualClock, options: Options) {
  const intake = new MeasurementIntake(database, clock);
  const gpusOf = Array.from(
    { length: options.machines },
    (_, machine) =>
      new Map(
        Array.from({ length: options.instances }, (_unused, index) => [
          instanceIdOf(machine, index, options.instances),
          [uuidOf(machine, index)],
        ]),
      ),
  );
  let used = { serverMs: 0, postgresMs: 0 };
  for (let at = 0; at < SAMPLES; at += 1) {
    const texts = gpusOf.map((_, machine) => messageOf(machine, at, options.instances));
    const step = await measure(async () => {
      for (const [machine, text] of texts.entries()) {
        const decoded = decodeAgentMessage(text);
        if (!decoded.ok || decoded.message.kind !== "measurements") throw new Error("the message is not understood");
        intake.take(asId<MachineId>(machine + 1), decoded.message, gpusOf[machine] ?? new Map());
      }
      return intake.flush();
    });
    if (step.result.stored !== options.machines) throw new Error(`${step.result.stored} samples were stored`);
    used = {
      serverMs: used.serverMs + step.used.serverMs,
      postgresMs: used.postgresMs + step.used.postgresMs,
    };
    clock.jump(SAMPLE_MS);
  }
  return { used };
}

async function rollAll({ database }: BenchDatabase, clock: Clock): Promise<number> {
  const loop = measurementLoops({ database, clock, intake: new MeasurementIntake(database, clock) }).find(
    ({ name }) => name === "roll-up-measurements",
  );
  let machines = 0;
  for (;;) {
    const done = Number((await loop?.run())?.["machines"] ?? 0);
    if (done === 0) return machines;
    machines += done;
  }
}

async function sizeOf(db: Reader, name: string): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`
    select pg_total_relation_size(${name}::regclass)::text as bytes
  `.execute(db);
  return Number(rows[0]?.bytes ?? 0);
}

type TierBytes = { readonly stepS: number; readonly rowBytes: number; readonly rows: number };

/** Bytes of a row of an instance in each resolution, with its share of table and indexes. */
async function readTiers(db: Reader, { machines, instances }: Options): Promise<readonly TierBytes[]> {
  await sql`vacuum analyze measurement_blocks`.execute(db);
  const total = await sizeOf(db, "measurement_blocks");
  const { rows } = await sql<{ step_s: number; rows: string; bytes: string; all_bytes: string }>`
    select step_s, count(*) filter (where subject_kind = 1)::text as rows,
      sum(pg_column_size(block.*)) filter (where subject_kind = 1)::text as bytes,
      sum(sum(pg_column_size(block.*))) over ()::text as all_bytes
    from measurement_blocks as block group by step_s order by step_s
  `.execute(db);
  return rows.map((row) => {
    const overhead = total / Number(row.all_bytes);
    if (Number(row.rows) !== machines * instances) throw new Error(`${row.rows} blocks of ${row.step_s} s`);
    return { stepS: row.step_s, rows: Number(row.rows), rowBytes: (Number(row.bytes) / Number(row.rows)) * overhead };
  });
}

/** Bytes of a row that holds a day of quarter hours, as the loop makes it of quarters of many instances. */
async function joinDays({ database }: BenchDatabase, clock: ManualClock, tiers: readonly TierBytes[]): Promise<number> {
  const { kysely: db } = database;
  const quarter = tiers.find(({ stepS }) => stepS === 900);
  await sql`
    insert into measurement_blocks
    select day.subject_kind, day.subject_id, day.step_s,
      date_trunc('day', day.begins_at) + place * interval '15 minutes', other.content
    from measurement_blocks as day cross join generate_series(0, 95) as place
    join measurement_blocks as other on other.subject_kind = 1 and other.step_s = 900
      and other.subject_id = (day.subject_id + place * 7) % (select max(subject_id) from measurement_blocks) + 1
    where day.subject_kind = 1 and day.subject_id <= 50 and day.step_s = 900
    on conflict do nothing
  `.execute(db);
  clock.jump(86_400_000);
  const intake = new MeasurementIntake(database, clock);
  await measurementLoops({ database, clock, intake })
    .find(({ name }) => name === "keep-measurements")
    ?.run();
  const { rows } = await sql<{ bytes: string; sizes: string; quarter: string }>`
    select avg(pg_column_size(joined.*))::text as bytes, count(*)::text as sizes,
      (select avg(pg_column_size(single.*))::text from measurement_blocks as single
       where subject_kind = 1 and subject_id > 50 and step_s = 900) as quarter
    from measurement_blocks as joined
    where subject_kind = 1 and subject_id <= 50 and step_s = 900 and octet_length(content) > 500
  `.execute(db);
  const [row] = rows;
  if (row === undefined || Number(row.sizes) === 0) throw new Error("no day was joined");
  // Its index entries are few: the bytes beyond the row itself are those of one row.
  return Number(row.bytes) + Math.max(0, (quarter?.rowBytes ?? 0) - Number(row.quarter ?? 0));
}

/** Compares stored points of some instances with the readings themselves. */
async function checkPoints(db: Reader, { machines, instances }: Options): Promise<void> {
  const { rows } = await sql<{ subject_id: number; step_s: number; content: Buffer }>`
    select subject_id, step_s, content from measurement_blocks
    where subject_kind = 1 and subject_id % ${Math.max(1, machines)}::integer = 1
  `.execute(db);
  let checked = 0;
  for (const { subject_id: id, step_s: stepS, content } of rows) {
    const [machine, index] = [Math.floor((id - 1) / instances), (id - 1) % instances];
    readBlock({ beginsS: 0, stepS, content }, (key, atS, mean) => {
      if (key !== 256) return;
      const from = atS / 10;
      const readings = Array.from({ length: stepS / 10 }, (_, place) => reading(machine, index, from + place));
      const wanted = readings.reduce((sum, one) => sum + one, 0) / readings.length;
      if (Math.abs(mean - wanted) > 1.5) throw new Error(`instance ${id}: ${mean} is stored for ${wanted}`);
      checked += 1;
    });
  }
  if (checked === 0) throw new Error("no stored point was compared");
}

/** The control: a row for each machine, instance and ten seconds, by one statement for all of them. */
async function storeControl({ database, measure }: BenchDatabase, clock: Clock, { machines, instances }: Options) {
  await sql`
    create table measurement_control (
      subject_kind smallint, subject_id integer, taken_at timestamptz, gpu_util real, gpu_memory real,
      gpu_temperature real, gpu_power real, cpu real, memory real, disk real, net_in real, net_out real,
      primary key (subject_kind, subject_id, taken_at)
    )
  `.execute(database.kysely);
  const subjects = machines * (instances + 1);
  const { used } = await measure(async () => {
    for (let at = 0; at < SAMPLES; at += 1) {
      await withTransaction(database, clock, async (tx) => {
        await sql`
          insert into measurement_control
          select (id > ${machines}::integer)::integer::smallint, id, to_timestamp(${at * 10}::float8),
            id, id, id, id, id, id, id, id, id
          from generate_series(1, ${subjects}::integer) as id
        `.execute(tx.db);
      });
    }
  });
  return { used };
}

type Figures = {
  readonly stored: Spent;
  readonly rolled: Spent & { readonly result: number };
  readonly control: Spent;
  readonly sampleBytes: number;
  readonly controlBytes: number;
  readonly tiers: readonly TierBytes[];
  /** A day of quarter hours of an instance in one row. */
  readonly dayBytes: number;
};

function report({ machines, instances }: Options, figures: Figures): MeasurementCost {
  const { stored, rolled, control, sampleBytes, controlBytes, tiers, dayBytes } = figures;
  if (rolled.result !== machines) throw new Error(`${rolled.result} machines were rolled up`);
  const both = ({ used }: Spent) => used.serverMs + used.postgresMs;
  const rowBytes = (stepS: number) => tiers.find((tier) => tier.stepS === stepS)?.rowBytes ?? 0;
  const bytesPerInstanceDay = tiers.reduce((sum, tier) => sum + tier.rowBytes, 0) * QUARTERS_PER_DAY;
  const heldBytes = QUARTERS_PER_DAY * (rowBytes(10) / 4 + rowBytes(60) * 3) + dayBytes * 184;
  const controlBytesPerInstanceDay = (controlBytes / (machines * (instances + 1))) * QUARTERS_PER_DAY;
  const [storeMs, rollUpMs, controlMs] = [both(stored) / SAMPLES, both(rolled), both(control) / SAMPLES];
  const shareOfCore = (ms: number, everyMs: number) => `${rounded((ms / everyMs) * 100, 2)} %`;
  console.log(`${machines} machines of ${instances} instances, every 10 s for a quarter of an hour`);
  console.log(
    table([
      ["", "ms", "share of a core"],
      ["take and store 10 s", rounded(storeMs, 1), shareOfCore(storeMs, SAMPLE_MS)],
      ["  of it PostgreSQL", rounded(stored.used.postgresMs / SAMPLES, 1), ""],
      ["roll up 15 min", rounded(rollUpMs), shareOfCore(rollUpMs, SAMPLES * SAMPLE_MS)],
      ["control: rows of 10 s, PostgreSQL", rounded(controlMs, 1), shareOfCore(controlMs, SAMPLE_MS)],
    ]),
  );
  console.log(
    table([
      ["bytes", "an instance and 15 min", "an instance and day"],
      ...tiers.map(({ stepS, rowBytes: bytes }) => [`${stepS} s`, rounded(bytes), rounded(bytes * QUARTERS_PER_DAY)]),
      ["900 s, joined to a day", "", rounded(dayBytes)],
      ["all", rounded(bytesPerInstanceDay / QUARTERS_PER_DAY), rounded(bytesPerInstanceDay)],
      ["held of one that always runs", "", rounded(heldBytes)],
      ["control", rounded(controlBytesPerInstanceDay / QUARTERS_PER_DAY), rounded(controlBytesPerInstanceDay)],
    ]),
  );
  console.log(`samples of ${machines} machines and 15 min before they are rolled up: ${rounded(sampleBytes)} bytes`);
  return { storeMs, rollUpMs, controlMs, bytesPerInstanceDay, heldBytes, controlBytesPerInstanceDay };
}
