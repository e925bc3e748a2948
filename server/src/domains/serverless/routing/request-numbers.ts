import { invariant } from "../../../base/invariant.ts";
import { LANES } from "./reqnum.ts";

/** Numbers that a server takes at once. */
export const NUMBERS_PER_BLOCK = 2_000;

/**
 * The numbers of an endpoint's requests that this process may give. They come in blocks, so that several servers never
 * give the same one; a number below the end of the last block that anybody took may be in a client's hands.
 */
export class RequestNumbers {
  private readonly blocks: { next: number; readonly end: number }[] = [];
  private knownEnd = 1;
  private currentLane = 0;

  /** Every number from 1: for one router alone, such as in a simulation. */
  static unlimited(): RequestNumbers {
    const numbers = new RequestNumbers();
    numbers.add(1, Number.MAX_SAFE_INTEGER);
    return numbers;
  }

  get left(): number {
    return this.blocks.reduce((sum, { next, end }) => sum + end - next, 0);
  }

  /** Numbers from `start` until before `end` are this process's. */
  add(start: number, end: number): void {
    if (this.blocks.length === 0) this.currentLane = laneOf(end);
    this.blocks.push({ next: start, end });
    this.learnEnd(end);
  }

  /** Another one than that of any server which gives numbers of another block, as far as lanes go round. */
  get lane(): number {
    return this.currentLane;
  }

  /** Numbers before `end` were taken by some server. */
  learnEnd(end: number): void {
    this.knownEnd = Math.max(this.knownEnd, end);
  }

  take(): number {
    const [block] = this.blocks;
    invariant(block !== undefined, "numbers are fetched before they run out");
    const taken = block.next;
    block.next += 1;
    if (block.next >= block.end) {
      this.blocks.shift();
      const [following] = this.blocks;
      if (following !== undefined) this.currentLane = laneOf(following.end);
    }
    return taken;
  }

  /** Whether a client can have got it, as far as this process knows. */
  mayBeGiven(idx: number): boolean {
    if (!Number.isSafeInteger(idx) || idx < 1 || idx >= this.knownEnd) return false;
    return !this.blocks.some(({ next, end }) => idx >= next && idx < end);
  }
}

function laneOf(end: number): number {
  return Math.floor(end / NUMBERS_PER_BLOCK) % LANES;
}
