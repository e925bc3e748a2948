import { endpointWorkers, type EndpointWorkersAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Worker = EndpointWorkersAnswer[number];

const COLUMNS: readonly Column<Worker>[] = [
  { title: "WORKER", cell: (worker) => worker.id },
  { title: "MACHINE", cell: (worker) => worker.machine_id },
  { title: "GPU", cell: (worker) => worker.gpu_name },
  { title: "STATE", cell: stateText },
  { title: "LOAD", cell: loadText },
  { title: "CLAIMS", cell: (worker) => perfText(worker.measured_perf) },
  { title: "SERVES", cell: (worker) => perfText(worker.cur_perf) },
  { title: "PER HOUR", cell: (worker) => dollars(worker.dph_total) },
  { title: "SINCE", cell: (worker) => dateText(worker.loaded_at ?? worker.started_at ?? worker.created_at) },
  { title: "URL", cell: (worker) => worker.url },
];

/** Shows the workers of an endpoint group: their states, loads, units a second claimed and seen, and prices. */
export async function listEndpointWorkers(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await endpointWorkers(connect(options), { body: { id } });
  printAnswer(answer, options, (workers) =>
    renderTable(workers, COLUMNS, `It has no workers. See why with: berth endpoint explain ${id}`),
  );
}

const STATES: Readonly<Record<string, string>> = {
  creating: "ordered",
  loading: "fetches its image",
  model_loading: "loads its model",
  starting: "starts again",
  idle: "ready",
  update_ready: "finishes, then updates",
  stopping: "stops",
  stopped: "cold",
  unavail: "silent",
  destroying: "is being destroyed",
};

function stateText({ status, error_msg: reason, reqs_working: count = 0 }: Worker): string {
  if (status === "error") return `failed: ${reason ?? "without a reason"}`;
  if (status === "idle" && count > 0) return "busy";
  return STATES[status] ?? status;
}

function loadText({ cur_load: load, reqs_working: count }: Worker): string | undefined {
  if (load === undefined) return undefined;
  return count === undefined || count === 0 ? perfText(load) : `${perfText(load)} in ${count}`;
}

function perfText(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(Number(value.toPrecision(4)));
}
