// The control of the memory benchmark: a server that holds WebSocket connections and nothing else, or their other ends.
// `server` prints its port; `clients PORT COUNT` prints a line when all are open.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";

const OPENING_AT_ONCE = 100;

function serve(): void {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  // The least that any server does with a connection: it listens for messages, errors and the end.
  sockets.on("connection", (socket) => {
    socket.on("message", () => {});
    socket.on("error", () => {});
    socket.on("close", () => {});
  });
  http.listen(0, "127.0.0.1", () => console.log((http.address() as AddressInfo).port));
}

async function connect(port: number, count: number): Promise<void> {
  let opened = 0;
  const openSome = async () => {
    while (opened < count) {
      opened += 1;
      const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { perMessageDeflate: false });
      await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    }
  };
  await Promise.all(Array.from({ length: OPENING_AT_ONCE }, openSome));
  console.log("open");
}

const [role, port, count] = process.argv.slice(2);
if (role === "server") serve();
else await connect(Number(port), Number(count));
