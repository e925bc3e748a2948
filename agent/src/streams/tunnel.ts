import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";
import type { SimulatedShells } from "../simulated/shell/server.ts";
import type { SshService } from "../ssh/service.ts";
import type { OpenTunnel } from "../wire/messages.ts";
import { bridge } from "../../../tunnel/bridge.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { FollowRequest, LogNotes, Result } from "../engine/engine.ts";
import { parseLogPlace } from "../engine/log-places.ts";
import { sendLog } from "./log-tunnel.ts";
import { answerUplinkProbe } from "./uplink-probe.ts";

export type TunnelDependencies = {
  readonly clock: Clock;
  readonly log: Log;
  /** The address of the server that has the session now: `wss://…/agent`. */
  readonly serverUrl: () => string;
  /** The credential or the pass for that server. */
  readonly token: () => string;
  /** The SSH server of this host; undefined where there is none. It opens its tunnels itself. */
  readonly ssh: Pick<SshService, "connectTunnel"> | undefined;
  /** The simulated SSH servers of a simulated host, for session keys alone; undefined on a real one. */
  readonly shells?: Pick<SimulatedShells, "connect" | "close">;
  /** The log of an instance's container. */
  readonly followLog: (
    instanceId: number,
    wish: Omit<FollowRequest, "signal">,
    signal: AbortSignal,
  ) => Promise<Result<LogNotes>>;
  /** The address of an instance's container in its network; undefined while it does not run. */
  readonly addressOf: (instanceId: number) => string | undefined;
};

export type Tunnels = {
  /** Does what the server asks: it has somebody waiting who wants to reach an instance. */
  open(request: OpenTunnel): void;
  close(): void;
};

const JUPYTER_PORT = 8080;
const HANDSHAKE_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 30_000;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const MAX_TUNNELS = 2_048;
/** Logs that are followed at a time, each of which takes a connection of the engine. */
const MAX_LOGS = 256;
const DEFAULT_WISH = { tailLines: 1_000, follows: true } as const;
/** Close code of a tunnel that leads nowhere. */
const NOWHERE = 4404;

/** Opens byte streams between the control plane and services of instances, whenever the control plane asks for one. */
export function createTunnels(deps: TunnelDependencies): Tunnels {
  const openTunnels = new Set<WebSocket>();

  const dial = (tunnelId: string): WebSocket => {
    const tunnel = new WebSocket(tunnelUrl(deps.serverUrl(), tunnelId), {
      headers: { authorization: `Bearer ${deps.token()}` },
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    });
    openTunnels.add(tunnel);
    tunnel.once("upgrade", (response) => {
      response.socket.setNoDelay(true);
      response.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    });
    tunnel.on("error", (error) => deps.log.debug({ problem: error.message, tunnel_id: tunnelId }, "a tunnel broke"));
    tunnel.once("close", () => openTunnels.delete(tunnel));
    return tunnel;
  };

  const toPort = ({ instanceId, tunnelId }: OpenTunnel, port: number) => {
    const address = deps.addressOf(instanceId);
    const tunnel = dial(tunnelId);
    if (address === undefined || openTunnels.size > MAX_TUNNELS) {
      tunnel.once("open", () => tunnel.close(NOWHERE, "nothing to connect to"));
      return;
    }
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true });
    socket.pause();
    joinWhenReady(socket, tunnel, deps.clock);
  };

  let logCount = 0;
  const toLog = ({ instanceId, tunnelId, logs: asked = DEFAULT_WISH }: OpenTunnel) => {
    const tunnel = dial(tunnelId);
    if (logCount >= MAX_LOGS || openTunnels.size > MAX_TUNNELS) {
      tunnel.once("open", () => tunnel.close(NOWHERE, "too many logs are followed"));
      return;
    }
    logCount += 1;
    tunnel.once("close", () => (logCount -= 1));
    const { tailLines, follows } = asked;
    const after = "after" in asked && asked.after !== undefined ? parseLogPlace(asked.after) : undefined;
    sendLog(tunnel, (signal) => deps.followLog(instanceId, { tailLines, follows, after }, signal), deps.log);
  };

  return {
    open(request) {
      const { instanceId, tunnelId, service } = request;
      if (service === "logs") return toLog(request);
      if (service === "jupyter") return toPort(request, JUPYTER_PORT);
      // An order without a number leads nowhere: nothing listens at port 0.
      if (service === "port") return toPort(request, request.port ?? 0);
      if (service === "line") return answerUplinkProbe(dial(tunnelId), deps.clock);
      const { sessionKey } = request;
      const url = tunnelUrl(deps.serverUrl(), tunnelId);
      if (deps.ssh) return deps.ssh.connectTunnel(instanceId, url, deps.token(), sessionKey);
      if (deps.shells && sessionKey !== undefined) {
        return void deps.shells.connect(instanceId, url, deps.token(), sessionKey);
      }
      // The server need not wait in vain for what is not here.
      const tunnel = dial(tunnelId);
      tunnel.once("open", () => tunnel.close(NOWHERE, "no SSH server"));
    },
    close() {
      for (const tunnel of openTunnels) tunnel.terminate();
      deps.shells?.close();
    },
  };
}

/** Bridges the two once both are connected; when one fails or takes too long, both are closed. */
function joinWhenReady(socket: Socket, tunnel: WebSocket, clock: Clock): void {
  const ready = new AbortController();
  let pendingCount = 2;
  const onReady = () => {
    pendingCount -= 1;
    if (pendingCount > 0) {
      // Bytes for the end that is not ready wait in the system's buffers.
      if (tunnel.readyState === WebSocket.OPEN) tunnel.pause();
      return;
    }
    ready.abort();
    bridge(socket, tunnel, clock);
  };
  const fail = () => {
    if (ready.signal.aborted) return;
    ready.abort();
    socket.destroy();
    if (tunnel.readyState === WebSocket.OPEN) tunnel.close(NOWHERE, "nothing answers there");
    else tunnel.once("open", () => tunnel.close(NOWHERE, "nothing answers there"));
  };
  socket.once("connect", onReady);
  socket.on("error", fail);
  tunnel.once("open", onReady);
  tunnel.once("close", fail);
  void clock.sleep(CONNECT_TIMEOUT_MS, ready.signal).then(fail);
}

function tunnelUrl(serverUrl: string, tunnelId: string): string {
  const url = new URL(serverUrl);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/tunnel/${encodeURIComponent(tunnelId)}`;
  return url.toString();
}
