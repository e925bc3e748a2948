import { instanceDetachSshKey } from "../../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../../connect.ts";
import { printAnswer } from "../../../output.ts";

export async function detachSshKey(
  id: number,
  keyId: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await instanceDetachSshKey(connect(options), { id, key_id: keyId });
  printAnswer(answer, options, () => `SSH key ${keyId} does not open instance ${id} any more.`);
}
