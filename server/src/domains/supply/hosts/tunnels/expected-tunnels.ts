import { randomBytes } from "node:crypto";
import type { WebSocket } from "ws";
import type { OpenTunnel } from "../../../../../../protocol/index.ts";
import type { Clock } from "../../../../base/clock.ts";
import { asId, type AgentCredentialId, type ServerId } from "../../../../base/ids.ts";

/** How long an agent may take to open a tunnel: a client waits for it. */
const WAIT_MS = 10_000;
const WAITING_MAX = 2_048;
const ID_BYTES = 24;

/** A tunnel id begins with the server that waits for it, since the agent may open the tunnel at any server. */
const OWNED = /^s(\d{1,10})-/;

/** The server that waits for this tunnel; undefined where the id names none. */
export function serverOfTunnel(tunnelId: string): ServerId | undefined {
  const id = Number(OWNED.exec(tunnelId)?.[1] ?? 0);
  return id === 0 ? undefined : asId<ServerId>(id);
}

/** The place that a tunnel leads to, the key that logs in on it alone, and the part of a log that it carries. */
export type TunnelTarget = Pick<OpenTunnel, "instance_id" | "service" | "session_key" | "logs" | "port">;

type Waiting = { readonly credentialId: AgentCredentialId; readonly settle: (socket: WebSocket | undefined) => void };

/** Tunnels that agents were asked to open and have not opened yet. */
export class ExpectedTunnels {
  readonly #waiting = new Map<string, Waiting>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Asks for a tunnel and waits for it; undefined when none comes in time, or too many are awaited. */
  async ask(
    { credentialId, serverId }: { readonly credentialId: AgentCredentialId; readonly serverId: ServerId | undefined },
    target: TunnelTarget,
    send: (message: OpenTunnel) => void,
  ): Promise<WebSocket | undefined> {
    if (this.#waiting.size >= WAITING_MAX) return undefined;
    const tunnelId = `s${serverId ?? 0}-${randomBytes(ID_BYTES).toString("base64url")}`;
    const settled = new AbortController();
    const arrival = new Promise<WebSocket | undefined>((resolve) => {
      const settle = (socket: WebSocket | undefined) => {
        this.#waiting.delete(tunnelId);
        settled.abort();
        resolve(socket);
      };
      this.#waiting.set(tunnelId, { credentialId, settle });
    });
    send({ kind: "open_tunnel", tunnel_id: tunnelId, ...target });
    void this.#clock.sleep(WAIT_MS, settled.signal).then(() => this.#waiting.get(tunnelId)?.settle(undefined));
    return arrival;
  }

  /** True when this agent may open this tunnel: an id is valid once, for the agent that got it. */
  isExpected(tunnelId: string, credentialId: AgentCredentialId): boolean {
    return this.#waiting.get(tunnelId)?.credentialId === credentialId;
  }

  arrive(tunnelId: string, socket: WebSocket): void {
    const waiting = this.#waiting.get(tunnelId);
    if (waiting === undefined) socket.terminate();
    else waiting.settle(socket);
  }

  /** Stops waiting for tunnels. */
  close(): void {
    for (const { settle } of this.#waiting.values()) settle(undefined);
  }
}
