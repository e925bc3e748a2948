import type { SortKey } from "../../../../../base/filters/filter.ts";
import type { Source } from "./offer-columns.ts";
import type { OfferIndex } from "./offer-index.ts";

/** An offer of an answer, and the number of equal offers that it stands for. */
export type RankedOffer = { readonly slot: number; readonly count: number };

/** Negative when the offer in the first place comes before the one in the second. */
type Compare = (left: number, right: number) => number;

type Selection = { readonly slots: Int32Array; readonly count: number };

/** The key by which equal offers become one row: a stored number, and the flags that the caller sees now. */
export type Bundling = {
  readonly bundles: Float64Array;
  readonly flagsOf: (slot: number) => number;
};

/**
 * The first `limit` of these offers in the order of the keys, then of their ids. With `bundling`, equal offers are one
 * row, the first of them, and the limit counts rows.
 */
export function rankOffers(
  index: OfferIndex,
  selection: Selection,
  options: {
    readonly order: readonly SortKey[];
    readonly limit: number;
    readonly columnOf: (name: string) => Source;
    readonly bundling: Bundling | undefined;
  },
): readonly RankedOffer[] {
  const { order, limit, columnOf, bundling } = options;
  const { compare, first } = orderPlaces(index, selection, order, columnOf);
  const { slots, count } = selection;
  const keyOf =
    bundling === undefined ? (place: number) => place : (place: number) => bundleOf(bundling, slots[place] ?? 0);
  const firsts = firstPlaces({ count, limit, compare, first, keyOf }).map((place) => slots[place] ?? 0);
  if (bundling === undefined) return firsts.map((slot) => ({ slot, count: 1 }));
  return countEqual(selection, firsts, bundling);
}

/** Flags that keep an offer apart from its equals: a rented offer hides none that can be rented. */
const FLAGS = 4;

function bundleOf({ bundles, flagsOf }: Bundling, slot: number): number {
  return (bundles[slot] ?? 0) * FLAGS + flagsOf(slot);
}

const EMPTY = -1;

/** Counts, among all selected offers, those that each of these few rows stands for. */
function countEqual({ slots, count }: Selection, firsts: readonly number[], bundling: Bundling) {
  const { bundles, flagsOf } = bundling;
  let size = 64;
  while (size < firsts.length * 8) size *= 2;
  const mask = size - 1;
  const buckets = new Int32Array(size).fill(EMPTY);
  const counts = new Int32Array(firsts.length);
  for (const [row, slot] of firsts.entries()) {
    // The numbers are digests already: their lowest bits are as good as any.
    let bucket = (bundles[slot] ?? 0) & mask;
    while (buckets[bucket] !== EMPTY) bucket = (bucket + 1) & mask;
    buckets[bucket] = row;
  }
  for (let place = 0; place < count; place += 1) {
    const slot = slots[place] ?? 0;
    const bundle = bundles[slot] ?? 0;
    for (let bucket = bundle & mask, row = buckets[bucket] ?? EMPTY; row !== EMPTY; row = buckets[bucket] ?? EMPTY) {
      const first = firsts[row] ?? 0;
      if (bundles[first] === bundle && flagsOf(first) === flagsOf(slot)) counts[row] = (counts[row] ?? 0) + 1;
      bucket = (bucket + 1) & mask;
    }
  }
  return firsts.map((slot, row) => ({ slot, count: counts[row] ?? 1 }));
}

/**
 * Compares places of the selection; absent values are last in either direction. The first key is computed once for each
 * place; the others only where the first is equal.
 */
function orderPlaces(
  index: OfferIndex,
  selection: Selection,
  order: readonly SortKey[],
  columnOf: (name: string) => Source,
): { readonly compare: Compare; readonly first: Float64Array } {
  const keys = order.flatMap(({ column, direction }): readonly Key[] => {
    const source = columnOf(column);
    return source.kind === "constant" ? [] : [{ source, sign: direction === "asc" ? 1 : -1 }];
  });
  const [main, ...further] = keys;
  const first = index.scratch.keys(selection.count);
  if (main === undefined) first.fill(0, 0, selection.count);
  else fillKeys(index, selection, main, first);
  const others = further.map((key) => keyAt(index, key));
  const ids = index.offers.numbers("id");
  const { slots } = selection;
  const compare: Compare = (left, right) => {
    const difference = (first[left] ?? 0) - (first[right] ?? 0);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
    const [slot, other] = [slots[left] ?? 0, slots[right] ?? 0];
    for (const at of others) {
      const next = at(slot) - at(other);
      if (next !== 0 && !Number.isNaN(next)) return next;
    }
    return (ids[slot] ?? 0) - (ids[other] ?? 0);
  };
  return { compare, first };
}

