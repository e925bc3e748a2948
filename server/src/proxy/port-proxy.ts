import { createServer, type Server, type Socket } from "node:net";
import type { WebSocket } from "ws";
import { bridge } from "../../../tunnel/bridge.ts";
import type { Clock } from "../base/clock.ts";
import type { InstanceId, MachineId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { networkOf } from "../base/public-address.ts";

/** The container port that a port of the proxy leads to. */
export type ProxyTarget = {
  readonly instanceId: InstanceId;
  readonly machineId: MachineId;
  readonly service: "ssh" | "jupyter";
};

export type PortProxyOptions = {
  readonly bindHost: string;
  /** A byte stream to the target; undefined when its host is not connected, or does not answer. */
  readonly openTunnel: (target: ProxyTarget) => Promise<WebSocket | undefined>;
  readonly clock: Clock;
  readonly log: Log;
};

/** A browser with several notebooks stays well below; one port cannot take what all the others need. */
const CONNECTIONS_PER_PORT_MAX = 256;
/** Connections for which the host has not come with a tunnel yet. */
const WAITING_PER_PORT_MAX = 64;
const CONNECTIONS_PER_SOURCE_MAX = 512;
const KEEP_ALIVE_MS = 30_000;

/** Connections of one instance that opened within this time are counted together, as if all opened at its beginning. */
const OPENED_TOGETHER_MS = 10_000;

/** Bytes that came out of an instance's container through connections which opened at a moment or later. */
export type SentBytes = { readonly instanceId: InstanceId; readonly openedAt: Date; readonly bytes: bigint };

type Door = {
  readonly target: ProxyTarget;
  readonly server: Server;
  readonly connections: Set<Socket>;
  waitingCount: number;
};

/**
 * Listens on the ports of instances and carries each connection through a tunnel to its host. It understands nothing of
 * what it carries: encryption and the right to come in are between the client and the instance.
 */
export class PortProxy {
  readonly #doors = new Map<number, Door>();
  readonly #sources = new Map<string, number>();
  /** Ports that could not be listened on at the last attempt: each is complained about once. */
  readonly #refused = new Set<number>();
  #sent = new Map<string, SentBytes>();
  readonly #options: PortProxyOptions;
  #isClosed = false;

  constructor(options: PortProxyOptions) {
    this.#options = options;
  }

  get portCount(): number {
    return this.#doors.size;
  }

  /** Makes the ports that are listened on exactly these. Connections to what a port led to before are cut. */
  sync(wanted: ReadonlyMap<number, ProxyTarget>): void {
    if (this.#isClosed) return;
    for (const [port, door] of this.#doors) if (!isSame(wanted.get(port), door.target)) this.#closeDoor(port, door);
    for (const [port, target] of wanted) if (!this.#doors.has(port)) this.#openDoor(port, target);
  }

  close(): void {
    this.#isClosed = true;
    for (const [port, door] of this.#doors) this.#closeDoor(port, door);
  }

  /**
   * Returns the bytes that came out of containers since the last call. SSH is left out: it ends at the host, so its bytes
   * do not pass a container's network. Bytes into a container are left out, too: nothing proves that it got them.
   */
  takeSentBytes(): readonly SentBytes[] {
    const all = [...this.#sent.values()];
    this.#sent = new Map();
    return all;
  }

  /** Counts bytes that come out of an instance's container through a connection that opens now. */
  countSent(instanceId: InstanceId): (bytes: number) => void {
    const nowMs = this.#options.clock.now().getTime();
    const openedAt = new Date(nowMs - (nowMs % OPENED_TOGETHER_MS));
    const key = `${instanceId} ${openedAt.getTime()}`;
    return (bytes) => {
      const before = this.#sent.get(key)?.bytes ?? 0n;
      this.#sent.set(key, { instanceId, openedAt, bytes: before + BigInt(bytes) });
    };
  }

  #openDoor(port: number, target: ProxyTarget): void {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
    const door: Door = { target, server, connections: new Set(), waitingCount: 0 };
    this.#doors.set(port, door);
    server.on("connection", (socket) => void this.#connect(door, socket));
    server.on("error", (error) => {
      const subject = { err: error, port, instance_id: target.instanceId };
      if (!this.#refused.has(port)) this.#options.log.warn(subject, "a proxy port cannot be listened on");
      this.#refused.add(port);
      // Another program has the port and may give it back: the next look at the list tries again.
      if (this.#doors.get(port) === door) this.#doors.delete(port);
    });
    server.listen(port, this.#options.bindHost, () => this.#refused.delete(port));
  }

  #closeDoor(port: number, door: Door): void {
    this.#doors.delete(port);
    door.server.close();
    for (const socket of door.connections) socket.destroy();
  }

  async #connect(door: Door, socket: Socket): Promise<void> {
    const source = networkOf(socket.remoteAddress ?? "");
    socket.on("error", () => {});
    if (!this.#admit(door, source)) {
      socket.destroy();
      return;
    }
    door.connections.add(socket);
    socket.once("close", () => {
      door.connections.delete(socket);
      this.#leave(source);
    });
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    door.waitingCount += 1;
    const { instanceId, service } = door.target;
    const onSent = service === "jupyter" ? this.countSent(instanceId) : undefined;
    const tunnel = await this.#options.openTunnel(door.target).finally(() => (door.waitingCount -= 1));
    if (tunnel === undefined) socket.destroy();
    else if (socket.destroyed || tunnel.readyState !== tunnel.OPEN) {
      socket.destroy();
      tunnel.terminate();
    } else bridge(socket, tunnel, this.#options.clock, onSent);
  }

  #admit({ connections, waitingCount }: Door, source: string): boolean {
    const count = this.#sources.get(source) ?? 0;
    const isFull = connections.size >= CONNECTIONS_PER_PORT_MAX || waitingCount >= WAITING_PER_PORT_MAX;
    if (isFull || count >= CONNECTIONS_PER_SOURCE_MAX) return false;
    this.#sources.set(source, count + 1);
    return true;
  }

  #leave(source: string): void {
    const left = (this.#sources.get(source) ?? 1) - 1;
    if (left > 0) this.#sources.set(source, left);
    else this.#sources.delete(source);
  }
}

function isSame(one: ProxyTarget | undefined, other: ProxyTarget): boolean {
  return one?.instanceId === other.instanceId && one.machineId === other.machineId && one.service === other.service;
}
