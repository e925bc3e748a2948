import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import type { PortRequest } from "../wire/messages.ts";
import type { PortBinding, Protocol } from "../engine/engine.ts";

/** From here on a requested number is not a container port: it asks for one random number on both sides. */
export const FIRST_IDENTITY_PORT = 70_000;

export type PortRange = { readonly first: number; readonly last: number };
export type PortProbe = (port: number, protocol: Protocol) => Promise<boolean>;
export type PortChoice = {
  readonly requests: readonly PortRequest[];
  readonly range: PortRange;
  /** Asked at each step, since other choices go on meanwhile. */
  readonly isTaken: (key: string) => boolean;
  readonly reserved: Set<string>;
  readonly random: () => number;
  readonly isFree: PortProbe;
};
export type ChosenPort = { readonly request: PortRequest; readonly binding: PortBinding };

/**
 * Chooses a random free external port for each request, that is not taken; undefined when the range has none left.
 * What it chooses it adds to `reserved`, which other choices in progress share; the caller takes it out again when the
 * container shows the ports itself. Drawn at random, a number does not tell a renter who else is on the host.
 */
export async function choosePorts(input: PortChoice): Promise<readonly ChosenPort[] | undefined> {
  const chosen: ChosenPort[] = [];
  for (const request of input.requests) {
    const port = await reserveFreePort(request.protocol, input);
    if (port === undefined) {
      releasePorts(chosen, input.reserved);
      return undefined;
    }
    const containerPort = request.containerPort >= FIRST_IDENTITY_PORT ? port : request.containerPort;
    chosen.push({ request, binding: { containerPort, protocol: request.protocol, hostPort: port } });
  }
  return chosen;
}

/** Ends the reservation that `choosePorts` made. */
export function releasePorts(chosen: readonly ChosenPort[], reserved: Set<string>): void {
  for (const { binding } of chosen) reserved.delete(portKey(binding.hostPort, binding.protocol));
}

/** One external port of one protocol, as it is named in a set of taken ones. */
export function portKey(port: number, protocol: Protocol): string {
  return `${port}/${protocol}`;
}

async function reserveFreePort(protocol: Protocol, input: PortChoice): Promise<number | undefined> {
  const count = input.range.last - input.range.first + 1;
  const start = Math.min(Math.floor(input.random() * count), count - 1);
  for (let step = 0; step < count; step += 1) {
    const port = input.range.first + ((start + step) % count);
    const key = portKey(port, protocol);
    if (input.isTaken(key) || input.reserved.has(key)) continue;
    input.reserved.add(key);
    if (await input.isFree(port, protocol)) return port;
    input.reserved.delete(key);
  }
  return undefined;
}

/** Asks the operating system whether a port can be bound on the address, by binding it for a moment. */
export function probePortOn(address: string): PortProbe {
  return (port, protocol) => (protocol === "tcp" ? probeTcp(address, port) : probeUdp(address, port));
}

function probeTcp(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

function probeUdp(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
    socket.once("error", () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ address, port, exclusive: true }, () => socket.close(() => resolve(true)));
  });
}
