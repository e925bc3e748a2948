import type { ServerResponse } from "node:http";

export function answer(response: ServerResponse, status: number, body: object): undefined {
  if (response.headersSent || response.destroyed) return undefined;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  return undefined;
}
