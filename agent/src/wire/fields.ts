import type { Static, TSchema } from "typebox";

/** The spelling of a field inside the agent: `instance_id` on the wire and in files is `instanceId` here. */
type CamelName<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelName<Tail>>}`
  : Name;

/** The same data with its fields named as inside the agent. Keys of maps are data and stay as they are. */
export type Camel<T> = T extends readonly unknown[]
  ? { [Index in keyof T]: Camel<T[Index]> }
  : T extends object
    ? { [Key in keyof T as Key extends string ? (string extends Key ? Key : CamelName<Key>) : Key]: Camel<T[Key]> }
    : T;

/** The parts of a JSON schema that say where fields are. */
type Shape = {
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape | readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
};
type Direction = "to camel" | "to snake";

/** Names the fields of a checked value as inside the agent. The schema tells fields from keys of maps. */
export function camelFields<S extends TSchema>(schema: S, value: Static<S>): Camel<Static<S>> {
  return respell([schema], value, "to camel") as Camel<Static<S>>;
}

/** Names the fields of a value as its schema does, for the wire and for files. */
export function snakeFields<S extends TSchema>(schema: S, value: Camel<Static<S>>): Static<S> {
  return respell([schema], value, "to snake") as Static<S>;
}

/** `shapes` are the schemas that the value may have: several below a union. Fields keep their order. */
function respell(shapes: readonly Shape[], value: unknown, direction: Direction): unknown {
  if (typeof value !== "object" || value === null) return value;
  const variants = shapes.flatMap(alternatives);
  if (Array.isArray(value)) {
    const items = variants.flatMap((shape) => shape.items ?? []);
    return value.map((one) => respell(items, one, direction));
  }
  const entries = Object.entries(value).map(([key, inner]) => {
    const field = direction === "to snake" ? snakeName(key) : key;
    const known = variants.flatMap((shape) => shape.properties?.[field] ?? []);
    if (known.length > 0) return [direction === "to snake" ? field : camelName(key), respell(known, inner, direction)];
    const ofMaps = variants.flatMap((shape) => Object.values(shape.patternProperties ?? {}));
    return [key, respell(ofMaps, inner, direction)];
  });
  return Object.fromEntries(entries);
}

function alternatives(shape: Shape): readonly Shape[] {
  return shape.anyOf === undefined ? [shape] : shape.anyOf.flatMap(alternatives);
}

function camelName(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function snakeName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