type Varying = Exclude<Source, { kind: "constant" }>;
type Key = { readonly source: Varying; readonly sign: 1 | -1 };

function fillKeys(index: OfferIndex, { slots, count }: Selection, key: Key, into: Float64Array): void {
  const { source, sign } = key;
  if (source.kind === "computed" && source.fill !== undefined) {
    source.fill(slots, count, into);
    for (let place = 0; place < count; place += 1) into[place] = (into[place] ?? 0) * sign;
    return;
  }
  const at = keyAt(index, key);
  for (let place = 0; place < count; place += 1) into[place] = at(slots[place] ?? 0);
}

/** A number for each offer's slot; ascending order is the order of the offers. */
function keyAt({ machineOf }: OfferIndex, { source, sign }: Key): (slot: number) => number {
  const at = valueAt(source);
  const { ofMachine } = source;
  return (slot) => {
    const value = at(ofMachine ? (machineOf[slot] ?? 0) : slot);
    return Number.isNaN(value) || value === Infinity ? Infinity : value * sign;
  };
}

function valueAt(source: Varying): (slot: number) => number {
  switch (source.kind) {
    case "computed":
      return source.at;
    case "numbers": {
      const { values } = source;
      return (slot) => values[slot] ?? 0;
    }
    case "texts": {
      const { codes, dictionary } = source;
      const ranks = dictionary.ranks();
      return (slot) => ranks[codes[slot] ?? 0] ?? 0;
    }
  }
}

/**
 * The first `limit` of these places in order, only the first of those with the same key. A place that can no longer be
 * among them costs one comparison.
 */
function firstPlaces(options: {
  readonly count: number;
  readonly limit: number;
  readonly compare: Compare;
  /** The first of the keys that are compared. */
  readonly first: Float64Array;
  readonly keyOf: (place: number) => number;
}): readonly number[] {
  const { count, limit, compare, first, keyOf } = options;
  if (limit === 0) return [];
  const best = new BestPlaces(compare, keyOf);
  let place = 0;
  for (; place < count && best.size < limit; place += 1) best.add(place);
  let bound = first[best.last] ?? 0;
  for (; place < count; place += 1) {
    if ((first[place] ?? 0) > bound || compare(place, best.last) >= 0) continue;
    best.add(place, true);
    bound = first[best.last] ?? 0;
  }
  return best.sorted();
}

/** A heap of the best places so far with the last at its root; it knows the position of each key. */
class BestPlaces {
  readonly #heap: number[] = [];
  readonly #whereKey = new Map<number, number>();
  readonly #compare: Compare;
  readonly #keyOf: (place: number) => number;

  constructor(compare: Compare, keyOf: (place: number) => number) {
    this.#compare = compare;
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** The last of the best places; call it only while there is one. */
  get last(): number {
    return this.#heap[0] ?? 0;
  }

  /** Adds a place unless an earlier one has its key; with `isFull`, drops the last to make room. */
  add(place: number, isFull = false): void {
    const key = this.#keyOf(place);
    const at = this.#whereKey.get(key);
    if (at !== undefined) {
      if (this.#compare(place, this.#heap[at] ?? 0) < 0) this.#sink(at, place, key);
    } else if (isFull) {
      this.#whereKey.delete(this.#keyOf(this.last));
      this.#sink(0, place, key);
    } else this.#rise(this.#heap.length, place, key);
  }

  sorted(): readonly number[] {
    return this.#heap.toSorted(this.#compare);
  }

  #put(at: number, place: number, key: number): void {
    this.#heap[at] = place;
    this.#whereKey.set(key, at);
  }

  #rise(from: number, place: number, key: number): void {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = this.#heap[above] ?? 0;
      if (this.#compare(other, place) >= 0) break;
      this.#put(at, other, this.#keyOf(other));
      at = above;
    }
    this.#put(at, place, key);
  }

  #sink(from: number, place: number, key: number): void {
    const heap = this.#heap;
    const compare = this.#compare;
    let at = from;
    for (;;) {
      let below = at * 2 + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && compare(heap[below + 1] ?? 0, heap[below] ?? 0) > 0) below += 1;
      const other = heap[below] ?? 0;
      if (compare(other, place) <= 0) break;
      this.#put(at, other, this.#keyOf(other));
      at = below;
    }
    this.#put(at, place, key);
  }
}
