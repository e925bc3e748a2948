import type { ObservedInstance } from "../../protocol/index.ts";
import type { Clock } from "./clock.ts";
import type { Traffic } from "./engine.ts";
import type { OwnContainer } from "./identity.ts";
import { meterEnded, meterRunning, totalOf, type Counters, type Meter } from "./meter.ts";
import type { Notes } from "./notes.ts";

/** Names one generation of one instance. */
export function meterKey(instance_id: number, generation: number): string {
  return `${instance_id}:${generation}`;
}

/**
 * The meters of one host, and the last words about generations that are over: a run that ends to make room for the
 * next is named in reports, with its final counters, until the server has acknowledged one of them.
 */
export class Meters {
  readonly #clock: Clock;
  readonly #meters = new Map<string, Meter>();
  readonly #finals = new Map<string, ObservedInstance>();

  constructor(clock: Clock, notes: Notes["meters"] | undefined) {
    this.#clock = clock;
    for (const [key, meter] of Object.entries(notes ?? {})) this.#meters.set(key, { ...meter, anchor: null });
  }

  /** Counts up to this moment. A container that has not run in its present generation counts nothing. */
  count(own: OwnContainer, traffic: Traffic | null = null): void {
    const { id, phase, started_at_ms, finished_at_ms } = own.container;
    if (!own.has_begun || started_at_ms === null) return;
    const key = meterKey(own.instance_id, own.generation);
    const run = { run_key: `${id}@${started_at_ms}`, started_at_ms, monotonic_ms: this.#clock.monotonicMs() };
    const before = this.#meters.get(key);
    const meter =
      phase === "running"
        ? meterRunning(before, { ...run, now_ms: this.#clock.now().getTime(), traffic })
        : meterEnded(before, { ...run, finished_at_ms: finished_at_ms ?? started_at_ms });
    if (meter) this.#meters.set(key, meter);
  }

  counters(instance_id: number, generation: number): Counters {
    return totalOf(this.#meters.get(meterKey(instance_id, generation)));
  }

  /** The generation of this container is over: `absent` when the container is gone, `stopped` when it goes on in a newer one. */
  finish(own: OwnContainer, state: "absent" | "stopped"): void {
    const key = meterKey(own.instance_id, own.generation);
    if (!this.#meters.has(key)) return;
    this.#finals.set(key, {
      instance_id: own.instance_id,
      generation: own.generation,
      state,
      status_msg: state === "absent" ? "nothing is left" : "stopped",
      ports: {},
      exit_code: state === "absent" ? null : own.container.exit_code,
      ssh_host_key: null,
      usage: null,
      counters: this.counters(own.instance_id, own.generation),
    });
  }

  finals(): ReadonlyMap<string, ObservedInstance> {
    return this.#finals;
  }

  forget(keys: readonly string[]): void {
    for (const key of keys) this.#finals.delete(key);
  }

  /** Drops the meters that no report will name again. */
  prune(kept: ReadonlySet<string>): void {
    for (const key of this.#meters.keys()) {
      if (!kept.has(key) && !this.#finals.has(key)) this.#meters.delete(key);
    }
  }

  notes(): Notes["meters"] {
    const notes: Notes["meters"] = {};
    for (const [key, { carried, run_key, started_at_ms, run }] of this.#meters) {
      notes[key] = { carried, run_key, started_at_ms, run };
    }
    return notes;
  }
}
