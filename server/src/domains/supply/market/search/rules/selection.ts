import { compareScalars, compileFilter } from "../../../../../base/filters/compile-filter.ts";
import type { Filter, FilterScalar } from "../../../../../base/filters/filter.ts";
import type { Source } from "./offer-columns.ts";
import type { OfferIndex } from "./offer-index.ts";
import { NO_TEXT, type TextDictionary } from "./text-dictionary.ts";

const SAMPLE_SIZE = 64;

/** The remaining slots, in the first places of an array. */
type Selection = { readonly slots: Int32Array; count: number };

type Condition = {
  readonly ofMachine: boolean;
  readonly isComputed: boolean;
  /** Moves the slots that meet the condition to the front, and returns their number. */
  readonly keep: (slots: Int32Array, count: number) => number;
};

/**
 * The slots of the offers that meet all conditions. Conditions on machines come first, since they decide many offers at
 * once; within each kind stored columns come before computed ones, and the most selective before the rest.
 */
export function selectOffers(
  index: OfferIndex,
  filters: readonly Filter[],
  columnOf: (name: string) => Source,
): { readonly slots: Int32Array; readonly count: number } {
  const conditions: Condition[] = [];
  for (const filter of filters.flatMap(split)) {
    const source = columnOf(filter.column);
    if (source.kind !== "constant") conditions.push(compile(filter, source));
    else if (!holdsFor(filter, source.value)) return { slots: new Int32Array(0), count: 0 };
  }
  const machines = { slots: index.scratch.machines(index.machines.end), count: 0 };
  machines.count = index.listMachines(machines.slots);
  narrow(
    machines,
    conditions.filter(({ ofMachine }) => ofMachine),
  );
  const offers = { slots: index.scratch.offers(index.offers.size), count: 0 };
  offers.count = index.listOffers(machines.slots, machines.count, offers.slots);
  narrow(
    offers,
    conditions.filter(({ ofMachine }) => !ofMachine),
  );
  return offers;
}

/**
 * A rentable offer is an available offer of an open machine; whether the machine is open is decided once for all its
 * offers.
 */
function split(filter: Filter): readonly Filter[] {
  if (filter.column !== "rentable" || filter.kind !== "compare") return [filter];
  if (filter.operator !== "eq" || filter.value !== true) return [filter];
  return [
    { ...filter, column: "is_open" },
    { ...filter, column: "is_available" },
  ];
}

function narrow(selection: Selection, conditions: readonly Condition[]): void {
  const sample = sampleOf(selection);
  const ranked = conditions
    .map((condition) => ({ condition, kept: condition.keep(sample.slice(), sample.length) }))
    .toSorted((a, b) => Number(a.condition.isComputed) - Number(b.condition.isComputed) || a.kept - b.kept);
  for (const { condition } of ranked) selection.count = condition.keep(selection.slots, selection.count);
}

function sampleOf({ slots, count }: Selection): Int32Array {
  if (count <= SAMPLE_SIZE) return slots.slice(0, count);
  const step = count / SAMPLE_SIZE;
  return Int32Array.from({ length: SAMPLE_SIZE }, (_, place) => slots[Math.floor(place * step)] ?? 0);
}

function holdsFor(filter: Filter, value: FilterScalar): boolean {
  const type = typeof value === "string" ? "text" : "number";
  return compileFilter<undefined>([filter], { [filter.column]: { type, get: () => value } })(undefined);
}

function compile(filter: Filter, source: Exclude<Source, { kind: "constant" }>): Condition {
  const { ofMachine } = source;
  if (source.kind === "texts") {
    return { ofMachine, isComputed: false, keep: keepTexts(source.codes, truthOfCodes(filter, source.dictionary)) };
  }
  const test = numericTest(filter);
  if (source.kind === "computed") return { ofMachine, isComputed: true, keep: keepComputed(source.at, test) };
  const keep = test.kind === "range" ? keepRange(source.values, test) : keepMatching(source.values, test.holds);
  return { ofMachine, isComputed: false, keep };
}

/** A condition on numbers: bounds, both included, or any other test. */
type NumericTest =
  | { readonly kind: "range"; readonly low: number; readonly high: number }
  | { readonly kind: "any"; readonly holds: (value: number) => boolean };

