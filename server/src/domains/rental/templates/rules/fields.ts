import { invalid } from "../../../../base/errors.ts";

/** The members of a request body before validation. Null and absent are the same. */
export type Fields = Readonly<Record<string, unknown>>;

/** The member, or undefined when it is absent or null. Inherited names such as `constructor` count as absent. */
function memberOf(fields: Fields, field: string): unknown {
  return Object.hasOwn(fields, field) ? (fields[field] ?? undefined) : undefined;
}

export function isGiven(fields: Fields, field: string): boolean {
  return memberOf(fields, field) !== undefined;
}

/** A text member of at most `lengthMax` characters that a database and a container can hold. */
export function readText(fields: Fields, field: string, lengthMax: number): string | undefined {
  const value = memberOf(fields, field);
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalid(field, `${field} must be a text`);
  return checkText(value, field, lengthMax);
}

export function checkText(value: string, field: string, lengthMax: number): string {
  if (value.length > lengthMax) throw invalid(field, `${field} is longer than ${lengthMax} characters`);
  if (value.includes("\0")) throw invalid(field, `${field} contains a NUL character`);
  if (!value.isWellFormed()) throw invalid(field, `${field} is not valid Unicode text`);
  return value;
}

export function readBoolean(fields: Fields, field: string): boolean | undefined {
  const value = memberOf(fields, field);
  if (value === undefined || typeof value === "boolean") return value;
  throw invalid(field, `${field} must be true or false`);
}

/** A number, or text that holds one: some clients quote what their user typed. */
export function readNumber(
  fields: Fields,
  field: string,
  limits: { readonly min: number; readonly max: number },
): number | undefined {
  const value = memberOf(fields, field);
  if (value === undefined) return undefined;
  const isNumberText = typeof value === "string" && /^\s*[+-]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})\s*$/.test(value);
  const number = isNumberText ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) throw invalid(field, `${field} must be a number`);
  if (number < limits.min || number > limits.max) {
    throw invalid(field, `${field} must be between ${limits.min} and ${limits.max}`);
  }
  return number;
}

/** A member that is a JSON object, or text that holds one, of at most `lengthMax` characters as JSON. */
export function readObject(fields: Fields, field: string, lengthMax: number): Fields | undefined {
  const value = memberOf(fields, field);
  if (value === undefined || value === "") return undefined;
  const object = typeof value === "string" ? parseJson(value, field, lengthMax) : value;
  if (!isFields(object)) throw invalid(field, `${field} must be an object`);
  const text = JSON.stringify(object);
  if (text.length > lengthMax) throw invalid(field, `${field} is longer than ${lengthMax} characters`);
  if (text.includes("\\u0000")) throw invalid(field, `${field} contains a NUL character`);
  if (/\\ud[89a-f]/.test(text)) throw invalid(field, `${field} is not valid Unicode text`);
  return object;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseJson(text: string, field: string, lengthMax: number): unknown {
  if (text.length > lengthMax) throw invalid(field, `${field} is longer than ${lengthMax} characters`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(field, `${field} is not valid JSON`, "invalid_args", { cause });
  }
}
