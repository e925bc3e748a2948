import { invariant } from "../../../base/invariant.ts";
import { LANES } from "./reqnum.ts";

/** Numbers that a server takes at once. */
export const NUMBERS_PER_BLOCK = 2_000;

/**
 * The request numbers of an endpoint that this process may give. They come in blocks, so that two servers never give
 * the same number; a client may hold any number below the end of the last block that any server took.
 */
export class RequestNumbers {
  readonly #blocks: { next: number; readonly end: number }[] = [];
  #knownEnd = 1;
  #currentLane = 0;

  /** Has every number from 1 on: for one router alone, such as in a simulation. */
  static unlimited(): RequestNumbers {
    const numbers = new RequestNumbers();
    numbers.add(1, Number.MAX_SAFE_INTEGER);
    return numbers;
  }

  get left(): number {
    return this.#blocks.reduce((sum, { next, end }) => sum + end - next, 0);
  }

  /** Adds the numbers from `start` until before `end` to those of this process. */
  add(start: number, end: number): void {
    if (this.#blocks.length === 0) this.#currentLane = laneOf(end);
    this.#blocks.push({ next: start, end });
    this.learnEnd(end);
  }

  /** The lane of this process: servers with other blocks have other lanes, until the lanes wrap around. */
  get lane(): number {
    return this.#currentLane;
  }

  /** Learns that numbers before `end` were taken by some server. */
  learnEnd(end: number): void {
    this.#knownEnd = Math.max(this.#knownEnd, end);
  }

  take(): number {
    const [block] = this.#blocks;
    invariant(block !== undefined, "numbers are fetched before they run out");
    const taken = block.next;
    block.next += 1;
    if (block.next >= block.end) {
      this.#blocks.shift();
      const [following] = this.#blocks;
      if (following !== undefined) this.#currentLane = laneOf(following.end);
    }
    return taken;
  }

  /** True if a client may hold this number, as far as this process knows. */
  mayBeGiven(idx: number): boolean {
    if (!Number.isSafeInteger(idx) || idx < 1 || idx >= this.#knownEnd) return false;
    return !this.#blocks.some(({ next, end }) => idx >= next && idx < end);
  }
}

function laneOf(end: number): number {
  return Math.floor(end / NUMBERS_PER_BLOCK) % LANES;
}
