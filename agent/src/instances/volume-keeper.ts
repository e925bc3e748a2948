import type { DesiredVolume, ObservedVolume } from "../wire/messages.ts";
import type { Disks } from "../disks/index.ts";

/** Brings the volumes of one host to what is desired, one look at a time, and remembers what was seen. */
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

  /** Looks again: after a while, so that what did not work out is tried again. */
  look(): void {
    if (this.#desired === undefined) return;
    this.#isDue = true;
    this.#running ??= this.#runWhileDue().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when what was desired at the call has been looked at. */
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
