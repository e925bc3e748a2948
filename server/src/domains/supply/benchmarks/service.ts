import type { Filter, FilterScalar, SortKey } from "../../../base/filters/filter.ts";
import { listInOrder, readPageToken, writePageToken } from "../../../base/filters/page-token.ts";
import { parseFilters, STRICT_FILTERS } from "../../../base/filters/parse-filters.ts";
import { parseOrderBy } from "../../../base/filters/parse-order.ts";
import { parseQueryLanguage } from "../../../base/filters/query-language.ts";
import type { MachineId, UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { describeMachines } from "../hosts/index.ts";
import { BENCHMARK_COLUMNS, isBenchmarkColumn } from "./columns.ts";
import {
  putMachineBenchmarks,
  putWorkerBenchmarks,
  searchStored,
  type MachineBenchmark,
  type ShownBenchmark,
  type WorkerBenchmark,
} from "./store.ts";

const LIMIT_DEFAULT = 200;
/** Larger limits get pages of this size; clients follow `next_token`. */
const LIMIT_MAX = 1000;

/** A server's check of a machine; undefined where the agent did not answer. */
export type CheckedMachine = {
  readonly machineId: MachineId;
  /** Megabits a second between the server and the machine: `up` is away from the machine. */
  readonly speed: { readonly upMbps: number; readonly downMbps: number } | undefined;
  /** Rounds of a puzzle that one core solves in a second. */
  readonly cpuRate: number | undefined;
};

/**
 * Stores what a server measured of a machine, and beside it what the agent says of the disk, which nobody else can
 * measure. An agent that did not answer leaves the earlier measurement in place.
 */
export async function storeCheckedBenchmarks(tx: Tx, { machineId, speed, cpuRate = 0 }: CheckedMachine): Promise<void> {
  const machine = (await describeMachines(tx.db, [machineId])).get(machineId);
  if (speed === undefined || machine === undefined) return;
  const { gpu, presentCount, facts } = machine;
  const about = { machineId, gpuName: gpu?.name, gpuCount: gpu === undefined ? 0 : presentCount };
  const measured: readonly MachineBenchmark[] = [
    { ...about, type: "upload", measuredBy: "server", value: speed.upMbps },
    { ...about, type: "download", measuredBy: "server", value: speed.downMbps },
    { ...about, type: "cpu", measuredBy: "server", value: cpuRate },
    { ...about, type: "disk", measuredBy: "agent", value: facts.disk_mb_per_s },
  ];
  await putMachineBenchmarks(
    tx,
    measured.filter(({ value }) => value > 0),
  );
}

/** A worker's performance, before its machine is looked up. `deviceCount` counts GPUs, or cores of a machine without. */
export type MeasuredWorker = Omit<WorkerBenchmark, "gpuName" | "gpuCount"> & { readonly deviceCount: number };

/**
 * Stores the performance of workers, at most one of each instance. Workers of the machine's own host are left out: a
 * host says nothing about its own machine that others should go by.
 */
export async function storeWorkerBenchmarks(tx: Tx, workers: readonly MeasuredWorker[]): Promise<void> {
  if (workers.length === 0) return;
  const machines = await describeMachines(tx.db, [...new Set(workers.map(({ machineId }) => machineId))]);
  const benchmarks = workers.flatMap(({ deviceCount, ...worker }): readonly WorkerBenchmark[] => {
    const machine = machines.get(worker.machineId);
    if (machine === undefined || machine.hostId === worker.userId) return [];
    const { gpu } = machine;
    return [{ ...worker, gpuName: gpu?.name, gpuCount: gpu === undefined ? 0 : deviceCount }];
  });
  await putWorkerBenchmarks(tx, benchmarks);
}

export type BenchmarkQuery = {
  readonly query?: string;
  readonly select_filters?: string;
  readonly order_by?: string;
  readonly limit?: number;
  readonly after_token?: string;
};

export type BenchmarkPage = { readonly benchmarks: readonly ShownBenchmark[]; readonly nextToken: string | null };

/** One page of the benchmarks that match, by id unless the query orders them. */
export async function searchBenchmarks(db: Reader, viewerId: UserId, query: BenchmarkQuery): Promise<BenchmarkPage> {
  const filters = [...readFilters(query), ...readQuery(query)];
  const asked = parseOrderBy(query.order_by, BENCHMARK_COLUMNS, { source: "order_by" });
  const order: readonly SortKey[] = [...asked, { column: "id", direction: "asc" }];
  const list = listInOrder("benchmarks", order, BENCHMARK_COLUMNS);
  const after = readPageToken(list, query.after_token);
  const limit = Math.min(query.limit ?? LIMIT_DEFAULT, LIMIT_MAX);
  const found = await searchStored(db, { viewerId, filters, order, after, limit: limit + 1 });
  const benchmarks = found.slice(0, limit);
  const last = benchmarks.at(-1);
  const nextToken = found.length > limit && last !== undefined ? writePageToken(list, placeOf(last, order)) : null;
  return { benchmarks, nextToken };
}

function readFilters({ select_filters: asked }: BenchmarkQuery): readonly Filter[] {
  return parseFilters(asked, BENCHMARK_COLUMNS, { ...STRICT_FILTERS, source: "select_filters" });
}

/** The older form of a search: `score>1000`, where `score` is the value. */
function readQuery({ query = "" }: BenchmarkQuery): readonly Filter[] {
  const { filters } = parseQueryLanguage(query, { source: "query", aliases: { score: "value" } });
  return parseFilters(filters, BENCHMARK_COLUMNS, { ...STRICT_FILTERS, source: "query" });
}

function placeOf(benchmark: ShownBenchmark, order: readonly SortKey[]): readonly FilterScalar[] {
  return order.map(({ column }) => (isBenchmarkColumn(column) ? benchmark[column] : null));
}
