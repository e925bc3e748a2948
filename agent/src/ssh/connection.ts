import type { Duplex } from "node:stream";
import type { AuthContext, Connection, ServerChannel } from "ssh2";
import { COPY_USER } from "../../../protocol/index.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { findAuthorizedKey, type AuthorizedKey } from "./authorized-keys.ts";
import type { DockerExec } from "./docker-exec.ts";
import { createForwards, type Forwards } from "./forwards.ts";
import type { Namespace } from "./namespace.ts";
import { serveSession } from "./session.ts";
import { attempt, createTransport, type Transport } from "./transport.ts";

/** The parts of a door that its connections use. */
export type ConnectionPlace = {
  readonly instanceId: number;
  readonly containerId: string;
  readonly docker: DockerExec;
  readonly namespace: Namespace;
  readonly clock: Clock;
  readonly log: Log;
  /** The names under which the door lets in. */
  readonly users: readonly string[];
  /** Keys that log in on this connection alone, as this user. */
  readonly sessionKeys: readonly AuthorizedKey[];
  readonly sessionUser: string;
  /** The door's keys as they are now. */
  keys(): readonly AuthorizedKey[];
};

/** Address and port of both ends, as programs inside see them. */
export type Ends = {
  readonly address: string;
  readonly port: number;
  readonly ownAddress: string;
  readonly ownPort: number;
};

export type SshConnection = {
  /** True before the login, and while its key still logs in. */
  readonly isStillAllowed: () => boolean;
  /** Bytes that wait in this process for either side. */
  readonly waitingBytes: () => number;
  /** Writes the reason to open sessions, and ends the connection. */
  dismiss(reason: string): void;
};

const MAX_ATTEMPTS = 6;
const MAX_SESSIONS = 32;
/** Answers that a client has not read; with more, its requests are not read. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** Each channel may hold its window of 2 MiB; a client that sends more than it may is cut off. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const MAX_CHANNEL_BYTES = 4 * 1024 * 1024;
/** OpenSSH's client shows nothing that it still has when it learns of the end. */
const LAST_WORDS_MS = 150;
/** Time for a client to close its own end. */
const DISMISS_MS = 500;

/** Serves one client whose banner has come. `onReady` when it has logged in, `onClose` once when it is gone. */
export function serveConnection(
  place: ConnectionPlace,
  client: Connection,
  socket: Duplex,
  ends: Ends,
  events: { onReady(): void; onClose(): void },
): SshConnection {
  const gone = new AbortController();
  const transport = createTransport(client, socket, gone.signal);
  const channels = new Set<ServerChannel>();
  let key: AuthorizedKey | undefined;
  let isForCopies = false;
  let sessions = 0;
  const forwards = createForwards({ ...place, transport });

  client.on("error", (cause) =>
    place.log.debug({ instance_id: place.instanceId, problem: cause.message }, "ssh error"),
  );
  client.on(
    "authentication",
    authenticator(place, client, (accepted, user) => {
      key = accepted;
      isForCopies = user === COPY_USER;
    }),
  );
  client.on("ready", () => {
    const { instanceId } = place;
    place.log.info({ instance_id: instanceId, source: ends.address, fingerprint: key?.fingerprint }, "ssh login");
    events.onReady();
  });
  const keep = <T extends ServerChannel>(channel: T) => {
    channels.add(channel);
    channel.once("close", () => channels.delete(channel));
    return channel;
  };
  client.on("session", (accept, reject) => {
    if (sessions >= MAX_SESSIONS) return reject();
    sessions += 1;
    const sshConnection = [ends.address, ends.port, ends.ownAddress, ends.ownPort] as const;
    serveSession({ ...place, transport, sshConnection, keep, isForCopies }, accept(), () => (sessions -= 1));
  });
  serveForwards(client, forwards, { keep, isAllowed: () => !isForCopies });
  guardMemory(transport, channels);
  const onClose = () => {
    if (gone.signal.aborted) return;
    gone.abort();
    forwards.close();
    events.onClose();
  };
  client.on("close", onClose);
  socket.once("close", onClose);

  return {
    isStillAllowed: () =>
      key === undefined || [...place.sessionKeys, ...place.keys()].some((one) => one.fingerprint === key?.fingerprint),
    waitingBytes: () => socket.writableLength + sum(channels),
    dismiss: (reason) => {
      for (const { type, stderr } of channels) {
        if (type === "session" && stderr.writable) attempt(() => stderr.write(`\r\nberth: ${reason}\r\n`));
      }
      void (async () => {
        await place.clock.sleep(LAST_WORDS_MS, gone.signal);
        attempt(() => client.end());
        await place.clock.sleep(DISMISS_MS, gone.signal);
        socket.destroy();
      })();
    },
  };
}

/** Lets in public keys only, as a user of this door. A refusal does not give its reason. */
function authenticator(
  place: ConnectionPlace,
  client: Connection,
  onAccept: (key: AuthorizedKey, user: string) => void,
): (context: AuthContext) => void {
  let failures = 0;
  return (context) => {
    const refuse = () => {
      // Clients begin with a question for the methods, which is no attempt.
      if (context.method !== "none") failures += 1;
      if (failures < MAX_ATTEMPTS) return context.reject(["publickey"]);
      place.log.debug({ instance_id: place.instanceId }, "ssh connection ended after too many attempts");
      client.end();
    };
    const { method, username } = context;
    if (method !== "publickey") return refuse();
    const keys = [
      ...(username === place.sessionUser ? place.sessionKeys : []),
      ...(place.users.includes(username) ? place.keys() : []),
    ];
    const key = findAuthorizedKey(keys, context.key.data);
    if (key === undefined) return refuse();
    const { blob, signature, hashAlgo } = context;
    // The client asks whether the key would do before it signs.
    if (signature === undefined || blob === undefined) return context.accept();
    if (!key.verifies(blob, signature, hashAlgo)) return refuse();
    onAccept(key, username);
    context.accept();
  };
}

type ForwardRules = {
  readonly keep: (channel: ServerChannel) => ServerChannel;
  readonly isAllowed: () => boolean;
};

function serveForwards(client: Connection, forwards: Forwards, { keep, isAllowed }: ForwardRules): void {
  client.on("tcpip", (accept, reject, { destIP, destPort }) => {
    if (isAllowed()) forwards.connectOut(() => keep(accept()), reject, destIP, destPort);
    else reject();
  });
  client.on("request", (accept, reject, name, info) => {
    if (!isAllowed()) return reject?.();
    if (name === "tcpip-forward" && "bindAddr" in info) {
      void forwards
        .listen(info.bindAddr, info.bindPort)
        .catch(() => undefined)
        .then((port) => attempt(() => (port === undefined ? reject?.() : accept?.(port))));
    } else if (name === "cancel-tcpip-forward" && "bindAddr" in info) {
      if (forwards.unlisten(info.bindAddr, info.bindPort)) accept?.();
      else reject?.();
    } else reject?.();
  });
}

function guardMemory({ socket }: Transport, channels: ReadonlySet<ServerChannel>): void {
  socket.on("data", () => {
    if (socket.writableLength > MAX_UNREAD_BYTES && !socket.isPaused()) {
      socket.pause();
      socket.once("drain", () => socket.resume());
    }
    let total = 0;
    for (const { readableLength } of channels) {
      total += readableLength;
      if (readableLength > MAX_CHANNEL_BYTES || total > MAX_WAITING_BYTES) return void socket.destroy();
    }
  });
}

function sum(channels: ReadonlySet<ServerChannel>): number {
  let total = 0;
  for (const { readableLength } of channels) total += readableLength;
  return total;
}
