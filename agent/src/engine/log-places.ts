export type LogPlace = { readonly latestNs: bigint; readonly laterCount: number };

/** Reads a place of the protocol, whose form the decoder has checked. */
export function parseLogPlace(text: string): LogPlace {
  const [latestNs = "0", laterCount = "0"] = text.split("-");
  return { latestNs: BigInt(latestNs), laterCount: Number(laterCount) };
}

type Counted = { readonly place: string; readonly isKnown: boolean; readonly isBehindGap: boolean };

/**
 * Gives each piece of a log its place, and says which pieces a reader knows who has come to a place before. The log has to
 * be read in the order in which it was written, from that place's time or earlier. The first piece at or after a time is
 * always the same one, so places mean the same in each reading.
 */
export class LogPlaces {
  readonly #after: LogPlace | undefined;
  #latestNs = -1n;
  #laterCount = 0;
  /** Pieces that are still to be skipped; undefined once a piece is new. */
  #knownLeft: number | undefined;
  #isAtStart = true;

  constructor(after?: LogPlace) {
    this.#after = after;
    this.#knownLeft = after?.laterCount;
  }

  take(atNs: bigint): Counted {
    if (atNs > this.#latestNs) {
      this.#latestNs = atNs;
      this.#laterCount = 0;
    } else this.#laterCount += 1;
    const place = `${this.#latestNs}-${this.#laterCount}`;
    if (this.#after === undefined) return { place, isKnown: false, isBehindGap: false };
    return { place, ...this.#compare(atNs, this.#after) };
  }

  #compare(atNs: bigint, { latestNs }: LogPlace): Omit<Counted, "place"> {
    if (this.#isAtStart) {
      if (atNs < latestNs) return { isKnown: true, isBehindGap: false };
      this.#isAtStart = false;
      if (atNs === latestNs) return { isKnown: true, isBehindGap: false };
      this.#knownLeft = undefined;
      return { isKnown: false, isBehindGap: true };
    }
    // An engine may leave out earlier pieces that were written late: what is later than the place is never a known one.
    if (this.#knownLeft === undefined || this.#knownLeft === 0 || atNs > latestNs) {
      this.#knownLeft = undefined;
      return { isKnown: false, isBehindGap: false };
    }
    this.#knownLeft -= 1;
    return { isKnown: true, isBehindGap: false };
  }
}
