import fastJsonStringify from "fast-json-stringify";

type Serialize = (value: unknown) => string;
type Schema = Readonly<Record<string, unknown>>;

/** Keys of a schema below which there are values, and no schemas. */
const VALUES: ReadonlySet<string> = new Set(["const", "default", "enum", "examples", "required"]);

const writers = new WeakMap<object, Serialize>();

/**
 * The writer of answers of one schema. It is compiled at the first answer, once for the whole process: most operations are
 * never called in the life of a process, and compiling for all of them was most of the time in which a server comes up.
 */
export function serializerOf(schema: object): Serialize {
  const known = writers.get(schema);
  if (known !== undefined) return known;
  let compiled: Serialize | undefined;
  const serialize: Serialize = (value) => {
    compiled ??= fastJsonStringify(writable(schema) as object);
    return compiled(value);
  };
  writers.set(schema, serialize);
  return serialize;
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
