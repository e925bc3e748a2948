/**
 * Arrays that a search works in, kept from one search to the next: at a million offers it takes longer to allocate and
 * clear new ones than to search. A search runs without interruption, so that one set is enough; nothing in them
 * outlives it.
 */
export class Scratch {
  #machineSlots = new Int32Array(0);
  #offerSlots = new Int32Array(0);
  #firstKeys = new Float64Array(0);

  machines(size: number): Int32Array {
    if (this.#machineSlots.length < size) this.#machineSlots = new Int32Array(roomFor(size));
    return this.#machineSlots;
  }

  offers(size: number): Int32Array {
    if (this.#offerSlots.length < size) this.#offerSlots = new Int32Array(roomFor(size));
    return this.#offerSlots;
  }

  keys(size: number): Float64Array {
    if (this.#firstKeys.length < size) this.#firstKeys = new Float64Array(roomFor(size));
    return this.#firstKeys;
  }
}

/** A quarter more than needed now, so that a growing market does not get new arrays for each search. */
function roomFor(size: number): number {
  return Math.ceil(size * 1.25) + 64;
}
