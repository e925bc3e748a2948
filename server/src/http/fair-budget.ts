/** Bytes that one caller, and all callers together, may hold at a time. */
export type BudgetRule = { readonly callerBytesMax: number; readonly totalBytesMax: number };

type Held = { readonly caller: string; readonly bytes: number };

/**
 * Memory that callers share fairly: when it is full, the caller that holds most makes room for one that would hold less. A
 * caller therefore keeps others away only as long as it holds no more than they ask for.
 */
export class FairBudget<Item> {
  /** Items that are held, oldest first. */
  readonly #held = new Map<Item, Held>();
  readonly #ofCallers = new Map<string, number>();
  #total = 0;
  readonly #rule: BudgetRule;
  readonly #evict: (item: Item) => void;

  /** `evict` ends what an item stands for; its bytes are free already when it is called. */
  constructor(rule: BudgetRule, evict: (item: Item) => void) {
    this.#rule = rule;
    this.#evict = evict;
  }

  /** Counts an item until it is released; false when its caller, or all callers together, hold too much. */
  take(item: Item, { caller, bytes }: Held): boolean {
    const ofCaller = (this.#ofCallers.get(caller) ?? 0) + bytes;
    if (ofCaller > this.#rule.callerBytesMax) return false;
    while (this.#total + bytes > this.#rule.totalBytesMax) if (!this.#makeRoom(ofCaller)) return false;
    this.#held.set(item, { caller, bytes });
    this.#ofCallers.set(caller, ofCaller);
    this.#total += bytes;
    return true;
  }

  /** Frees the bytes of an item; safe to repeat. */
  release(item: Item): void {
    const found = this.#held.get(item);
    if (found === undefined) return;
    this.#held.delete(item);
    this.#total -= found.bytes;
    const left = (this.#ofCallers.get(found.caller) ?? 0) - found.bytes;
    if (left > 0) this.#ofCallers.set(found.caller, left);
    else this.#ofCallers.delete(found.caller);
  }

  /** Evicts the oldest item of the caller that holds most; false when no caller holds more than `newcomerBytes`. */
  #makeRoom(newcomerBytes: number): boolean {
    let [largest, most] = ["", newcomerBytes];
    for (const [caller, bytes] of this.#ofCallers) if (bytes > most) [largest, most] = [caller, bytes];
    for (const [item, { caller }] of this.#held) {
      if (caller !== largest) continue;
      this.release(item);
      this.#evict(item);
      return true;
    }
    return false;
  }
}
