import { invalid } from "../errors.ts";

const TEXT_LENGTH_MAX = 65_536;
const SHOWN_LENGTH_MAX = 40;

/** A parameter that arrives as JSON text (query) or as a value (body). Empty text and the text `null` mean absent. */
export function readJson(input: unknown, source: string): unknown {
  if (typeof input !== "string") return input;
  if (input.length > TEXT_LENGTH_MAX) throw invalid(source, `${source} is longer than ${TEXT_LENGTH_MAX} characters`);
  if (input.trim() === "") return undefined;
  try {
    return JSON.parse(input);
  } catch (cause) {
    throw invalid(source, `${source} is not valid JSON`, "invalid_args", { cause });
  }
}

export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A caller's value, shortened and cleaned for an error message. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = (JSON.stringify(value) ?? typeof value).replace(/\p{C}/gu, "\u{FFFD}");
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
}

const NUMBER_TEXT_LENGTH_MAX = 64;

/** A setting of a search, such as its limit: a number from 0 to `max`, or its text. Absent and null mean `fallback`. */
export function readNumber(
  field: string,
  value: unknown,
  { fallback, max }: { readonly fallback: number; readonly max: number },
): number {
  if (value === undefined || value === null) return fallback;
  const isText = typeof value === "string" && value.trim() !== "" && value.length < NUMBER_TEXT_LENGTH_MAX;
  const number = isText ? Number(value) : value;
  if (typeof number !== "number" || !(number >= 0 && number <= max)) {
    throw invalid(field, `${field} must be a number from 0 to ${max}, got ${shown(value)}`);
  }
  return number;
}
