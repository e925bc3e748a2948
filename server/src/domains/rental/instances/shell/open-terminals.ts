import type { WebSocket } from "ws";
import type { Clock } from "../../../../base/clock.ts";
import type { InstanceId } from "../../../../base/ids.ts";
import type { Log } from "../../../../base/log.ts";

/** The end of a terminal: a code of WebSockets, and a sentence for the person at it. */
export type Ending = { readonly code: number; readonly reason: string };

export const ENDINGS = {
  stopping: { code: 1001, reason: "This server is stopping. Open the terminal again in a moment." },
  idle: { code: 4408, reason: "Nothing was typed or printed here for an hour." },
  silent: { code: 4408, reason: "Your side did not answer for a minute." },
  lost: { code: 4503, reason: "The connection to the instance's host broke." },
} as const satisfies Record<string, Ending>;

/** The code for the end of an instance's run, and for a key or account that may not have a terminal any more. */
export const NOT_RUNNING = 4409;
export const NOT_ALLOWED = 4403;

/** A terminal that somebody has open. */
export type OpenTerminal = {
  readonly instanceId: InstanceId;
  readonly socket: WebSocket;
  /** The reason why it must end now; undefined while it may go on. */
  readonly refusal: () => Promise<Ending | undefined>;
  readonly end: (ending: Ending) => void;
  /** Milliseconds of the monotonic clock at the last byte, either way. */
  lastUseMs: number;
  lastAnswerMs: number;
};

const SWEEP_MS = 2_000;
const PING_MS = 20_000;
const SILENT_MS = 60_000;
const IDLE_MS = 3_600_000;
/** Time for clients to take the reason of the end, when the server stops. */
const LAST_WORDS_MS = 500;

/** The terminals that are open at this server, with looks at whether they may go on. */
export class OpenTerminals {
  readonly #open = new Set<OpenTerminal>();
  readonly #clock: Clock;
  readonly #log: Log;
  #stopSweeping: (() => void) | undefined;
  #isSweeping = false;
  #isClosing = false;
  #lastPingMs = 0;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Watches a terminal until its socket closes. */
  add(terminal: OpenTerminal): void {
    if (this.#isClosing) return terminal.end(ENDINGS.stopping);
    this.#open.add(terminal);
    terminal.socket.on("pong", () => (terminal.lastAnswerMs = this.#clock.monotonicMs()));
    terminal.socket.once("close", () => {
      this.#open.delete(terminal);
      if (this.#open.size > 0) return;
      this.#stopSweeping?.();
      this.#stopSweeping = undefined;
    });
    this.#stopSweeping ??= this.#clock.every(SWEEP_MS, () => void this.sweep());
  }

  /** Ends the terminals that may not go on, are idle, or whose clients are gone. */
  async sweep(): Promise<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    try {
      const nowMs = this.#clock.monotonicMs();
      const isPingDue = nowMs - this.#lastPingMs >= PING_MS;
      if (isPingDue) this.#lastPingMs = nowMs;
      await Promise.all([...this.#open].map((terminal) => this.#look(terminal, nowMs, isPingDue)));
    } finally {
      this.#isSweeping = false;
    }
  }

  /** Ends all terminals with a reason, and cuts off clients that do not take it. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const terminals = [...this.#open];
    if (terminals.length === 0) return;
    for (const terminal of terminals) terminal.end(ENDINGS.stopping);
    const closed = new AbortController();
    void Promise.all(terminals.map(({ socket }) => untilClosed(socket))).then(() => closed.abort());
    await this.#clock.sleep(LAST_WORDS_MS, closed.signal);
    for (const { socket } of terminals) socket.terminate();
  }

  async #look(terminal: OpenTerminal, nowMs: number, isPingDue: boolean): Promise<void> {
    if (nowMs - terminal.lastUseMs > IDLE_MS) return terminal.end(ENDINGS.idle);
    if (nowMs - terminal.lastAnswerMs > SILENT_MS) {
      terminal.end(ENDINGS.silent);
      return terminal.socket.terminate();
    }
    if (isPingDue && terminal.socket.readyState === terminal.socket.OPEN) terminal.socket.ping();
    try {
      const ending = await terminal.refusal();
      if (ending !== undefined) terminal.end(ending);
    } catch (error) {
      // While the database does not answer nobody knows better; the next look asks again.
      this.#log.warn({ err: error, instance_id: terminal.instanceId }, "looking at an open terminal failed");
    }
  }
}

function untilClosed(socket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readyState === socket.CLOSED) resolve();
    else socket.once("close", () => resolve());
  });
}
