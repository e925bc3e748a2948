import type { ObservedInstance } from "../wire/messages.ts";
import type { Clock } from "../base/clock.ts";
import type { Traffic } from "../engine/engine.ts";
import type { OwnContainer } from "../instances/identity.ts";
import { meterEnded, meterRunning, totalOf, type Counters, type Meter } from "./meter.ts";
import type { Notes } from "../instances/notes.ts";

/** Names one generation of one instance. */
export function meterKey(instanceId: number, generation: number): string {
  return `${instanceId}:${generation}`;
}

/** Names one run of one container: from a start to its end. */
export function runKey(containerId: string, startedAtMs: number): string {
  return `${containerId}@${startedAtMs}`;
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
    const { id, phase, startedAtMs, finishedAtMs } = own.container;
    if (!own.hasBegun || startedAtMs === null) return;
    const key = meterKey(own.instanceId, own.generation);
    const run = { runKey: runKey(id, startedAtMs), startedAtMs, monotonicMs: this.#clock.monotonicMs() };
    const before = this.#meters.get(key);
    const meter =
      phase === "running"
        ? meterRunning(before, { ...run, nowMs: this.#clock.now().getTime(), traffic })
        : meterEnded(before, { ...run, finishedAtMs: finishedAtMs ?? startedAtMs });
    if (meter) this.#meters.set(key, meter);
  }

  /** Counts traffic that passed beside the container, for a generation that has run. */
  addTraffic(instanceId: number, generation: number, { receivedBytes, sentBytes }: Traffic): void {
    const key = meterKey(instanceId, generation);
    const meter = this.#meters.get(key);
    if (meter === undefined) return;
    const { carried } = meter;
    this.#meters.set(key, {
      ...meter,
      carried: {
        ...carried,
        receivedBytes: carried.receivedBytes + receivedBytes,
        sentBytes: carried.sentBytes + sentBytes,
      },
    });
  }

  counters(instanceId: number, generation: number): Counters {
    return totalOf(this.#meters.get(meterKey(instanceId, generation)));
  }

  /** The generation of this container is over: `absent` when the container is gone, `stopped` when it goes on in a newer one. */
  finish(own: OwnContainer, state: "absent" | "stopped"): void {
    this.#finish(own, state, state === "absent" ? null : own.container.exitCode);
  }

  /**
   * Ends the meters of older generations of this container: an earlier agent may not have reported them to their end.
   */
  finishOlder({ instanceId, generation }: OwnContainer): void {
    for (const key of this.#meters.keys()) {
      const [instance, counted] = key.split(":").map(Number);
      const isOlder = instance === instanceId && counted !== undefined && counted < generation;
      if (isOlder && !this.#finals.has(key)) this.#finish({ instanceId, generation: counted }, "stopped", null);
    }
  }

  #finish(
    { instanceId, generation }: Pick<OwnContainer, "instanceId" | "generation">,
    state: "absent" | "stopped",
    exitCode: number | null,
  ): void {
    const key = meterKey(instanceId, generation);
    if (!this.#meters.has(key)) return;
    this.#finals.set(key, {
      ...{ instanceId, generation, state, exitCode },
      statusMsg: state === "absent" ? "nothing is left" : "stopped",
      ports: {},
      sshHostKey: null,
      usage: null,
      counters: this.counters(instanceId, generation),
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
    for (const [key, { carried, runKey, startedAtMs, run }] of this.#meters) {
      meters[key] = { carried, runKey, startedAtMs, run };
    }
    return { meters, finals: Object.fromEntries(this.#finals) };
  }
}
