import { once } from "node:events";
import { PassThrough } from "node:stream";
import { createWebSocketStream, type WebSocket } from "ws";
import type { Clock } from "../../../../base/clock.ts";
import { ByteBudget } from "./byte-budget.ts";
import { ALIVE_FRAME, LogFrames, RETRY_FRAME } from "./log-frames.ts";

/** Bytes that wait for a client before its host is paused. */
const BUFFERED_BYTES = 65_536;

/** A log on its way from a host to a client, no faster than the client reads it. */
export class LogFollower {
  /** The body of the answer. */
  readonly output = new PassThrough({ highWaterMark: BUFFERED_BYTES });
  /** True while the client may go on reading. */
  readonly mayStay: () => Promise<boolean>;
  readonly #over = new AbortController();
  readonly #tunnel: WebSocket;

  constructor(
    tunnel: WebSocket,
    { clock, mayStay }: { readonly clock: Clock; readonly mayStay: () => Promise<boolean> },
  ) {
    this.mayStay = mayStay;
    this.#tunnel = tunnel;
    this.output.write(RETRY_FRAME);
    this.output.on("error", () => {});
    this.output.once("close", () => this.end());
    // The client that left, or the connection that broke, is all that can fail here.
    void this.#pump(new ByteBudget(clock))
      .catch(() => {})
      .finally(() => this.end());
  }

  /** Shows a client that waits that the connection is there. */
  showLife(): void {
    if (this.output.writable && this.output.writableLength === 0) this.output.write(ALIVE_FRAME);
  }

  /** Ends the answer behind what was read; the client may come again. */
  end(): void {
    this.#over.abort();
    this.#tunnel.terminate();
    if (this.output.writable) this.output.end();
  }

  async #pump(budget: ByteBudget): Promise<void> {
    const { signal } = this.#over;
    const source = createWebSocketStream(this.#tunnel);
    // A connection that breaks is an end without its note.
    source.on("error", () => {});
    const frames = new LogFrames();
    for await (const chunk of source) {
      if (!Buffer.isBuffer(chunk)) continue;
      const text = frames.read(chunk);
      if (text === undefined || signal.aborted) return;
      if (!this.output.write(text)) await once(this.output, "drain", { signal });
      if (frames.hasEnded) return;
      await budget.take(text.length, signal);
    }
  }
}
