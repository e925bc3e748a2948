import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { once } from "node:events";
import { WebSocketServer, type WebSocket } from "ws";
import {
  AgentMessage,
  CHALLENGE_HEADER,
  decodeAgentMessage,
  PROOF_HEADER,
  proofText,
  ServerMessage,
} from "../../protocol/index.ts";
import { camelFields, snakeFields, type Camel } from "../src/wire/fields.ts";
import type {
  DesiredInstance,
  Hello,
  Measurements,
  ObservedInstance,
  Report,
  ServerList,
  TaskProgress,
  TaskResult,
} from "../src/wire/messages.ts";

export type Peer = {
  readonly socket: WebSocket;
  readonly hello: Hello;
  readonly reports: Report[];
  readonly tasks: (TaskProgress | TaskResult)[];
  readonly measurements: Measurements[];
};

export const TOKEN = "agent-token-for-tests";

/**
 * The control plane's end of the wire, as small as tests need it: it checks the credential and every message, welcomes,
 * pushes the desired set and acknowledges. A test does everything else through `peers`.
 */
export class FakeServer {
  readonly peers: Peer[] = [];
  /** The proof that the next welcome asks the agent to keep. */
  sessionProof = "";
  readonly authorizations: (string | undefined)[] = [];
  readonly problems: string[] = [];
  heartbeatMs = 200;
  leaseMs = 60_000;
  /** While false, reports are read and never answered. */
  acknowledges = true;
  /** Heartbeat interval in milliseconds that each acknowledgement names, when set. */
  askedHeartbeatMs: number | undefined;
  /** While false, nobody is welcomed. */
  welcomes = true;
  /** The interval of measurements that the next welcome asks for; none when undefined. */
  measureMs: number | undefined;
  /** The other servers that the next welcome names. */
  servers: ServerList | undefined;
  /** How it proves to agents that it is a server of their installation: with this key, under this address. */
  identity: { readonly key: string; readonly address: string } | undefined;
  /** While false, no agent gets the desired set, as if reading it took long. */
  tells = true;
  #desired: readonly DesiredInstance[] | undefined;
  #version = 0;
  #waiting = new Set<() => void>();
  /** Answers requests; by default with 404. */
  answer: RequestListener = (_request, response) => response.writeHead(404).end();
  readonly #http = createServer((request, response) => this.answer(request, response));
  readonly #ws = new WebSocketServer({ noServer: true, perMessageDeflate: false });

  /** Reachable on `address` only. */
  static async listen(port = 0, address = "127.0.0.1"): Promise<FakeServer> {
    const server = new FakeServer();
    server.#ws.on("headers", (headers, request) => {
      const challenge = String(request.headers[CHALLENGE_HEADER] ?? "");
      const { identity } = server;
      const text = identity && proofText(identity.address, challenge);
      if (identity === undefined || text === undefined) return;
      headers.push(`${PROOF_HEADER}: ${createHmac("sha256", identity.key).update(text).digest("base64url")}`);
    });
    server.#http.on("upgrade", (request: IncomingMessage, socket, head) => {
      server.authorizations.push(request.headers.authorization);
      server.#ws.handleUpgrade(request, socket, head, (ws) => server.#onConnection(ws));
    });
    server.#http.listen(port, address);
    await once(server.#http, "listening");
    return server;
  }

  get port(): number {
    const address = this.#http.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  get url(): string {
    const address = this.#http.address();
    const host = typeof address === "object" && address !== null ? address.address : "";
    return `ws://${host}:${this.port}/agent`;
  }

  /** The newest connection that has said hello. */
  get peer(): Peer {
    const peer = this.peers.at(-1);
    if (!peer) throw new Error("no agent has connected");
    return peer;
  }

  /** Replaces the desired set and pushes it to everybody connected. */
  desire(instances: readonly DesiredInstance[]): void {
    this.#desired = instances;
    this.#version += 1;
    for (const peer of this.peers) this.#pushDesired(peer.socket);
  }

  send(socket: WebSocket, message: Camel<ServerMessage>): void {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(snakeFields(ServerMessage, message)));
  }

  /** The last entry for an instance in the newest report of the newest connection: its present run. */
  observed(instanceId: number): ObservedInstance | undefined {
    return this.peers
      .at(-1)
      ?.reports.at(-1)
      ?.instances.findLast((one) => one.instanceId === instanceId);
  }

  /** Waits until `look` finds something, looking again at each message and connection. */
  async until<T>(what: string, look: () => T | undefined | false, timeoutMs = 180_000): Promise<T> {
    const deadline = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const found = look();
      if (found !== undefined && found !== false) return found;
      if (deadline.aborted) {
        const last = JSON.stringify(this.peers.at(-1)?.reports.at(-1));
        throw new Error(`never saw: ${what}; problems: ${this.problems.join("; ")}; last report: ${last}`);
      }
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake);
          deadline.removeEventListener("abort", wake);
          resolve();
        };
        this.#waiting.add(wake);
        deadline.addEventListener("abort", wake, { once: true });
      });
    }
  }

  async untilState(
    instanceId: number,
    state: ObservedInstance["state"],
    generation?: number,
  ): Promise<ObservedInstance> {
    return this.until(`instance ${instanceId} ${state}`, () => {
      const one = this.observed(instanceId);
      return one?.state === state && (generation === undefined || one.generation === generation) ? one : undefined;
    });
  }

  /** The address for requests. */
  get apiUrl(): string {
    return this.url.replace(/^ws/, "http").replace(/\/agent$/, "");
  }

  async close(): Promise<void> {
    for (const client of this.#ws.clients) client.terminate();
    this.#ws.close();
    this.#http.close();
    await once(this.#http, "close");
  }

  #onConnection(socket: WebSocket): void {
    let peer: Peer | undefined;
    socket.on("error", () => undefined);
    socket.on("close", () => this.#wake());
    socket.on("message", (data) => {
      const decoded = decodeAgentMessage(String(data));
      if (!decoded.ok) {
        this.problems.push(decoded.problem);
        return;
      }
      const message = camelFields(AgentMessage, decoded.message);
      if (message.kind === "hello") {
        peer = { socket, hello: message, reports: [], tasks: [], measurements: [] };
        this.peers.push(peer);
        if (this.welcomes) {
          const { heartbeatMs, leaseMs } = this;
          this.send(socket, {
            kind: "welcome",
            machineId: 1,
            heartbeatMs,
            leaseMs,
            sessionProof: this.sessionProof,
            ...(this.servers === undefined ? {} : { servers: this.servers }),
            ...(this.measureMs === undefined ? {} : { measureMs: this.measureMs }),
          });
          this.#pushDesired(socket);
        }
      } else if (message.kind === "report") {
        peer?.reports.push(message);
        const asked = this.askedHeartbeatMs === undefined ? {} : { heartbeatMs: this.askedHeartbeatMs };
        if (this.acknowledges) this.send(socket, { kind: "acknowledge", sequence: message.sequence, ...asked });
      } else if (message.kind === "measurements") peer?.measurements.push(message);
      else peer?.tasks.push(message);
      this.#wake();
    });
  }

  #pushDesired(socket: WebSocket): void {
    if (!this.#desired || !this.tells) return;
    this.send(socket, { kind: "desired", version: this.#version, instances: [...this.#desired], volumes: [] });
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
