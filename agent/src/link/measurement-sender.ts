import { WebSocket } from "ws";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { writeAgentMessage, type Measurements } from "../wire/messages.ts";

/** Bytes on their way at which a measurement is left out: reports come first on a slow uplink. */
const BACKLOG_BYTES = 256 * 1024;

export type MeasurementSenderInput = {
  readonly clock: Clock;
  readonly log: Log;
  /** Measures the machine and its instances; undefined where nothing is known now. */
  readonly measure?: () => Promise<Measurements | undefined>;
};

/** Sends measurements in equal steps while the server wants them. One that cannot be sent is left out. */
export class MeasurementSender {
  readonly #input: MeasurementSenderInput;
  #nextMs = 0;
  #isMeasuring = false;

  constructor(input: MeasurementSenderInput) {
    this.#input = input;
  }

  /** Called often, with the connection that may carry one and the interval that its server asked for. */
  tick(socket: WebSocket, everyMs: number | undefined): void {
    const nowMs = this.#input.clock.monotonicMs();
    if (everyMs === undefined || nowMs < this.#nextMs) return;
    // By the same step each time, so that measurements neither crowd nor thin out; a late one does not make more follow.
    this.#nextMs = Math.max(this.#nextMs + everyMs, nowMs + everyMs / 2);
    if (!this.#isMeasuring && socket.bufferedAmount <= BACKLOG_BYTES) void this.#send(socket);
  }

  async #send(socket: WebSocket): Promise<void> {
    this.#isMeasuring = true;
    try {
      const measurements = await this.#input.measure?.();
      if (measurements === undefined || socket.readyState !== WebSocket.OPEN) return;
      // A broken connection closes, and the close is handled.
      socket.send(writeAgentMessage(measurements), (error) => error && socket.terminate());
    } catch (cause) {
      this.#input.log.warn({ problem: String(cause) }, "the machine could not be measured");
    } finally {
      this.#isMeasuring = false;
    }
  }
}
