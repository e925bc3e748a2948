import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** A request as a worker received it. */
export type Recorded = {
  readonly path: string;
  readonly authData: Readonly<Record<string, unknown>>;
  readonly sessionId: unknown;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Resolves when the client closed the connection before it was answered. */
  readonly hungUp: Promise<void>;
};

export type Behaviour = (recorded: Recorded, response: ServerResponse) => void | Promise<void>;

/** A real HTTP server in the place of a worker process: it keeps what it was sent, and answers as it is told to. */
export async function recordingWorker(t: Pick<TestContext, "after">, behave: Behaviour) {
  const received: Recorded[] = [];
  const server = createServer((request, response) => void record(request, response));
  const record = async (request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { auth_data: authData, session_id: sessionId, payload } = JSON.parse(text);
    const hungUp = new Promise<void>((resolve) => {
      response.on("close", () => {
        if (!response.writableFinished) resolve();
      });
    });
    const recorded = { path: request.url ?? "", authData, sessionId, payload, hungUp };
    received.push(recorded);
    await behave(recorded, response);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  const close = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  t.after(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, close };
}

export function sayJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
