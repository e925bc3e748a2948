import fastJsonStringify from "fast-json-stringify";

type Serialize = (value: unknown) => string;

const compiled = new WeakMap<object, Serialize>();

/**
 * The writer of answers of one schema, compiled once for the whole process: each route answers with the same errors, and
 * compiling these anew for each of them was most of the time in which a server comes up.
 */
export function serializerOf(schema: object): Serialize {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const made: Serialize = fastJsonStringify(schema);
  compiled.set(schema, made);
  return made;
}
