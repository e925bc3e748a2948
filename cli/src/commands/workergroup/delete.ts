import { workergroupDelete } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function deleteWorkerGroup(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await workergroupDelete(connect(options), { id });
  printAnswer(answer, options, ({ msg }) => msg);
}
