import type { MachineId, OfferId } from "../../base/ids.ts";
import { stateFrame } from "./rules/frames.ts";

/** Machines named one by one in a look; with more of them, a client reads its search again. */
const MACHINES_MAX = 50;

/** Gathers machines whose offers changed, for the frames that all followers of offers share. */
export class OfferChanges {
  readonly #machineIds = new Set<MachineId>();
  readonly #offersOf: (machineId: MachineId) => readonly OfferId[];

  /** `offersOf` answers with the present offers of a machine, as searches see them. */
  constructor(offersOf: (machineId: MachineId) => readonly OfferId[]) {
    this.#offersOf = offersOf;
  }

  note(machineIds: readonly MachineId[]): void {
    for (const id of machineIds) if (this.#machineIds.size <= MACHINES_MAX) this.#machineIds.add(id);
  }

  /** The frames for what changed since the last call; empty when nothing did. */
  take(): string {
    const ids = [...this.#machineIds];
    this.#machineIds.clear();
    if (ids.length > MACHINES_MAX) return manyOffersFrame();
    return ids.map((id) => this.#frameOf(id)).join("");
  }

  #frameOf(id: MachineId): string {
    const offerIds = this.#offersOf(id);
    return stateFrame("offer", { id, change: offerIds.length === 0 ? "deleted" : "changed", offer_ids: offerIds });
  }
}

/** Tells a client that any offer may have changed. */
export function manyOffersFrame(): string {
  return stateFrame("offer", { id: null, change: "changed" });
}
