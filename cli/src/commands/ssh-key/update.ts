import { sshKeyUpdate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import { readPublicKey } from "./public-key.ts";

export async function updateSshKey(
  id: number,
  given: string,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await sshKeyUpdate(connect(options), { id: String(id), body: { ssh_key: readPublicKey(given) } });
  printAnswer(answer, options, () => `SSH key ${id} is replaced; instances keep what they were made with.`);
}
