import { copyStart } from "../../../../sdk/src/operations.ts";
import { connect } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { printAnswer } from "../../output.ts";
import type { Place } from "../../parse.ts";
import { copyLocally, type LocalCopyOptions } from "./copy-local.ts";

/** Copies between two places; one that is `local` is on this computer, and the command then lasts as long as the copy. */
export async function startCopy(source: Place, destination: Place, options: LocalCopyOptions): Promise<void> {
  const isLocal = [source, destination].map(({ id }) => id === "local");
  if (isLocal.every(Boolean)) {
    throw new UserError("Both places are on this computer.", "Write one of them as ID:PATH, such as 12:/data.", 2);
  }
  if (isLocal.some(Boolean)) return copyLocally(source, destination, options);
  const body = { src_id: source.id, src_path: source.path, dst_id: destination.id, dst_path: destination.path };
  const answer = await copyStart(connect(options), { body });
  printAnswer(answer, options, ({ msg }) => msg ?? `Copying from ${source.id} to ${destination.id}.`);
}
