import type { DesiredVolume, ObservedVolume } from "../wire/messages.ts";
import type { Disks } from "../disks/index.ts";

/** Brings the volumes of one host to the desired set, one look at a time, and remembers the last look. */
export class VolumeKeeper {
  readonly #disks: Disks;
  readonly #onChange: () => void;
  #desired: readonly DesiredVolume[] | undefined;
  #observed: readonly ObservedVolume[] = [];
  #isDue = false;
  #running: Promise<void> | undefined;

  constructor(disks: Disks, onChange: () => void) {
    this.#disks = disks;
    this.#onChange = onChange;
  }

  get observed(): readonly ObservedVolume[] {
    return this.#observed;
  }

  set(desired: readonly DesiredVolume[]): void {
    this.#desired = desired;
    this.look();
  }

  /** Looks again when a while has passed, so that a failed volume is tried again. */
  look(): void {
    if (this.#desired === undefined) return;
    this.#isDue = true;
    this.#running ??= this.#runWhileDue().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when the volumes that were desired at the call have been looked at. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #runWhileDue(): Promise<void> {
    while (this.#isDue && this.#desired) {
      this.#isDue = false;
      const before = JSON.stringify(this.#observed.map(({ usedBytes: _, ...seen }) => seen));
      this.#observed = await this.#disks.reconcileVolumes(this.#desired);
      const after = JSON.stringify(this.#observed.map(({ usedBytes: _, ...seen }) => seen));
      if (before !== after) this.#onChange();
    }
  }
}
