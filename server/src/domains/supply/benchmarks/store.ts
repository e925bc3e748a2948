import { sql, type RawBuilder } from "kysely";
import type { Filter, FilterScalar, SortKey } from "../../../base/filters/filter.ts";
import type { BenchmarkId, InstanceId, MachineId, TemplateId, UserId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import type { Nanos } from "../../../base/money.ts";
import { afterSql, conditionSql, sortSql, type SqlColumn } from "../../../db/filter-sql.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { BENCHMARK_COLUMNS, isBenchmarkColumn, type BenchmarkColumn } from "./columns.ts";

/** A measurement of a machine by a server, or a figure that the machine's agent declares. */
export type MachineBenchmark = {
  readonly machineId: MachineId;
  readonly gpuName: string | undefined;
  readonly gpuCount: number;
  readonly type: "upload" | "download" | "cpu" | "disk";
  readonly measuredBy: "server" | "agent";
  readonly value: number;
};

/** The performance of a worker by its own benchmark, or as it was seen to serve. */
export type WorkerBenchmark = {
  readonly instanceId: InstanceId;
  readonly machineId: MachineId;
  readonly gpuName: string | undefined;
  readonly gpuCount: number;
  readonly userId: UserId;
  readonly image: string;
  readonly templateId: TemplateId | undefined;
  readonly templateHash: string | undefined;
  /** True when everybody can see the template as it was rented. */
  readonly isTemplatePublic: boolean;
  readonly priceNanosPerHour: Nanos;
  /** Units a second, above 0. */
  readonly value: number;
};

/** Stores measurements in place of the earlier ones of the same machine, kind and measurer. */
export async function putMachineBenchmarks(tx: Tx, benchmarks: readonly MachineBenchmark[]): Promise<void> {
  if (benchmarks.length === 0) return;
  await tx.db
    .insertInto("benchmarks")
    .values(
      benchmarks.map((one) => ({
        machine_id: one.machineId,
        type: one.type,
        measured_by: one.measuredBy,
        value: one.value,
        measured_at: tx.now,
        gpu_name: one.gpuName ?? null,
        num_gpus: one.gpuCount,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(["machine_id", "type", "measured_by"])
        .where("instance_id", "is", null)
        .doUpdateSet((row) => ({
          value: row.ref("excluded.value"),
          measured_at: row.ref("excluded.measured_at"),
          gpu_name: row.ref("excluded.gpu_name"),
          num_gpus: row.ref("excluded.num_gpus"),
        })),
    )
    .execute();
}

/** Stores the performance of workers, one of each instance, in place of what was stored before. */
export async function putWorkerBenchmarks(tx: Tx, benchmarks: readonly WorkerBenchmark[]): Promise<void> {
  if (benchmarks.length === 0) return;
  await tx.db
    .insertInto("benchmarks")
    .values(
      benchmarks.map((one) => ({
        machine_id: one.machineId,
        instance_id: one.instanceId,
        type: "perf" as const,
        measured_by: "worker" as const,
        value: one.value,
        measured_at: tx.now,
        gpu_name: one.gpuName ?? null,
        num_gpus: one.gpuCount,
        user_id: one.userId,
        image: one.image,
        template_id: one.templateId ?? null,
        template_hash: one.templateHash ?? null,
        is_template_public: one.isTemplatePublic,
        price_nanos_per_hour: one.priceNanosPerHour,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(["instance_id", "type"])
        .where("instance_id", "is not", null)
        .doUpdateSet((row) => ({
          value: row.ref("excluded.value"),
          measured_at: row.ref("excluded.measured_at"),
          gpu_name: row.ref("excluded.gpu_name"),
          num_gpus: row.ref("excluded.num_gpus"),
          image: row.ref("excluded.image"),
          template_id: row.ref("excluded.template_id"),
          template_hash: row.ref("excluded.template_hash"),
          is_template_public: row.ref("excluded.is_template_public"),
          price_nanos_per_hour: row.ref("excluded.price_nanos_per_hour"),
        })),
    )
    .execute();
}

/** A benchmark as one viewer sees it: image and private template are null unless the worker is the viewer's own. */
export type ShownBenchmark = {
  readonly id: BenchmarkId;
  readonly contract_id: InstanceId | null;
  readonly machine_id: MachineId;
  readonly gpu_name: string | null;
  readonly num_gpus: number;
  readonly image: string | null;
  readonly launch_args: null;
  readonly template_id: TemplateId | null;
  readonly template_hash: string | null;
  readonly type: "perf" | MachineBenchmark["type"];
  readonly value: number;
  readonly measured_by: "worker" | MachineBenchmark["measuredBy"];
  readonly dph_base: number | null;
  /** Seconds since the epoch. */
  readonly last_update: number;
};

export type BenchmarkSearch = {
  readonly viewerId: UserId;
  readonly filters: readonly Filter[];
  /** The last key is the id, so that no two rows have the same place. */
  readonly order: readonly SortKey[];
  /** The value of each key of the order in the last row of the page before, each of its column's type. */
  readonly after: readonly FilterScalar[] | undefined;
  readonly limit: number;
};

/** Conditions see what the viewer sees, so that nobody can guess a hidden value by searching for it. */
export async function searchStored(
  db: Reader,
  { viewerId, filters, order, after, limit }: BenchmarkSearch,
): Promise<readonly ShownBenchmark[]> {
  const columns = columnsFor(viewerId);
  const columnOf = (name: string): SqlColumn => {
    invariant(isBenchmarkColumn(name), `${name} is not a column of benchmarks`);
    return { type: BENCHMARK_COLUMNS[name].type, expression: columns[name] };
  };
  const conditions = filters.map((filter) => conditionSql(filter, columnOf(filter.column)));
  if (after !== undefined) {
    const place = order.map(({ column, direction }, index) => {
      return { column: columnOf(column), direction, value: after[index] ?? null };
    });
    conditions.push(afterSql(place));
  }
  const named = Object.entries(columns).map(([name, expression]) => sql`${expression} as ${sql.id(name)}`);
  const { rows } = await sql<ShownBenchmark>`
    select ${sql.join(named)} from benchmarks
    where ${conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)}
    order by ${sql.join(order.map(({ column, direction }) => sortSql(columnOf(column), direction)))}
    limit ${limit}::integer
  `.execute(db);
  return rows;
}

function columnsFor(viewerId: UserId): Readonly<Record<BenchmarkColumn, RawBuilder<unknown>>> {
  const isOwn = sql`coalesce(user_id = ${viewerId}::integer, false)`;
  return {
    id: sql`id`,
    contract_id: sql`instance_id`,
    machine_id: sql`machine_id`,
    gpu_name: sql`gpu_name`,
    num_gpus: sql`num_gpus`,
    image: sql`(case when ${isOwn} then image end)`,
    // Arguments may hold secrets, so they are never stored.
    launch_args: sql`null::text`,
    template_id: sql`(case when ${isOwn} or is_template_public then template_id end)`,
    template_hash: sql`(case when ${isOwn} or is_template_public then template_hash end)`,
    type: sql`type`,
    value: sql`value`,
    measured_by: sql`measured_by`,
    dph_base: sql`(price_nanos_per_hour::float8 / 1e9)`,
    last_update: sql`extract(epoch from measured_at)::float8`,
  };
}
