import { instanceAttachSshKey } from "../../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../../connect.ts";
import { printAnswer } from "../../../output.ts";
import { readPublicKey } from "../../ssh-key/public-key.ts";

/** Lets an SSH key into an instance: `key` is the number of one of the account's keys, a file, or the text of a key. */
export async function attachSshKey(
  id: number,
  key: string,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const sshKey = /^\d+$/.test(key) ? key : readPublicKey(key);
  const answer = await instanceAttachSshKey(connect(options), { id, body: { ssh_key: sshKey } });
  printAnswer(answer, options, ({ msg }) => msg);
}
