import type { ColumnType, FilterScalar } from "./filter.ts";

/**
 * `strict` takes a value of the column's type, or text that holds a number or a boolean. `loose` also takes a fraction
 * for an integer, 0 and 1 for a boolean, a boolean for a number and a number for a text, as clients of offers send.
 */
export type Casting = "strict" | "loose";

const TEXT_LENGTH_MAX = 4096;
const NUMBER_TEXT = /^[+-]?(?:\d{1,64}(?:\.\d{0,64})?|\.\d{1,64})(?:[eE][+-]?\d{1,4})?$/;

const EXPECTED: Readonly<Record<ColumnType, string>> = {
  integer: "an integer",
  number: "a number",
  time: "a number of seconds since 1970",
  boolean: "true or false",
  text: "a text",
};

/** The values that a column of this type accepts, in words for an error message. */
export function describeType(type: ColumnType): string {
  return EXPECTED[type];
}

/** The value in the column's type, or undefined when it is none of that type. Never null: null has no type. */
export function castValue(value: unknown, type: ColumnType, casting: Casting): Exclude<FilterScalar, null> | undefined {
  switch (type) {
    case "integer": {
      const number = castNumber(value, casting);
      return number === undefined || casting === "loose" || Number.isSafeInteger(number) ? number : undefined;
    }
    case "number":
    case "time":
      return castNumber(value, casting);
    case "boolean":
      return castBoolean(value, casting);
    case "text":
      return castText(value, casting);
  }
}

function castNumber(value: unknown, casting: Casting): number | undefined {
  if (typeof value === "boolean") return casting === "loose" ? Number(value) : undefined;
  const number = typeof value === "string" && NUMBER_TEXT.test(value.trim()) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) return undefined;
  return number === 0 ? 0 : number; // Minus zero would be a second zero for sets and databases.
}

function castBoolean(value: unknown, casting: Casting): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (value === "true" || value === "True") return true;
  if (value === "false" || value === "False") return false;
  if (casting === "strict") return undefined;
  if (value === 1 || value === "1") return true;
  return value === 0 || value === "0" ? false : undefined;
}

function castText(value: unknown, casting: Casting): string | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return casting === "loose" ? String(value) : undefined;
  if (typeof value !== "string" || value.length > TEXT_LENGTH_MAX) return undefined;
  // Neither NUL nor half a surrogate pair can be in any stored text, and a database refuses to compare with them.
  return value.includes("\0") || !value.isWellFormed() ? undefined : value;
}
