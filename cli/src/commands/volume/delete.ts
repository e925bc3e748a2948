import { volumeDelete } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

/** Deletes a volume with its data; refused while an instance lists it. */
export async function deleteVolume(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await volumeDelete(connect(options), { body: { id } });
  printAnswer(answer, options, ({ msg }) => msg);
}
