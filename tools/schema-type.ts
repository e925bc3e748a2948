// The TypeScript type of a JSON schema, as far as TypeBox writes them. What it does not know is an error, not `any`.

export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: string | number | boolean | null;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema | readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
};

/** `depth` is how far the lines of an object type are moved to the right. */
export function typeText(schema: Schema, depth: number): string {
  if (schema.$ref !== undefined) return modelName(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return union(alternatives.map((alternative) => typeText(alternative, depth)));
  if (schema.allOf !== undefined) return schema.allOf.map((part) => `(${typeText(part, depth)})`).join(" & ");
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeText({ ...schema, type }, depth)));
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return String(schema.type);
    case "number":
    case "integer":
      return "number";
    case "array":
      return arrayText(schema.items, depth);
    case "object":
      return objectText(schema, depth);
    case undefined:
      return "unknown";
    default:
      throw new Error(`no TypeScript type for the schema ${JSON.stringify(schema)}`);
  }
}

/** The name of the model that `#/components/schemas/Offer` refers to: Offer. */
export function modelName(reference: string): string {
  return reference.split("/").at(-1) ?? "";
}

export function isValidIdentifier(text: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(text);
}

function union(parts: readonly string[]): string {
  const distinct = [...new Set(parts)];
  return distinct.length === 0 ? "never" : distinct.join(" | ");
}

function isList(items: Schema["items"]): items is readonly Schema[] {
  return Array.isArray(items);
}

function arrayText(items: Schema["items"], depth: number): string {
  if (isList(items)) return `readonly [${items.map((item) => typeText(item, depth)).join(", ")}]`;
  const item = items === undefined ? "unknown" : typeText(items, depth);
  return / [|&] /.test(item) || item.startsWith("readonly ") ? `readonly (${item})[]` : `readonly ${item}[]`;
}

function objectText(schema: Schema, depth: number): string {
  const indent = "  ".repeat(depth + 1);
  const lines = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const key = isValidIdentifier(name) ? name : JSON.stringify(name);
    const isRequired = schema.required?.includes(name) ?? false;
    return `${indent}readonly ${key}${isRequired ? "" : "?"}: ${typeText(property, depth + 1)};`;
  });
  const others = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties;
  if (lines.length === 0) {
    const value = typeof others === "object" ? typeText(others, depth) : "unknown";
    return `Readonly<Record<string, ${value}>>`;
  }
  // Further keys may come with named ones; only as unknown, which agrees with any type that the named ones have.
  if (others === true || typeof others === "object") lines.push(`${indent}readonly [key: string]: unknown;`);
  return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}
