import type { DesiredInstance } from "../wire/messages.ts";
import { backOffDelay, type BackOff } from "../base/back-off.ts";
import type { Clock } from "../base/clock.ts";
import type { EngineFailure } from "../engine/engine.ts";
import type { Setback } from "./observe.ts";

const RETRY: BackOff = { firstMs: 1_000, limitMs: 60_000 };

type Entry = Setback & {
  readonly attempts: number;
  readonly retryAtMs: number;
  /** The order at the time of the setback; another order has no part in it. */
  readonly ordered: DesiredInstance["run"] | undefined;
};

/** Attempts that did not succeed, by instance: their messages, and the times of the next attempts. */
export class Setbacks {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #entries = new Map<number, Entry>();

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  get all(): ReadonlyMap<number, Setback> {
    return this.#entries;
  }

  /** Each setback of the same order in a row doubles the time until the next attempt. */
  note(
    instanceId: number,
    { generation, failure }: { readonly generation: number; readonly failure: EngineFailure },
    ordered: DesiredInstance["run"] | undefined,
  ): void {
    const fault = failure.fault ?? (failure.kind === "unreachable" ? "host" : undefined);
    const setback: Setback = { generation, message: failure.message, ...(fault ? { fault } : {}) };
    const attempts = this.#entries.get(instanceId)?.attempts ?? 0;
    const retryAtMs = this.#clock.monotonicMs() + backOffDelay(RETRY, attempts, this.#random());
    this.#entries.set(instanceId, { ...setback, ordered, attempts: attempts + 1, retryAtMs });
  }

  isWaiting(instanceId: number): boolean {
    const entry = this.#entries.get(instanceId);
    return entry !== undefined && this.#clock.monotonicMs() < entry.retryAtMs;
  }

  forget(instanceId: number): void {
    this.#entries.delete(instanceId);
  }

  forgetAll(): void {
    this.#entries.clear();
  }

  /** Forgets the setbacks of orders that are no longer given. */
  keepOnly(orders: ReadonlyMap<number, DesiredInstance>): void {
    for (const [instanceId, entry] of this.#entries) {
      const order = orders.get(instanceId);
      if (order?.run !== entry.ordered || order?.generation !== entry.generation) this.#entries.delete(instanceId);
    }
  }
}
