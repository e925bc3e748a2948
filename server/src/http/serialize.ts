import fastJsonStringify from "fast-json-stringify";

type Serialize = (value: unknown) => string;
type Schema = Readonly<Record<string, unknown>>;

const compiled = new WeakMap<object, Serialize>();

/** Keys of a schema below which there are values, and no schemas. */
const VALUES: ReadonlySet<string> = new Set(["const", "default", "enum", "examples", "required"]);

/**
 * The writer of answers of one schema, compiled once for the whole process: each route answers with the same errors, and
 * compiling these again for each of them was most of the time in which a server comes up.
 */
export function serializerOf(schema: object): Serialize {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const made: Serialize = fastJsonStringify(writable(schema) as object);
  compiled.set(schema, made);
  return made;
}

/**
 * The same schema with fewer alternatives. The library validates a value against each alternative before it writes it, with
 * a validator that it compiles at the first answer. Most alternatives here say that something may be null, or that it is
 * one of several words, and can be said without one.
 */
function writable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(writable);
  if (typeof schema !== "object" || schema === null) return schema;
  const { anyOf } = schema as { readonly anyOf?: readonly Schema[] };
  if (anyOf !== undefined) {
    if (anyOf.every(({ const: word }) => typeof word === "string")) return { type: "string" };
    const present = anyOf.filter(({ type }) => type !== "null");
    const [only] = present;
    if (only !== undefined && present.length === 1) return { ...(writable(only) as Schema), nullable: true };
  }
  const members = Object.entries(schema).map(([key, value]) => [key, VALUES.has(key) ? value : writable(value)]);
  return Object.fromEntries(members);
}
