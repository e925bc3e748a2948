import { secretDelete } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function deleteEnvVar(
  name: string,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await secretDelete(connect(options), { body: { key: name } });
  printAnswer(answer, options, ({ msg }) => msg);
}
