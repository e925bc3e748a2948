import {
  metricsGpuCurrent,
  metricsGpuPrices,
  type MetricsGpuCurrentAnswer,
  type MetricsGpuPricesAnswer,
} from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Priced = MetricsGpuPricesAnswer["gpus"][number];
type Supplied = NonNullable<MetricsGpuCurrentAnswer["gpus"]>[number];
type Options = ConnectionOptions & { readonly supply?: boolean; readonly json?: boolean };

const PRICED: readonly Column<Priced>[] = [
  { title: "GPU", cell: (gpu) => gpu.gpu_name },
  { title: "FREE", cell: (gpu) => gpu.now.available },
  { title: "$/GPU HOUR", cell: (gpu) => dollars(gpu.now.median) },
  { title: "CHEAP", cell: (gpu) => dollars(gpu.now.p10) },
  { title: "DEAR", cell: (gpu) => dollars(gpu.now.p90) },
  { title: "A DAY AGO", cell: (gpu) => dollars(gpu.day_ago.median) },
  { title: "FREE THEN", cell: (gpu) => (gpu.day_ago.median === null ? "" : gpu.day_ago.available) },
];

const SUPPLIED: readonly Column<Supplied>[] = [
  { title: "GPU", cell: (gpu) => gpu.gpu_name },
  { title: "ALL", cell: (gpu) => gpu.total },
  { title: "FREE", cell: (gpu) => gpu.available },
  { title: "RENTED", cell: (gpu) => `${Math.round(gpu.usage)} %` },
  { title: "30 DAYS", cell: (gpu) => `${Math.round(gpu.usage_30d)} %` },
  { title: "$/GPU HOUR", cell: (gpu) => dollars(gpu.price_median) },
  { title: "CHEAP", cell: (gpu) => dollars(gpu.price_p10) },
  { title: "DEAR", cell: (gpu) => dollars(gpu.price_p90) },
  { title: "DLPERF", cell: (gpu) => Math.round(gpu.dlperf) },
  { title: "DLPERF/$", cell: (gpu) => rounded(gpu.dlperf_per_dollar) },
];

/** Lists each kind of GPU on the market with its price; for hosts also the number of all, and the part rented. */
export async function listGpus(options: Options): Promise<void> {
  if (options.supply === true) return listSupply(options);
  const answer = await metricsGpuPrices(connect(options));
  printAnswer(answer, options, ({ gpus, sampled_at: at }) => {
    if (at === null) return "There is no census of the market yet: try again in a minute.";
    const seen = `Seen ${dateText(at)} UTC. Find offers with: berth search gpu_name=NAME`;
    return gpus.length === 0 ? "The market has no GPUs." : `${renderTable(gpus, PRICED, "")}\n${seen}`;
  });
}

async function listSupply(options: Options): Promise<void> {
  const answer = await metricsGpuCurrent(connect(options), { query: { verified: "all" } });
  if (answer.needs_machine === true) {
    throw new UserError("Supply is shown to hosts with machines.", "Let one join: berth host token create");
  }
  printAnswer(answer, options, ({ gpus = [] }) => renderTable(gpus, SUPPLIED, "No GPU has been counted yet."));
}

function rounded(value: number | null): number | undefined {
  return value === null ? undefined : Math.round(value * 10) / 10;
}
