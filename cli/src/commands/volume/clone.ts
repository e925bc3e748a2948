import { volumeCopy } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";

/** Copies a volume with its data into a new one, at a volume offer. */
export async function cloneVolume(
  { id, offer }: { readonly id: number; readonly offer: number },
  options: ConnectionOptions & { readonly size?: number; readonly json?: boolean },
): Promise<void> {
  const body = { src_id: id, dst_id: offer, ...given({ size: options.size }) };
  const answer = await volumeCopy(connect(options), { body });
  printAnswer(
    answer,
    options,
    ({ id: made }) => `Volume ${id} is copied into the new volume ${made}. See: berth volume list`,
  );
}
