import ssh2, { type ClientChannel, type SFTPWrapper } from "ssh2";
import { createWebSocketStream, type WebSocket } from "ws";
import { conflict, type AppError } from "../../../../base/errors.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { InstanceId, MachineId } from "../../../../base/ids.ts";
import { makeSessionKey } from "./session-key.ts";
import { hostOffline } from "../rules/refusals.ts";

/** A running instance that a session enters. */
export type ShellTarget = {
  readonly instanceId: InstanceId;
  readonly machineId: MachineId;
  /** The key of its SSH server, as in `known_hosts`; undefined on a simulated host, whose tunnel leads to no SSH server. */
  readonly hostKey: string | undefined;
};

export type TerminalSize = { readonly cols: number; readonly rows: number };

/** A login at an instance as `root`, through a tunnel of its host. */
export type ShellSession = {
  /** Opens a shell in a terminal of this size. */
  shell(size: TerminalSize): Promise<ClientChannel>;
  sftp(): Promise<SFTPWrapper>;
  /** Aborts when the login is over, on either side. */
  readonly over: AbortSignal;
  readonly close: () => void;
};

export type ShellMeans = {
  readonly clock: Clock;
  /** A byte stream to the instance's SSH server, on which the session key logs in; undefined when its host opens none. */
  readonly openTunnel: (
    machineId: MachineId,
    target: { readonly instance_id: number; readonly service: "ssh"; readonly session_key: string },
  ) => Promise<WebSocket | undefined>;
};

const LOGIN_MS = 20_000;
const OPEN_MS = 20_000;
const KEEP_ALIVE_MS = 15_000;
const TERM = "xterm-256color";
/** Channels and packets of the library have little use for more. */
const ALGORITHMS = {
  kex: ["curve25519-sha256"],
  serverHostKey: ["ssh-ed25519"],
  cipher: ["aes128-gcm@openssh.com"],
  compress: ["none"],
} satisfies ssh2.Algorithms;

/**
 * Logs in at an instance with a key that is made for this tunnel and kept nowhere. Throws `host_offline` when its host opens
 * no tunnel, and `shell_unavailable` when nobody lets the key in.
 */
export async function openShellSession(means: ShellMeans, target: ShellTarget): Promise<ShellSession> {
  const { instanceId, machineId } = target;
  const key = makeSessionKey();
  const tunnel = await means.openTunnel(machineId, {
    instance_id: instanceId,
    service: "ssh",
    session_key: key.public,
  });
  if (tunnel === undefined) throw hostOffline(`instance ${instanceId}`);
  const stream = createWebSocketStream(tunnel);
  // A WebSocket cannot be half closed: an empty message is the end of the host's direction.
  tunnel.on("message", (data) => {
    if (data instanceof Buffer && data.length === 0) stream.push(null);
  });
  const over = new AbortController();
  const client = new ssh2.Client();
  const end = () => {
    over.abort();
    client.destroy();
    stream.destroy();
    tunnel.terminate();
  };
  stream.on("error", end);
  stream.once("close", end);
  const login = new Promise<void>((resolve, reject) => {
    client.once("ready", () => resolve());
    client.on("error", reject);
    client.once("close", () => reject(new Error("the connection ended")));
  });
  client.connect({
    sock: stream,
    username: "root",
    privateKey: key.private,
    hostVerifier: (shown: Buffer) => isHostKey(shown, target.hostKey),
    readyTimeout: LOGIN_MS,
    keepaliveInterval: KEEP_ALIVE_MS,
    algorithms: ALGORITHMS,
  });
  try {
    await login;
  } catch (cause) {
    end();
    throw unavailable(instanceId, cause);
  }
  client.once("close", end);
  return sessionOf(means.clock, { client, instanceId, over: over.signal, end });
}

type LoggedIn = {
  readonly client: ssh2.Client;
  readonly instanceId: InstanceId;
  readonly over: AbortSignal;
  readonly end: () => void;
};

function sessionOf(clock: Clock, { client, instanceId, over, end }: LoggedIn): ShellSession {
  const opened = async <T>(what: Promise<T>): Promise<T> => {
    try {
      return await within(clock, OPEN_MS, over, what);
    } catch (cause) {
      end();
      throw unavailable(instanceId, cause);
    }
  };
  return {
    shell: ({ cols, rows }) =>
      opened(
        new Promise((resolve, reject) =>
          client.shell({ term: TERM, cols, rows, width: 0, height: 0 }, (error, channel) =>
            error === undefined ? resolve(channel.on("error", () => {})) : reject(error),
          ),
        ),
      ),
    sftp: () =>
      opened(
        new Promise((resolve, reject) =>
          client.sftp((error, sftp) => {
            if (error !== undefined) return reject(error);
            // A failure that no request waits for is followed by the end of the connection.
            sftp.on("error", () => {});
            resolve(sftp);
          }),
        ),
      ),
    over,
    close: () => {
      client.end();
      end();
    },
  };
}

/** The result of a promise, or a failure when it takes longer than the time, or the session ends first. */
async function within<T>(clock: Clock, ms: number, over: AbortSignal, what: Promise<T>): Promise<T> {
  const done = new AbortController();
  const ended = new Promise<never>((_resolve, reject) => {
    const fail = () => reject(new Error("the connection ended"));
    if (over.aborted) fail();
    over.addEventListener("abort", fail, { once: true });
    done.signal.addEventListener("abort", () => over.removeEventListener("abort", fail), { once: true });
    void clock.sleep(ms, done.signal).then(() => reject(new Error("no answer in time")));
  });
  try {
    return await Promise.race([what, ended]);
  } finally {
    done.abort();
  }
}

/** Compares the key that a server shows with the one that its host reported. */
function isHostKey(shown: Buffer, expected: string | undefined): boolean {
  return expected === undefined || shown.toString("base64") === expected.split(" ")[1];
}

function unavailable(instanceId: InstanceId, cause: unknown): AppError {
  const message =
    `Nothing in instance ${instanceId} let this server in. It may just be starting; if not, its host's agent is older ` +
    "than this function.";
  return conflict("shell_unavailable", message, { cause });
}
