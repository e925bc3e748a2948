// Reads of the ledger as it grows: the same market after a month and after more than a year.
import { systemClock } from "../server/src/base/clock.ts";
import { asId, type UserId } from "../server/src/base/ids.ts";
import type { Database } from "../server/src/db/connect.ts";
import { inSnapshot, withTransaction, type Reader } from "../server/src/db/transaction.ts";
import { planCharges } from "../server/src/domains/money/invoices/charges/rules/charge-plan.ts";
import { readCharges } from "../server/src/domains/money/invoices/charges/charge-service.ts";
import { planReport } from "../server/src/domains/money/invoices/rules/report.ts";
import { readReport } from "../server/src/domains/money/invoices/service.ts";
import { addUpEarnings, sumEarningsOf } from "../server/src/domains/money/ledger/earnings/earnings-store.ts";
import { addUpCharges } from "../server/src/domains/money/charging/days/charge-day-store.ts";
import { readBalance } from "../server/src/domains/money/charging/index.ts";
import { audit, auditAndCheckpoint } from "../server/src/domains/money/audit/audit-service.ts";
import { ManualClock } from "../test/support/manual-clock.ts";
import { readNumbers } from "./support/arguments.ts";
import { startBenchDatabase, type BenchDatabase } from "./support/bench-database.ts";
import { describeEnvironment } from "./support/environment.ts";
import { median, quantile, rounded, table } from "./support/figures.ts";
import { checkpointUnread, seedLedger } from "./support/seed-ledger.ts";

const DEFAULTS = {
  small: 1_000_000,
  large: 10_000_000,
  machines: 50,
  "gpus-per-machine": 10,
  renters: 50,
  reads: 25,
  "full-max": 10_000_000,
};
type Options = typeof DEFAULTS;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONTH_DAYS = 30;
const LINES_PER_INSTANCE_HOUR = 2;
/** The number of charge lines to which the last column extrapolates. */
const HUGE = 100_000_000;

/** Durations in milliseconds, by name: of reads the median and the worst. */
type Measured = ReadonlyMap<string, { readonly middleMs: number; readonly worstMs: number }>;
type Outcome = { readonly measured: Measured; readonly problems: readonly string[]; readonly bytes: number };

export async function run(args: readonly string[]): Promise<void> {
  const problems = await measureLedger(readNumbers(args, DEFAULTS));
  if (problems.length > 0) process.exitCode = 1;
}

/** Runs the benchmark and returns what its audits found; `interfere` lets a test plant a mistake before them. */
export async function measureLedger(
  options: Options,
  interfere: (bench: BenchDatabase) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  const outcomes: Outcome[] = [];
  for (const size of [options.small, options.large]) outcomes.push(await measureSize(size, options, interfere));
  const [small, large] = outcomes;
  if (small === undefined || large === undefined) throw new Error("two sizes were measured");
  report(small, large, options);
  const problems = outcomes.flatMap((outcome) => outcome.problems);
  if (problems.length === 0) console.log("\nAudit passed: everything again from the facts, nothing differs.");
  else console.log(`\nAudit FAILED, the figures above are void:\n  ${problems.join("\n  ")}`);
  return problems;
}

async function measureSize(
  size: number,
  options: Options,
  interfere: (bench: BenchDatabase) => Promise<void>,
): Promise<Outcome> {
  const bench = await startBenchDatabase();
  try {
    if (size === options.small) console.log(describeEnvironment(bench.dataDir));
    const { database } = bench;
    const hours = Math.ceil(size / (options.machines * options["gpus-per-machine"] * LINES_PER_INSTANCE_HOUR));
    const endAt = new Date(Math.floor(systemClock.now().getTime() / HOUR_MS) * HOUR_MS);
    const clock = new ManualClock(endAt.getTime() + HOUR_MS / 12);
    const { machines, "gpus-per-machine": gpusPerMachine, renters } = options;
    const { renterIds, hostIds } = await seedLedger(database, { machines, gpusPerMachine, renters, hours, endAt });
    const measured = new Map<string, { readonly middleMs: number; readonly worstMs: number }>();
    const note = (name: string, times: readonly number[]) =>
      measured.set(name, { middleMs: median(times), worstMs: Math.max(...times) });
    note("add up 6 h of charges", await timeUntilDone(() => withTransaction(database, clock, addUpCharges)));
    note("add up 6 h of earnings", await timeUntilDone(() => withTransaction(database, clock, addUpEarnings)));
    await database.pool.query("analyze");
    for (const [name, read] of readsOf(clock.now(), renterIds, hostIds)) {
      note(name, await timeReads(database, read, options.reads));
    }
    await interfere(bench);
    const problems = await measureAudits(bench, clock, { note, isFullRead: size <= options["full-max"] });
    const { rows } = await database.pool.query<{ bytes: string }>(
      "select pg_database_size(current_database()) as bytes",
    );
    console.log(
      `\n${rounded(size)} lines:`,
      Object.fromEntries([...measured].map(([name, { middleMs }]) => [name, Math.round(middleMs * 10) / 10])),
    );
    return { measured, problems, bytes: Number(rows[0]?.bytes ?? 0) };
  } finally {
    await bench.stop();
  }
}

