import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Lets a server close although connections are open that have sent no request, or not the whole of its headers: browsers
 * open such connections beforehand. Node closes a connection only once it has carried a request, and stops its own clock
 * for slow headers with the server, so that one of them would hold up the end of the process for ever. Returns the
 * function that closes them, and from then on each new one; a connection with a request under way is left alone.
 */
export function watchSilentConnections(server: Server): () => void {
  /** Open connections, each with the number of its requests under way: a client may send several at once. */
  const open = new Map<Socket, number>();
  let isClosing = false;
  server.on("connection", (socket: Socket) => {
    if (isClosing) return void socket.destroy();
    open.set(socket, 0);
    socket.once("close", () => open.delete(socket));
  });
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    const add = (change: number) => {
      const count = open.get(socket);
      if (count !== undefined) open.set(socket, count + change);
    };
    add(1);
    response.once("close", () => add(-1));
  });
  // A WebSocket is the concern of the part that took it.
  server.on("upgrade", ({ socket }: IncomingMessage) => void open.delete(socket));
  return () => {
    isClosing = true;
    for (const [socket, requestCount] of open) if (requestCount === 0) socket.destroy();
  };
}
