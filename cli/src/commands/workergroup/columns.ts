import type { WorkergroupListAnswer } from "../../../../sdk/src/operations.ts";
import { dollars, type Column } from "../../output.ts";

export const WORKER_GROUP_COLUMNS: readonly Column<WorkergroupListAnswer["results"][number]>[] = [
  { title: "GROUP", cell: (group) => group.id },
  { title: "ENDPOINT", cell: (group) => `${group.endpoint_id} ${group.endpoint_name}` },
  { title: "TEMPLATE", cell: (group) => group.template_hash },
  { title: "SEARCH", cell: (group) => group.search_params },
  { title: "LAUNCH", cell: (group) => group.launch_args },
  { title: "MAX WORKERS", cell: (group) => group.max_workers },
  { title: "MAX $/HOUR", cell: (group) => dollars(group.max_dph) },
  { title: "STATE", cell: stateText },
];

function stateText(group: WorkergroupListAnswer["results"][number]): string {
  if (group.failure_count > 0) return `${group.failure_count} failed in a row`;
  if (group.waits_for_price_since !== undefined) return "waits for a lower price";
  return group.is_updating ? "updating" : "ready";
}
