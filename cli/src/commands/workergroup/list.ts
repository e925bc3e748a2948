import { workergroupList } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable } from "../../output.ts";
import { WORKER_GROUP_COLUMNS } from "./columns.ts";

export async function listWorkerGroups(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await workergroupList(connect(options));
  printAnswer(answer, options, ({ results }) =>
    renderTable(
      results,
      WORKER_GROUP_COLUMNS,
      "You have no worker groups. Make one: berth workergroup create --endpoint ID",
    ),
  );
}
