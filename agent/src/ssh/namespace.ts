import { spawn, type ChildProcess } from "node:child_process";
import { statSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { NamespaceAnswer, NamespaceOrder } from "./namespace-messages.ts";

/** A connection that came to a listener inside. */
export type Accepted = { readonly socket: Socket; readonly address: string; readonly port: number };
export type Listening = { readonly port: number; close(): void };

/** Sockets made in the network of one container. Addresses are IP addresses: names mean something else outside. */
export type Namespace = {
  connect(host: string, port: number): Promise<Socket>;
  /** Port 0 lets the system choose. */
  listen(host: string, port: number, onConnection: (accepted: Accepted) => void): Promise<Listening>;
  close(): void;
};

const HELPER = join(import.meta.dirname, "namespace-main.ts");
/** The helper takes memory and starts in about 50 ms: it stays for the next connection for a while. */
const IDLE_MS = 30_000;
const OWN_NETWORK = "/proc/self/ns/net";

type Answered = { readonly answer: NamespaceAnswer; readonly socket: Socket | undefined };
type Waiting = { readonly resolve: (answered: Answered) => void; readonly reject: (cause: Error) => void };

export function openNamespace(path: string, clock: Clock): Namespace {
  const helper = new Helper(path, clock);
  return {
    connect: async (host, port) => {
      const { socket } = await helper.ask({ kind: "connect", id: helper.nextId(), host, port });
      if (socket === undefined) throw new Error("the connection was lost on its way");
      return socket;
    },
    listen: async (host, port, onConnection) => {
      const id = helper.nextId();
      helper.listeners.set(id, onConnection);
      try {
        const { answer } = await helper.ask({ kind: "listen", id, host, port });
        return { port: answer.kind === "listening" ? answer.port : port, close: () => helper.unlisten(id) };
      } catch (cause) {
        helper.unlisten(id);
        throw cause;
      }
    },
    close: () => helper.stop("closed"),
  };
}

/**
 * The process in the container's network, started at the first order and ended when it has been idle for a while. It
 * holds no capability but that of listening on low ports.
 */
class Helper {
  readonly listeners = new Map<number, (accepted: Accepted) => void>();
  readonly #path: string;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  #process: ChildProcess | undefined;
  #lastId = 0;
  #idle = new AbortController();

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  nextId(): number {
    return ++this.#lastId;
  }

  ask(order: NamespaceOrder): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const running = this.#start();
      this.#idle.abort();
      this.#waiting.set(order.id, { resolve, reject });
      running.send(order, (cause) => {
        if (cause !== null && this.#waiting.delete(order.id)) reject(cause);
      });
    });
  }

  unlisten(id: number): void {
    if (!this.listeners.delete(id)) return;
    if (this.#process?.connected === true) {
      this.#process.send({ kind: "close", id } satisfies NamespaceOrder, () => undefined);
    }
    this.#settle();
  }

  stop(reason: string): void {
    this.#idle.abort();
    this.#process?.kill("SIGKILL");
    this.#process = undefined;
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#waiting.clear();
    this.listeners.clear();
  }

  #start(): ChildProcess {
    if (this.#process !== undefined) return this.#process;
    const started = startHelper(this.#path);
    this.#process = started;
    started.on("message", (answer: NamespaceAnswer, handle: unknown) =>
      this.#receive(answer, handle instanceof Socket ? handle : undefined),
    );
    const onEnd = (reason: string) => {
      if (this.#process === started) this.stop(reason);
    };
    started.once("error", (cause) => onEnd(cause.message));
    started.once("exit", () => onEnd("the helper in the container's network has ended"));
    return started;
  }

  #receive(answer: NamespaceAnswer, socket: Socket | undefined): void {
    socket?.on("error", () => undefined);
    if (answer.kind === "accepted") {
      const onConnection = this.listeners.get(answer.id);
      if (socket === undefined || onConnection === undefined) socket?.destroy();
      else onConnection({ socket, address: answer.address, port: answer.port });
      return;
    }
    const one = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (one === undefined) socket?.destroy();
    else if (answer.kind === "failed") one.reject(new Error(answer.problem));
    else one.resolve({ answer, socket });
    this.#settle();
  }

  #settle(): void {
    this.#idle.abort();
    if (this.#process === undefined || this.#waiting.size > 0 || this.listeners.size > 0) return;
    this.#idle = new AbortController();
    const { signal } = this.#idle;
    void this.#clock.sleep(IDLE_MS, signal).then(() => {
      if (!signal.aborted) this.stop("idle");
    });
  }
}

function startHelper(path: string): ChildProcess {
  // A container that shares the host's network has no network of its own to be kept in.
  if (statSync(path).ino === statSync(OWN_NETWORK).ino) throw new Error("the container has no network of its own");
  const drop = ["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all,+net_bind_service"];
  const node = [process.execPath, "--disable-warning=ExperimentalWarning", "--max-semi-space-size=1", HELPER];
  return spawn("nsenter", [`--net=${path}`, "--", "setpriv", "--pdeathsig", "KILL", ...drop, "--", ...node], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "json",
  });
}
