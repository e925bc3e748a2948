/** Future events, earliest first; events of the same time are in the order in which they were planned. */
export class EventQueue<Event> {
  readonly #heap: { readonly atMs: number; readonly sequence: number; readonly event: Event }[] = [];
  #plannedCount = 0;

  get nextAtMs(): number {
    return this.#heap[0]?.atMs ?? Infinity;
  }

  plan(atMs: number, event: Event): void {
    this.#plannedCount += 1;
    const entry = { atMs, sequence: this.#plannedCount, event };
    let place = this.#heap.length;
    this.#heap.push(entry);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.#heap[parent];
      if (above === undefined || isBefore(above, entry)) break;
      this.#heap[place] = above;
      place = parent;
    }
    this.#heap[place] = entry;
  }

  take(): Event | undefined {
    const [first] = this.#heap;
    const last = this.#heap.pop();
    if (first === undefined || last === undefined || this.#heap.length === 0) return first?.event;
    let place = 0;
    for (;;) {
      const [left, right] = [this.#heap[2 * place + 1], this.#heap[2 * place + 2]];
      if (left === undefined) break;
      const isRight = right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (isBefore(last, child)) break;
      this.#heap[place] = child;
      place = 2 * place + (isRight ? 2 : 1);
    }
    this.#heap[place] = last;
    return first.event;
  }
}

type Entry = { readonly atMs: number; readonly sequence: number };

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.sequence < b.sequence);
}
