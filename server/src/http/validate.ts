import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Convert } from "typebox/value";

/**
 * The validator of one part of a request. A body says its types in JSON and is taken at its word: `true` is no amount
 * of money. Path and query are text, so `"12"` becomes 12 where the schema wants a number. Unknown keys are left alone.
 */
export function validatorOf(schema: unknown, isBody: boolean) {
  const typed = schema as TSchema;
  const checker = Compile(typed);
  return (value: unknown) => {
    const candidate = isBody ? value : fromText(typed, value);
    if (checker.Check(candidate)) return { value: candidate };
    return { error: [...checker.Errors(candidate)] };
  };
}

/** The library cuts `1.5` down to the whole number 1, and takes `true` for it: who says that does not mean number one. */
function fromText(typed: TSchema, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return Convert(typed, value);
  const converted = Convert(typed, { ...value });
  if (typeof converted !== "object" || converted === null) return converted;
  const read = Object.entries(converted).map(([name, member]): [string, unknown] => {
    const said: unknown = Reflect.get(value, name);
    return [name, typeof member === "number" && Number(said) !== member ? said : member];
  });
  return Object.fromEntries(read);
}
