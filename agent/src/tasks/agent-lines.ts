import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";

const LINES_PER_INSTANCE = 500;
const INSTANCES = 1_024;

/** The agent's own newest log lines about each instance, for the people who rent them. */
export class AgentLines {
  readonly #clock: Clock;
  /** The instance with the newest line is the last one. */
  readonly #lines = new Map<number, string[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(instanceId: number): readonly string[] {
    return this.#lines.get(instanceId) ?? [];
  }

  /** A log that passes everything on and remembers what names an instance. */
  listen(log: Log): Log {
    const heard =
      (level: "info" | "warn") =>
      (fields: object, message: string): void => {
        log[level](fields, message);
        this.#note(level, fields, message);
      };
    return { info: heard("info"), warn: heard("warn"), debug: (fields, message) => log.debug(fields, message) };
  }

  #note(level: string, fields: object, message: string): void {
    const instanceId = "instance_id" in fields ? fields.instance_id : undefined;
    if (typeof instanceId !== "number") return;
    const lines = this.#lines.get(instanceId) ?? [];
    lines.push(`${this.#clock.now().toISOString()} ${level} ${message} ${JSON.stringify(fields)}`);
    if (lines.length > LINES_PER_INSTANCE) lines.shift();
    this.#lines.delete(instanceId);
    this.#lines.set(instanceId, lines);
    if (this.#lines.size <= INSTANCES) return;
    for (const oldest of this.#lines.keys()) {
      this.#lines.delete(oldest);
      return;
    }
  }
}
