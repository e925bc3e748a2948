import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import type { TransferSide } from "../../../protocol/index.ts";
import { transferSocket, type TransferSocket } from "../../../tunnel/transfer-socket.ts";
import { readTransferMessage, writeTransferMessage, type TransferMessage } from "../wire/messages.ts";

export type TransferDial = {
  /** The control plane's address, as for the session: `wss://…/agent`. */
  readonly serverUrl: string;
  readonly token: string;
  readonly transferId: string;
  readonly side: TransferSide;
};

/** A connection through the control plane to the other host of a copy. */
export type TransferConnection = TransferSocket<TransferMessage>;

/** `isFinal`: the server knows of no such transfer any more. Otherwise it is worth trying again. */
export type Dialled =
  | { readonly ok: true; readonly connection: TransferConnection }
  | { readonly ok: false; readonly isFinal: boolean };

const HANDSHAKE_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const FINAL: ReadonlySet<number> = new Set([401, 403, 404]);

export function dialTransfer({ serverUrl, token, transferId, side }: TransferDial): Promise<Dialled> {
  const url = new URL(serverUrl);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/transfer/${encodeURIComponent(transferId)}/${side}`;
  const socket = new WebSocket(url, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  });
  socket.once("upgrade", (response) => {
    response.socket.setNoDelay(true);
    response.socket.setKeepAlive(true, KEEP_ALIVE_MS);
  });
  // Made before it is open: what the server says at once is not to be missed.
  const connection = transferSocket(socket, { read: readTransferMessage, write: writeTransferMessage });
  return new Promise((resolve) => {
    socket.once("open", () => resolve({ ok: true, connection }));
    socket.once("unexpected-response", (_request, response: IncomingMessage) => {
      response.destroy();
      resolve({ ok: false, isFinal: FINAL.has(response.statusCode ?? 0) });
    });
    socket.once("close", () => resolve({ ok: false, isFinal: false }));
  });
}
