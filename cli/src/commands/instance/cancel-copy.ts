import { copyCancel } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function cancelCopy(
  destination: string,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await copyCancel(connect(options), { body: { dst_id: destination } });
  printAnswer(answer, options, ({ msg }) => msg ?? `The copy to ${destination} is cancelled.`);
}
