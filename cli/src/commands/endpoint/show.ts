import { endpointShow, workergroupList } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJson, printLine, renderFields, renderTable } from "../../output.ts";
import { dateText } from "../../time-text.ts";
import { WORKER_GROUP_COLUMNS } from "../workergroup/columns.ts";

export async function showEndpoint(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const client = connect(options);
  const { result } = await endpointShow(client, { id });
  const groups = (await workergroupList(client)).results.filter((group) => group.endpoint_id === id);
  if (options.json === true) {
    printJson({ ...result, workergroups: groups });
    return;
  }
  const fields = renderFields({
    id: result.id,
    name: result.endpoint_name,
    state: result.endpoint_state,
    key: result.api_key,
    created: dateText(result.created_at),
    "min load": result.min_load,
    "min cold load": result.min_cold_load,
    "target util": result.target_util,
    "cold mult": result.cold_mult,
    "kept workers": result.cold_workers,
    "max workers": result.max_workers,
    "max queue time": secondsText(result.max_queue_time),
    "target queue time": secondsText(result.target_queue_time),
    "inactivity timeout": secondsText(result.inactivity_timeout),
  });
  const empty = `It has no worker groups: berth workergroup create --endpoint ${id} --template HASH`;
  printLine(`${fields}\n\n${renderTable(groups, WORKER_GROUP_COLUMNS, empty)}`);
}

function secondsText(seconds: number | null): string | undefined {
  return seconds === null ? undefined : `${seconds} s`;
}