/** An absent number is NaN: it is within no bounds, and equal only to the absence that a set can hold. */
function numericTest(filter: Filter): NumericTest {
  if (filter.kind === "member") {
    const values = new Set(filter.values.map(numeric));
    const isIn = filter.operator === "in";
    return { kind: "any", holds: (value) => values.has(value) === isIn };
  }
  const value = numeric(filter.value);
  switch (filter.operator) {
    case "eq":
      if (Number.isNaN(value)) return { kind: "any", holds: Number.isNaN };
      return { kind: "range", low: value, high: value };
    case "neq":
      if (Number.isNaN(value)) return { kind: "any", holds: (other) => !Number.isNaN(other) };
      return { kind: "any", holds: (other) => other !== value };
    case "lt":
      return { kind: "range", low: -Infinity, high: below(value) };
    case "lte":
      return { kind: "range", low: -Infinity, high: value };
    case "gt":
      return { kind: "range", low: -below(-value), high: Infinity };
    case "gte":
      return { kind: "range", low: value, high: Infinity };
  }
}

function numeric(value: FilterScalar): number {
  return value === null ? Number.NaN : Number(value);
}

const float = new Float64Array(1);
const bits = new BigInt64Array(float.buffer);

/** The greatest number below this finite one: a number is at most that when it is less than this. */
export function below(value: number): number {
  if (value === 0) return -Number.MIN_VALUE;
  float[0] = value;
  bits[0] = (bits[0] ?? 0n) + (value > 0 ? -1n : 1n);
  return float[0];
}

/** The result of the condition for each code of the dictionary; one comparison for each distinct text. */
function truthOfCodes(filter: Filter, dictionary: TextDictionary): Uint8Array {
  const truth = new Uint8Array(dictionary.end);
  const mark = (values: readonly FilterScalar[], to: number) => {
    truth.fill(1 - to);
    for (const value of values) {
      const code = value === null ? NO_TEXT : dictionary.find(String(value));
      if (code !== undefined) truth[code] = to;
    }
    return truth;
  };
  if (filter.kind === "member") return mark(filter.values, filter.operator === "in" ? 1 : 0);
  const { operator, value } = filter;
  if (operator === "eq" || operator === "neq") return mark([value], operator === "eq" ? 1 : 0);
  for (let code = NO_TEXT + 1; code < truth.length; code += 1) {
    const text = dictionary.textOf(code);
    if (text !== null && value !== null && isOrdered(operator, compareScalars(text, value))) truth[code] = 1;
  }
  return truth;
}

function isOrdered(operator: "lt" | "lte" | "gt" | "gte", sign: number): boolean {
  if (sign === 0) return operator === "lte" || operator === "gte";
  return sign < 0 ? operator === "lt" || operator === "lte" : operator === "gt" || operator === "gte";
}

// The loops are alike and separate on purpose: each is compiled for the one kind of array and test that it sees.

function keepRange(values: Float64Array, { low, high }: { readonly low: number; readonly high: number }) {
  return (slots: Int32Array, count: number): number => {
    let kept = 0;
    for (let place = 0; place < count; place += 1) {
      const slot = slots[place] ?? 0;
      const value = values[slot] ?? 0;
      if (value >= low && value <= high) slots[kept++] = slot;
    }
    return kept;
  };
}

function keepMatching(values: Float64Array, holds: (value: number) => boolean) {
  return (slots: Int32Array, count: number): number => {
    let kept = 0;
    for (let place = 0; place < count; place += 1) {
      const slot = slots[place] ?? 0;
      if (holds(values[slot] ?? 0)) slots[kept++] = slot;
    }
    return kept;
  };
}

function keepComputed(at: (slot: number) => number, test: NumericTest) {
  const holds = test.kind === "range" ? (value: number) => value >= test.low && value <= test.high : test.holds;
  return (slots: Int32Array, count: number): number => {
    let kept = 0;
    for (let place = 0; place < count; place += 1) {
      const slot = slots[place] ?? 0;
      if (holds(at(slot))) slots[kept++] = slot;
    }
    return kept;
  };
}

function keepTexts(codes: Int32Array, truth: Uint8Array) {
  return (slots: Int32Array, count: number): number => {
    let kept = 0;
    for (let place = 0; place < count; place += 1) {
      const slot = slots[place] ?? 0;
      if (truth[codes[slot] ?? 0] === 1) slots[kept++] = slot;
    }
    return kept;
  };
}
