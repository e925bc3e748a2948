import { scheduleRuns, type ScheduledRun } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

const COLUMNS: readonly Column<ScheduledRun>[] = [
  { title: "DUE (UTC)", cell: (run) => dateText(run.due_time) },
  { title: "OUTCOME", cell: (run) => (run.occurrences > 1 ? `${run.outcome} ${run.occurrences} times` : run.outcome) },
  { title: "STATUS", cell: (run) => run.http_status },
  { title: "ERROR", cell: (run) => run.error },
  { title: "KEY", cell: (run) => run.api_key_id },
  { title: "NOTE", cell: (run) => run.msg },
];

type Options = ConnectionOptions & { readonly limit: number; readonly json?: boolean };

export async function listRuns(id: number, options: Options): Promise<void> {
  const answer = await scheduleRuns(connect(options), { id, query: { limit: options.limit } });
  printAnswer(answer, options, (runs) => renderTable(runs, COLUMNS, `Job ${id} has not run yet.`));
}
