import { scheduleDelete } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function deleteJob(id: number, options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await scheduleDelete(connect(options), { id });
  printAnswer(answer, options, ({ msg }) => msg ?? `Scheduled job ${id} is deleted.`);
}
