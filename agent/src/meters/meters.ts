import type { ObservedInstance } from "../../../protocol/index.ts";
import type { Clock } from "../base/clock.ts";
import type { Traffic } from "../engine/engine.ts";
import type { OwnContainer } from "../instances/identity.ts";
import { meterEnded, meterRunning, totalOf, type Counters, type Meter } from "./meter.ts";
import type { Notes } from "../instances/notes.ts";

/** Names one generation of one instance. */
export function meterKey(instance_id: number, generation: number): string {
  return `${instance_id}:${generation}`;
}

/** Names one run of one container: from a start to its end. */
export function runKey(container_id: string, started_at_ms: number): string {
  return `${container_id}@${started_at_ms}`;
}

/**
 * The meters of one host, and the last words about generations that are over: a run that ends to make room for the
 * next is named in reports, with its final counters, until the server has acknowledged one of them.
 */
export class Meters {
  readonly #clock: Clock;
  readonly #meters = new Map<string, Meter>();
  readonly #finals = new Map<string, ObservedInstance>();

  constructor(clock: Clock, notes: Pick<Notes, "meters" | "finals"> | undefined) {
    this.#clock = clock;
    for (const [key, meter] of Object.entries(notes?.meters ?? {})) this.#meters.set(key, { ...meter, anchor: null });
    for (const [key, final] of Object.entries(notes?.finals ?? {})) this.#finals.set(key, final);
  }

  /** Counts up to this moment. A container that has not run in its present generation counts nothing. */
  count(own: OwnContainer, traffic: Traffic | null = null): void {
    const { id, phase, started_at_ms, finished_at_ms } = own.container;
    if (!own.has_begun || started_at_ms === null) return;
    const key = meterKey(own.instance_id, own.generation);
    const run = { run_key: runKey(id, started_at_ms), started_at_ms, monotonic_ms: this.#clock.monotonicMs() };
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
    this.#finish(own, state, state === "absent" ? null : own.container.exit_code);
  }

  /** This container goes on from generations that an earlier agent counted, and may not have told to their end. */
  finishOlder({ instance_id, generation }: OwnContainer): void {
    for (const key of this.#meters.keys()) {
      const [instance, counted] = key.split(":").map(Number);
      const isOlder = instance === instance_id && counted !== undefined && counted < generation;
      if (isOlder && !this.#finals.has(key)) this.#finish({ instance_id, generation: counted }, "stopped", null);
    }
  }

  #finish(
    { instance_id, generation }: Pick<OwnContainer, "instance_id" | "generation">,
    state: "absent" | "stopped",
    exit_code: number | null,
  ): void {
    const key = meterKey(instance_id, generation);
    if (!this.#meters.has(key)) return;
    this.#finals.set(key, {
      ...{ instance_id, generation, state, exit_code },
      status_msg: state === "absent" ? "nothing is left" : "stopped",
      ports: {},
      ssh_host_key: null,
      usage: null,
      counters: this.counters(instance_id, generation),
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

  notes(): Pick<Notes, "meters" | "finals"> {
    const meters: Notes["meters"] = {};
    for (const [key, { carried, run_key, started_at_ms, run }] of this.#meters) {
      meters[key] = { carried, run_key, started_at_ms, run };
    }
    return { meters, finals: Object.fromEntries(this.#finals) };
  }
}
