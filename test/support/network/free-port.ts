import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type ListenOptions, type Server } from "node:net";

/** Ports apart from those of the system, and from those that servers, agents and tests name themselves. */
const FIRST_PORT = 8_500;
const PORT_COUNT = 700;

/** Sockets that each keep a port for this process as long as it lives, by a name that nobody else can have. */
const claims: Server[] = [];

/**
 * A port of the loopback on which nothing listens. A test may leave it and come back to it: neither the system nor another
 * test process gives it to anybody while this process lives.
 */
export async function freePort(): Promise<number> {
  const start = randomInt(PORT_COUNT);
  for (let step = 0; step < PORT_COUNT; step += 1) {
    const port = FIRST_PORT + ((start + step) % PORT_COUNT);
    const claim = await tryListening({ path: `\0berth-test-port-${port}` });
    if (claim === undefined) continue;
    claim.unref();
    claims.push(claim);
    const probe = await tryListening({ port, host: "127.0.0.1" });
    if (probe === undefined) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
  throw new Error("no port is free");
}

/** The next port in the range for tests that need several in a row; no agent and no other server uses this range. */
let nextPort = 18_000;
const END_PORT = 20_000;

/** The first of this many ports in a row on which nothing listens. */
export async function freePorts(count: number): Promise<number> {
  while (nextPort + count <= END_PORT) {
    const first = nextPort;
    nextPort += count;
    const areFree = await Promise.all(Array.from({ length: count }, (_, index) => isFree(first + index)));
    if (!areFree.includes(false)) return first;
  }
  throw new Error("no ports are free");
}

async function isFree(port: number): Promise<boolean> {
  const probe = await tryListening({ port, host: "127.0.0.1" });
  if (probe !== undefined) await once(probe.close(), "close");
  return probe !== undefined;
}

async function tryListening(options: ListenOptions): Promise<Server | undefined> {
  const server = createServer().listen(options);
  try {
    await once(server, "listening");
    return server;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return undefined;
    throw error;
  }
}
