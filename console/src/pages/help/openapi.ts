// Fields of /openapi.json that the reference reads. Those that are missing are not shown.

type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
};
type Content = { readonly "application/json"?: { readonly schema?: Schema; readonly example?: unknown } };
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
};
type RawOperation = {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Content };
  readonly responses?: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** A field of a request or an answer. */
export type Field = {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly words: string;
};
export type Operation = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly words: string;
  readonly parameters: readonly Field[];
  readonly body: readonly Field[];
  readonly bodyExample: unknown;
  readonly answer: readonly Field[];
  readonly answerExample: unknown;
};

export async function fetchOperations(signal: AbortSignal): Promise<readonly Operation[]> {
  const response = await fetch("/openapi.json", { signal });
  if (!response.ok) throw new Error(`the description of the API could not be loaded (${response.status})`);
  const document: Document = await response.json();
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => operationOf(document, { path, method, raw })),
  );
}

function operationOf(
  document: Document,
  { path, method, raw }: { readonly path: string; readonly method: string; readonly raw: RawOperation },
): Operation {
  const body = raw.requestBody?.content?.["application/json"];
  const done = Object.entries(raw.responses ?? {}).find(([code]) => code.startsWith("2"))?.[1];
  const answer = done?.content?.["application/json"];
  return {
    ...{ id: raw.operationId, method: method.toUpperCase(), path, tag: raw.tags?.[0] ?? "Others" },
    ...{ summary: raw.summary ?? raw.operationId, words: raw.description ?? "" },
    parameters: (raw.parameters ?? []).map(({ name, in: place, required = false, description = "", schema }) => ({
      ...{ name, isRequired: required, words: description },
      type: `${typeOf(schema)}, in the ${place}`,
    })),
    body: fieldsOf(document, body?.schema),
    bodyExample: body?.example,
    answer: fieldsOf(document, answer?.schema),
    answerExample: answer?.example,
  };
}

/** The fields of an object, and those of the objects in its lists and values one level deeper. */
function fieldsOf(document: Document, schema: Schema | undefined, prefix = ""): readonly Field[] {
  const object = resolve(document, schema);
  return Object.entries(object?.properties ?? {}).flatMap(([name, each]) => {
    const field = resolve(document, each);
    const words = each.description ?? field?.description ?? "";
    const isRequired = object?.required?.includes(name) === true;
    const line = { name: `${prefix}${name}`, type: typeOf(field), isRequired, words };
    if (prefix !== "") return [line];
    return [line, ...fieldsOf(document, field?.items, `${name}[].`), ...fieldsOf(document, field, `${name}.`)];
  });
}

function resolve(document: Document, schema: Schema | undefined): Schema | undefined {
  const name = schema?.$ref?.split("/").at(-1);
  return name === undefined ? schema : document.components.schemas[name];
}

function typeOf(schema: Schema | undefined): string {
  if (schema === undefined) return "any";
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(" or ");
  if (schema.$ref !== undefined) return "object";
  const names = typeof schema.type === "string" ? [schema.type] : (schema.type ?? ["any"]);
  return names.map((name) => (name === "array" ? `list of ${typeOf(schema.items)}` : name)).join(" or ");
}

/** Operations that have every word in their summary, id, path, group or description. */
export function findOperations(operations: readonly Operation[], text: string): readonly Operation[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return operations.filter(({ id, method, path, tag, summary, words: description }) => {
    const all = `${summary} ${id} ${method} ${path} ${tag} ${description}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}
