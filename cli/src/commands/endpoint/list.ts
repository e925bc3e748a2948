import { endpointList, type EndpointListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";

const COLUMNS: readonly Column<EndpointListAnswer["results"][number]>[] = [
  { title: "ID", cell: (endpoint) => endpoint.id },
  { title: "NAME", cell: (endpoint) => endpoint.endpoint_name },
  { title: "STATE", cell: (endpoint) => endpoint.endpoint_state },
  { title: "MIN LOAD", cell: (endpoint) => endpoint.min_load },
  { title: "TARGET UTIL", cell: (endpoint) => endpoint.target_util },
  { title: "COLD MULT", cell: (endpoint) => endpoint.cold_mult },
  { title: "KEPT WORKERS", cell: (endpoint) => endpoint.cold_workers },
  { title: "MAX WORKERS", cell: (endpoint) => endpoint.max_workers },
];

export async function listEndpoints(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await endpointList(connect(options));
  printAnswer(answer, options, ({ results }) =>
    renderTable(results, COLUMNS, "You have no endpoint groups. Make one: berth endpoint create --name NAME"),
  );
}