/** How long each step takes until there is nothing left to do. */
async function timeUntilDone(step: () => Promise<number | undefined>): Promise<readonly number[]> {
  const times: number[] = [];
  for (;;) {
    const startMs = performance.now();
    if (((await step()) ?? 0) === 0) return times.length === 0 ? [0] : times;
    times.push(performance.now() - startMs);
  }
}

type Read = (db: Reader, index: number) => Promise<unknown>;

function readsOf(now: Date, renterIds: readonly number[], hostIds: readonly number[]) {
  const of = (ids: readonly number[], index: number) => asId<UserId>(ids[index % ids.length] ?? 0);
  const [from, to] = [new Date(now.getTime() - MONTH_DAYS * DAY_MS).toISOString(), now.toISOString()];
  const plan = planReport({ inc_charges: "true", sdate: from, edate: to });
  const filters = JSON.stringify({ day: { gte: from, lte: to } });
  const [tablePlan, linesPlan] = [
    planCharges({ select_filters: filters }),
    planCharges({ select_filters: filters, format: "lines" }),
  ];
  const last = Math.floor(now.getTime() / DAY_MS);
  const days = { first: last - MONTH_DAYS, last };
  return new Map<string, Read>([
    ["balance of a user", (db, index) => readBalance(db, now, of(renterIds, index))],
    ["invoice report of a month", (db, index) => readReport(db, now, { userId: of(renterIds, index), plan })],
    ["charges of a month, by day", (db, index) => readCharges(db, of(renterIds, index), tablePlan)],
    ["charges of a month, lines", (db, index) => readCharges(db, of(renterIds, index), linesPlan)],
    ["earnings of a host in a month", (db, index) => sumEarningsOf(db, of(hostIds, index), days)],
  ]);
}

async function timeReads(database: Database, read: Read, count: number): Promise<readonly number[]> {
  const times: number[] = [];
  // The first one prepares its statements.
  for (let index = -1; index < count; index += 1) {
    const startMs = performance.now();
    await inSnapshot(database, (db) => read(db, Math.max(0, index)));
    if (index >= 0) times.push(performance.now() - startMs);
  }
  return times;
}

async function measureAudits(
  { database }: BenchDatabase,
  clock: ManualClock,
  {
    note,
    isFullRead,
  }: { readonly note: (name: string, times: readonly number[]) => void; readonly isFullRead: boolean },
): Promise<readonly string[]> {
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const startMs = performance.now();
    const result = await work();
    note(name, [performance.now() - startMs]);
    return result;
  };
  const checkpoint = isFullRead
    ? await timed("audit all of it and store a checkpoint", async () => {
        const done = await auditAndCheckpoint({ database, clock });
        return { isStored: done?.isStored === true, checks: done?.report.checks ?? [] };
      })
    : await checkpointUnread(database, clock.now());
  await database.pool.query("analyze audit_marks, audit_sums");
  const ordinary = await timed("ordinary audit, after a checkpoint", () =>
    audit({ database, clock }, { isFull: false }),
  );
  // The full audit reads what the first one read, and the checkpoints.
  const full = isFullRead ? await timed("full audit", () => audit({ database, clock }, { isFull: true })) : undefined;
  const checks = [...checkpoint.checks, ...ordinary.checks, ...(full?.checks ?? [])];
  const problems = checks.flatMap(({ name, differenceCount, differences }) =>
    differenceCount === 0 ? [] : [`${name}: ${differenceCount} differ, such as ${JSON.stringify(differences[0])}`],
  );
  return checkpoint.isStored ? problems : [...problems, "no checkpoint was stored"];
}

function report(small: Outcome, large: Outcome, { small: few, large: many, reads }: Options): void {
  console.log(
    `\nThe same market, ${rounded(few)} and ${rounded(many)} lines with as many transfers, ` +
      `${rounded(small.bytes / 2 ** 20)} and ${rounded(large.bytes / 2 ** 20)} MiB; milliseconds, of ${reads} reads the median ` +
      `(the worst).\n`,
  );
  const grows = new Set(["audit all of it and store a checkpoint", "full audit"]);
  const rows = [...large.measured].map(([name, { middleMs, worstMs }]) => {
    const before = small.measured.get(name) ?? { middleMs: 0, worstMs: 0 };
    const shown = (one: { readonly middleMs: number; readonly worstMs: number }) =>
      grows.has(name) ? rounded(one.middleMs) : `${rounded(one.middleMs, 1)} (${rounded(one.worstMs, 1)})`;
    const perLine = (middleMs - before.middleMs) / (many - few);
    const huge = grows.has(name) ? `${rounded((middleMs + perLine * (HUGE - many)) / 60_000, 1)} min` : "";
    return [name, shown(before), shown({ middleMs, worstMs }), rounded(middleMs / before.middleMs, 2), huge];
  });
  console.log(table([["", rounded(few), rounded(many), "ratio", `${rounded(HUGE)}, extrapolated`], ...rows]));
  const ratios = rows.filter(([name = ""]) => !grows.has(name)).map(([, , , ratio]) => Number(ratio));
  console.log(`\nOf what must not grow, the median ratio is ${rounded(quantile(ratios, 0.5), 2)}.`);
}
