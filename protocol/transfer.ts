import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";

/**
 * A copy between two hosts goes through the control plane: each of the two agents opens a WebSocket to
 * `/agent/transfer/<transfer_id>/<send or receive>` with its own credential, and the server passes on what one says to the
 * other. Texts are these messages. The files travel as a tar archive, compressed by gzip if both tasks say so, in binary
 * messages from the sender; an empty one is its end. A connection that closes before the copy has ended is no verdict: both
 * sides come again and begin again. The control plane itself is the receiver of a backup, and the sender when one is
 * restored.
 */
export const TransferMessage = Type.Union([
  /** Sent by the server to both hosts: the other one is there. */
  Type.Object({ kind: Type.Literal("transfer_joined") }),
  /** Sent by the sender before the first byte: the shape of the archive, and the name in it. */
  Type.Object({
    kind: Type.Literal("transfer_start"),
    shape: Type.Union([Type.Literal("file"), Type.Literal("folder"), Type.Literal("contents")]),
    name: Type.String({ maxLength: 255 }),
  }),
  /** The end of both tasks: from the receiver that all is written, from either of them why it cannot be. */
  Type.Object({
    kind: Type.Literal("transfer_end"),
    is_success: Type.Boolean(),
    text: Type.String({ maxLength: 4096 }),
  }),
]);
export type TransferMessage = Static<typeof TransferMessage>;

/** Which half of a copy a host does. */
export type TransferSide = "send" | "receive";

const transferMessage = Compile(TransferMessage);

/** Reads one message; undefined for any other text. */
export function decodeTransferMessage(text: string): TransferMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return transferMessage.Check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
