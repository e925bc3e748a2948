import type { Measurements } from "../../../../../protocol/index.ts";
import type { Clock } from "../../../base/clock.ts";
import type { MachineId } from "../../../base/ids.ts";
import type { Database } from "../../../db/connect.ts";
import { sampleOf } from "./rules/reading.ts";
import { placeSample, type Placed } from "./rules/slot.ts";
import { QUARTER_S, SAMPLE_S } from "./rules/tiers.ts";
import { insertSamples, type Sample } from "./store.ts";

/** Samples that could not be stored for so long are dropped: their quarter of an hour may be rolled up already. */
const LATE_MS = 60_000;
/** A machine that was not heard for so long is forgotten. */
const FORGET_MS = QUARTER_S * 1000;

/**
 * Keeps the samples of machines that are connected to this server for some seconds, so that those of all machines are
 * stored by one statement. A sample is lost when the server dies before, which is a gap of ten seconds.
 */
export class MeasurementIntake {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #placed = new Map<MachineId, Placed>();
  #waiting: Sample[] = [];

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Takes a message; one that comes too soon after the one before changes nothing. */
  take(machineId: MachineId, message: Measurements, gpusOf: ReadonlyMap<number, readonly string[]>): void {
    const placed = placeSample(this.#placed.get(machineId), this.#clock.now().getTime());
    if (placed === undefined) return;
    this.#placed.set(machineId, placed);
    const takenAtMs = placed.slot * SAMPLE_S * 1000;
    this.#waiting.push({ machineId, takenAtMs, content: sampleOf(message, machineId, gpusOf) });
  }

  /** Stores what waits; what cannot be stored now waits for the next time. */
  async flush(): Promise<{ readonly stored: number; readonly dropped: number }> {
    const nowMs = this.#clock.now().getTime();
    for (const [id, { atMs }] of this.#placed) if (nowMs - atMs > FORGET_MS) this.#placed.delete(id);
    const taken = this.#waiting;
    this.#waiting = [];
    const samples = taken.filter(({ takenAtMs }) => nowMs - takenAtMs <= LATE_MS + SAMPLE_S * 1000);
    try {
      await insertSamples(this.#database.kysely, samples);
    } catch (error) {
      this.#waiting = [...samples, ...this.#waiting];
      throw error;
    }
    return { stored: samples.length, dropped: taken.length - samples.length };
  }
}
