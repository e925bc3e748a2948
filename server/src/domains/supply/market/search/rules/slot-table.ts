import type { ColumnType, FilterScalar } from "../../../../../base/filters/filter.ts";
import { TextDictionary } from "./text-dictionary.ts";

const FIRST_CAPACITY = 64;

/** A column's value for a source. Absent values are null. */
export type ColumnDefinition<Source> = {
  readonly type: ColumnType;
  readonly of: (source: Source) => FilterScalar;
};

/** Numbers, times and booleans (1 and 0); an absent value is NaN. */
export type NumberColumn = { readonly kind: "number"; readonly type: ColumnType; values: Float64Array };
export type TextColumn = { readonly kind: "text"; readonly dictionary: TextDictionary; codes: Int32Array };
export type StoredColumn = NumberColumn | TextColumn;

/**
 * Rows in columns of typed arrays. A row is a slot: its number stays the same while the row lives, then another row
 * gets it. Growth doubles the arrays. Arrays are replaced when they grow, so no caller keeps one for long.
 */
export class SlotTable<Source, Name extends string = string> {
  readonly #columns: ReadonlyMap<string, StoredColumn>;
  readonly #parts: readonly (readonly [StoredColumn, (source: Source) => FilterScalar])[];
  readonly #unused: number[] = [];
  #capacity = FIRST_CAPACITY;
  #highest = 0;

  constructor(definitions: Readonly<Record<Name, ColumnDefinition<Source>>>) {
    const made = Object.entries<ColumnDefinition<Source>>(definitions).map(
      ([name, { type, of }]) => [name, newColumn(type, this.#capacity), of] as const,
    );
    this.#columns = new Map(made.map(([name, column]) => [name, column]));
    this.#parts = made.map(([, column, of]) => [column, of]);
  }

  /** Number of rows. */
  get size(): number {
    return this.#highest - this.#unused.length;
  }

  /** One more than the highest slot. */
  get end(): number {
    return this.#highest;
  }

  insert(source: Source): number {
    const slot = this.#unused.pop() ?? this.#highest++;
    if (slot >= this.#capacity) this.#grow();
    for (const [column, of] of this.#parts) {
      const value = of(source);
      if (column.kind === "number") column.values[slot] = value === null ? Number.NaN : Number(value);
      else column.codes[slot] = column.dictionary.take(value === null ? null : String(value));
    }
    return slot;
  }

  remove(slot: number): void {
    for (const [column] of this.#parts) {
      if (column.kind === "text") column.dictionary.release(column.codes[slot] ?? 0);
    }
    this.#unused.push(slot);
  }

  find(name: string): StoredColumn | undefined {
    return this.#columns.get(name);
  }

  numbers(name: Name): Float64Array {
    const column = this.#columns.get(name);
    if (column?.kind !== "number") throw new TypeError(`${name} is no column of numbers`);
    return column.values;
  }

  texts(name: Name): TextColumn {
    const column = this.#columns.get(name);
    if (column?.kind !== "text") throw new TypeError(`${name} is no column of texts`);
    return column;
  }

  #grow(): void {
    this.#capacity *= 2;
    for (const column of this.#columns.values()) {
      if (column.kind === "number") column.values = grown(column.values, new Float64Array(this.#capacity));
      else column.codes = grown(column.codes, new Int32Array(this.#capacity));
    }
  }
}

function newColumn(type: ColumnType, capacity: number): StoredColumn {
  if (type === "text") return { kind: "text", dictionary: new TextDictionary(), codes: new Int32Array(capacity) };
  return { kind: "number", type, values: new Float64Array(capacity) };
}

function grown<Values extends Float64Array | Int32Array>(values: Values, larger: Values): Values {
  larger.set(values);
  return larger;
}
