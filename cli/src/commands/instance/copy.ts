import { copyStart } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import type { Place } from "../../parse.ts";

export async function startCopy(
  source: Place,
  destination: Place,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const body = { src_id: source.id, src_path: source.path, dst_id: destination.id, dst_path: destination.path };
  const answer = await copyStart(connect(options), { body });
  printAnswer(answer, options, ({ msg }) => msg ?? `Copying from ${source.id} to ${destination.id}.`);
}
