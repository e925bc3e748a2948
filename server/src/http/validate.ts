import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { Convert } from "typebox/value";

type Validate = (value: unknown) => { readonly value: unknown } | { readonly error: TLocalizedValidationError[] };

const compiled = { body: new WeakMap<object, Validate>(), text: new WeakMap<object, Validate>() };

/**
 * The validator of one part of a request, compiled at the first request, once for the whole process. A body says its types
 * in JSON and is taken at its word: `true` is no amount of money. Path and query are text, so `"12"` becomes 12 where the
 * schema wants a number. Unknown keys are left alone.
 */
export function validatorOf(schema: object, isBody: boolean): Validate {
  const known = compiled[isBody ? "body" : "text"];
  const validate = known.get(schema) ?? compile(schema, isBody);
  known.set(schema, validate);
  return validate;
}

function compile(schema: object, isBody: boolean): Validate {
  const typed = schema as TSchema;
  let compiledChecker: ReturnType<typeof Compile<TSchema>> | undefined;
  return (value: unknown) => {
    const checker = (compiledChecker ??= Compile(typed));
    const candidate = isBody ? value : fromText(typed, value);
    if (checker.Check(candidate)) return { value: candidate };
    return { error: [...checker.Errors(candidate)] };
  };
}

/**
 * Converts a text of a path or query to the type of the schema. The library would cut `1.5` down to 1 and take `true`
 * for 1, which no caller means.
 */
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
