import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { until } from "./until.ts";

/** Does some work while no other process of this machine does work of that name. */
export async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
  const turn = await until(`our turn: ${name}`, () => takeTurn(`\0berth-test-${name}`));
  try {
    return await work();
  } finally {
    turn.close();
  }
}

/** A socket in the kernel's abstract namespace: only one process can have the name, until it closes the socket or ends. */
async function takeTurn(name: string): Promise<Server | undefined> {
  const server = createServer().listen(name);
  try {
    await once(server, "listening");
    return server;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return undefined;
    throw error;
  }
}
