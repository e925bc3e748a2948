import { instanceRecycle } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function recycleInstance(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await instanceRecycle(connect(options), { id });
  printAnswer(answer, options, ({ msg }) => msg ?? `Instance ${id} is being recycled.`);
}
