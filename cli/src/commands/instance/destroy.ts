import { instanceDestroy } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

/** Destroys an instance with its disk. */
export async function destroyInstance(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await instanceDestroy(connect(options), { id });
  printAnswer(answer, options, ({ msg }) => msg ?? `Instance ${id} is being destroyed.`);
}
