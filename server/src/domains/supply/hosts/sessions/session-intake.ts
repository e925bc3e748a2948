import type { WebSocket } from "ws";
import type { Clock } from "../../../../base/clock.ts";

/** While this many messages of a connection wait to be stored, the server does not read it. */
const WAITING_MAX = 4;

/** Stores the messages of one connection one after the other, so that an older report never overwrites a newer one. */
export class SessionIntake {
  /**
   * The monotonic time of the last sign of life. The moment at which a message is stored counts as one: while messages
   * waited, the connection may not have been read.
   */
  lastHeardMs: number;
  /** The monotonic time at which the last message arrived. */
  lastWordMs: number;
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  #waitingCount = 0;
  #recording: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    this.lastHeardMs = clock.monotonicMs();
    this.lastWordMs = this.lastHeardMs;
  }

  /** Notes that a message arrived. */
  hear(): void {
    this.lastHeardMs = this.#clock.monotonicMs();
    this.lastWordMs = this.lastHeardMs;
  }

  /** Stores a message after all before it. */
  take(record: () => Promise<void>): void {
    this.#waitingCount += 1;
    if (this.#waitingCount >= WAITING_MAX) this.#socket.pause();
    this.#recording = this.#recording.then(record).finally(() => {
      this.lastHeardMs = this.#clock.monotonicMs();
      this.#waitingCount -= 1;
      if (this.#waitingCount < WAITING_MAX && this.#socket.isPaused) this.#socket.resume();
    });
  }

  /** Resolves when all messages so far are stored. */
  async stored(): Promise<void> {
    await this.#recording;
  }
}
