import { workergroupUpdateWorkers } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & { readonly cancel?: boolean; readonly json?: boolean };

export async function rollWorkerGroup(id: number, options: Options): Promise<void> {
  const body = { workergroup_id: id, ...given({ cancel_update: options.cancel }) };
  const answer = await workergroupUpdateWorkers(connect(options), { body });
  printAnswer(answer, options, ({ cancelled, workers_to_update: count }) => {
    const workers = `${count} worker${count === 1 ? "" : "s"} of an earlier recipe`;
    return cancelled
      ? `The update is cancelled; ${workers} stay${count === 1 ? "s" : ""}.`
      : `${workers} to update, one after the other.`;
  });
}
