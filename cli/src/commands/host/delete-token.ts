import { hostTokenDelete } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function deleteToken(id: number, options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await hostTokenDelete(connect(options), { id: String(id) });
  printAnswer(answer, options, ({ msg }) => msg);
}
