import type { Duplex } from "node:stream";

const HANDSHAKE_TIMEOUT_MS = 10_000;
const MAX_PAYLOAD_BYTES = 1024 * 1024;

/**
 * A byte stream to a client of the control plane, over a WebSocket that this side opens. Rejects when that cannot be
 * had.
 */
export async function openTunnel(url: string, token: string): Promise<Duplex> {
  // Most hosts are reached directly, so the library is loaded for the first tunnel.
  const { WebSocket, createWebSocketStream } = await import("ws");
  const socket = new WebSocket(url, {
    headers: { Authorization: `Bearer ${token}` },
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_PAYLOAD_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
  });
  // The stream is taken before the connection stands, so that no first bytes are lost.
  const stream = createWebSocketStream(socket);
  // An empty message is the end of the client's direction: WebSockets cannot be half closed.
  socket.on("message", (data: Buffer) => {
    if (data.length === 0) stream.push(null);
  });
  return new Promise((resolve, reject) => {
    socket.once("open", () => {
      stream.removeListener("error", reject);
      resolve(stream);
    });
    stream.once("error", reject);
  });
}
