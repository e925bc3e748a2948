import { sshKeyDelete } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function deleteSshKey(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await sshKeyDelete(connect(options), { id: String(id) });
  printAnswer(answer, options, () => `SSH key ${id} is deleted; instances keep what they were made with.`);
}
