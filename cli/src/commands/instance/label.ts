import { instanceUpdate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function labelInstance(
  id: number,
  label: string,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await instanceUpdate(connect(options), { id, body: { label } });
  printAnswer(answer, options, () => `Instance ${id} is labelled "${label}".`);
}
