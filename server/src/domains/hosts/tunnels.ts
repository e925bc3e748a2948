import { randomBytes } from "node:crypto";
import type { WebSocket } from "ws";
import type { OpenTunnel } from "../../../../protocol/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { AgentCredentialId } from "../../base/ids.ts";

/** How long an agent may take to come with a tunnel: a client waits for it. */
const WAIT_MS = 10_000;
const WAITING_MAX = 2_048;
const ID_BYTES = 24;

type Waiting = { readonly credentialId: AgentCredentialId; readonly settle: (socket: WebSocket | undefined) => void };

/** Tunnels that agents were asked to open and that have not come yet. */
export class ExpectedTunnels {
  private readonly waiting = new Map<string, Waiting>();
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Asks for a tunnel and waits for it; undefined when none comes in time, or too many are waited for. */
  async ask(
    credentialId: AgentCredentialId,
    target: Pick<OpenTunnel, "instance_id" | "service">,
    send: (message: OpenTunnel) => void,
  ): Promise<WebSocket | undefined> {
    if (this.waiting.size >= WAITING_MAX) return undefined;
    const tunnelId = randomBytes(ID_BYTES).toString("base64url");
    const settled = new AbortController();
    const arrival = new Promise<WebSocket | undefined>((resolve) => {
      const settle = (socket: WebSocket | undefined) => {
        this.waiting.delete(tunnelId);
        settled.abort();
        resolve(socket);
      };
      this.waiting.set(tunnelId, { credentialId, settle });
    });
    send({ kind: "open_tunnel", tunnel_id: tunnelId, ...target });
    void this.clock.sleep(WAIT_MS, settled.signal).then(() => this.waiting.get(tunnelId)?.settle(undefined));
    return arrival;
  }

  /** Whether this agent may come with this tunnel: an id is good for the one it was given to, and only once. */
  isExpected(tunnelId: string, credentialId: AgentCredentialId): boolean {
    return this.waiting.get(tunnelId)?.credentialId === credentialId;
  }

  arrive(tunnelId: string, socket: WebSocket): void {
    const waiting = this.waiting.get(tunnelId);
    if (waiting === undefined) socket.terminate();
    else waiting.settle(socket);
  }

  /** Nobody is waited for any more. */
  close(): void {
    for (const { settle } of this.waiting.values()) settle(undefined);
  }
}
