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
    const candidate = isBody ? value : Convert(typed, value);
    if (checker.Check(candidate)) return { value: candidate };
    return { error: [...checker.Errors(candidate)] };
  };
}
