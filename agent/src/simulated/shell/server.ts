import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Duplex } from "node:stream";
import ssh2, { type Connection } from "ssh2";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { deriveHostKey } from "../../ssh/host-keys.ts";
import { openTunnel } from "../../ssh/tunnel.ts";
import { injectSocket } from "../../ssh/transport.ts";
import { SimulatedFiles } from "./file-system.ts";
import { serveSftp } from "./sftp.ts";
import { serveShell } from "./terminal.ts";

/** Time for a client to log in, after which its stream is closed. */
const LOGIN_GRACE_MS = 30_000;
const CONNECTIONS_MAX = 256;
/** Disks kept in memory, of the instances that were entered last. */
const DISKS_MAX = 64;

type Dependencies = {
  readonly clock: Clock;
  readonly log: Log;
  /** True while the simulated container runs. */
  readonly isRunning: (instanceId: number) => boolean;
};

/**
 * Simulated SSH servers of a simulated host, behind tunnels alone: a shell that says what it is, and a small disk in memory.
 * Nobody gets in but a session key that came with the tunnel, so a renter's own key is refused as it always was.
 */
export class SimulatedShells {
  readonly #deps: Dependencies;
  readonly #files = new Map<number, SimulatedFiles>();
  readonly #streams = new Set<Duplex>();
  #hostKey: string | undefined;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Opens the tunnel and serves the one session key on it. */
  async connect(instanceId: number, url: string, token: string, sessionKey: string): Promise<void> {
    try {
      const stream = await openTunnel(url, token);
      if (!this.#deps.isRunning(instanceId) || this.#streams.size >= CONNECTIONS_MAX) return void stream.destroy();
      this.serve(instanceId, stream, sessionKey);
    } catch (cause) {
      this.#deps.log.debug(
        { instance_id: instanceId, problem: String(cause) },
        "a simulated tunnel could not be opened",
      );
    }
  }

  /** Serves a client at the other end of a stream. */
  serve(instanceId: number, stream: Duplex, sessionKey: string): void {
    this.#streams.add(stream);
    const over = new AbortController();
    stream.on("error", () => undefined);
    stream.once("close", () => {
      over.abort();
      this.#streams.delete(stream);
    });
    const server = new ssh2.Server({ hostKeys: [this.#ownKey()], ident: "berth-simulated" });
    server.on("connection", (client) => this.#admit(instanceId, client, sessionKey, over));
    injectSocket(server, stream);
    void this.#deps.clock.sleep(LOGIN_GRACE_MS, over.signal).then(() => {
      if (!over.signal.aborted) stream.destroy();
    });
  }

  close(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  #admit(instanceId: number, client: Connection, sessionKey: string, over: AbortController): void {
    const wanted = blobOf(sessionKey);
    client.on("error", () => undefined);
    client.on("authentication", (context) => {
      if (context.method !== "publickey" || context.username !== "root") return context.reject(["publickey"]);
      const { data } = context.key;
      if (wanted.length === 0 || data.length !== wanted.length || !timingSafeEqual(data, wanted))
        return context.reject();
      if (context.signature === undefined || context.blob === undefined) return context.accept();
      const key = ssh2.utils.parseKey(sessionKey);
      const isSigned =
        !(key instanceof Error) && key.verify(context.blob, context.signature, context.hashAlgo) === true;
      if (isSigned) context.accept();
      else context.reject();
    });
    client.on("ready", () => over.abort());
    client.on("session", (accept) => {
      const session = accept();
      const place = { files: this.#filesOf(instanceId), hostname: `instance-${instanceId}` };
      session.on("pty", (acceptPty) => acceptPty?.());
      session.on("window-change", (acceptSize) => acceptSize?.());
      session.once("shell", (acceptShell) => serveShell(acceptShell(), place));
      session.on("sftp", (acceptSftp) => serveSftp(acceptSftp(), place.files));
    });
  }

  #filesOf(instanceId: number): SimulatedFiles {
    const { clock } = this.#deps;
    const files = this.#files.get(instanceId) ?? new SimulatedFiles(() => Math.floor(clock.now().getTime() / 1000));
    // The disk that was used last is the last to be forgotten.
    this.#files.delete(instanceId);
    this.#files.set(instanceId, files);
    const [oldest] = this.#files.keys();
    if (this.#files.size > DISKS_MAX && oldest !== undefined) this.#files.delete(oldest);
    return files;
  }

  /** One key for all: nobody but the server that asked for the tunnel connects, and it expects none. */
  #ownKey(): string {
    this.#hostKey ??= deriveHostKey(randomBytes(32), 0).privatePem;
    return this.#hostKey;
  }
}

function blobOf(publicKey: string): Buffer {
  const key = ssh2.utils.parseKey(publicKey);
  return key instanceof Error ? Buffer.alloc(0) : key.getPublicSSH();
}
