import { machineForceDelete } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

/** Removes a machine; the server refuses while others rent there. */
export async function deleteMachine(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await machineForceDelete(connect(options), { id });
  printAnswer(answer, options, ({ msg }) => msg);
}
