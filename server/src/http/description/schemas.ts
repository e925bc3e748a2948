/** A JSON schema, as far as it is looked at here. */
export type Node = {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly patternProperties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: boolean | Node;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly $ref?: string;
  readonly [key: string]: unknown;
};

/** The sentence of a field, an example of it, and a schema in place of one that accepts anything because the code checks it. */
export type Words = readonly [description: string, example?: unknown, schema?: Node];
/** Words by the name of a field, for all models that have it, or by `Model.field` for one model. */
export type FieldWords = Readonly<Record<string, Words>>;

/** The place of a schema: the model that has it as a field, or the name that it gets unless it has one of its own. */
type Place = {
  readonly owner: string;
  readonly field?: string;
  readonly name?: string;
  /** Words that belong to this place and to no model. */
  readonly words?: Words | undefined;
  /** Fields of a request that may be left out are left out of its example. */
  readonly isRequest?: boolean;
};
type Described = { readonly schema: Node; readonly example: unknown };

/** Models without a name of their own that many operations answer with, by their fields. */
const COMMON_MODELS: Readonly<Record<string, string>> = {
  success: "Success",
  "success msg": "Message",
  "success msg?": "Done",
};

/** Describes schemas one after the other and collects the models that they are made of. */
export class Describer {
  readonly #models = new Map<string, Described>();
  readonly #fields: FieldWords;

  constructor(fields: FieldWords) {
    this.#fields = fields;
  }

  /** All models so far, in the order of their names. */
  models(): Readonly<Record<string, Node>> {
    const sorted = [...this.#models].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([name, { schema }]) => [name, schema]));
  }

  /** A sentence for one model comes before the schema's own, and that before the one that all fields of the name share. */
  describe(node: Node, place: Place): Described {
    const ofModel = place.words ?? this.#fields[`${place.owner}.${place.field}`];
    const words = ofModel ?? (place.field === undefined ? undefined : this.#fields[place.field]);
    const { examples, description: own, ...stated } = node;
    const isUnchecked = Object.keys(stated).length === 0;
    const rest = (isUnchecked ? words?.[2] : undefined) ?? stated;
    const { schema, example } = this.#shapeOf(rest, place);
    const { description: inner, ...others } = schema;
    const shown = ofModel?.[0] ?? own ?? inner ?? words?.[0];
    const said = words !== undefined && words.length > 1 ? words[1] : examples?.[0];
    return {
      schema: { ...(shown && { description: shown }), ...others },
      example: said === undefined ? example : said,
    };
  }

  #shapeOf(node: Node, place: Place): Described {
    if (node.anyOf !== undefined) return this.#choiceOf(node, place);
    if (node.type === "array" && node.items !== undefined) {
      const one = this.describe(node.items, { ...place, field: `${place.field}[]`, name: singular(nameIn(place)) });
      const example = Array.from({ length: node.minItems ?? 1 }, () => one.example);
      return { schema: { ...node, items: one.schema }, example };
    }
    if (node.type !== "object") return { schema: withoutTitle(node), example: scalarExample(node) };
    return Object.keys(node.properties ?? {}).length > 0 ? this.#modelOf(node, place) : this.#recordOf(node, place);
  }

  /** A map from names to values of one kind, or an object of any fields. */
  #recordOf(node: Node, place: Place): Described {
    const { title: _title, properties: _none, patternProperties, additionalProperties, ...rest } = node;
    const values = Object.values(patternProperties ?? {})[0] ?? additionalProperties;
    if (typeof values !== "object") return { schema: { ...rest, additionalProperties: values ?? true }, example: {} };
    const value = this.describe(values, { ...place, field: `${place.field}{}`, name: singular(nameIn(place)) });
    return { schema: { ...rest, additionalProperties: value.schema }, example: { name: value.example } };
  }

  /** Puts the object among the models, and refers to it. Throws when another model has its name. */
  #modelOf(node: Node, place: Place): Described {
    const { title, properties = {}, ...rest } = node;
    const name = title ?? commonName(node) ?? nameIn(place);
    const isRequest = place.isRequest ?? false;
    const fields = Object.entries(properties).map(
      ([field, one]) => [field, this.describe(one, { owner: name, field, isRequest })] as const,
    );
    const schema = { ...rest, properties: Object.fromEntries(fields.map(([field, one]) => [field, one.schema])) };
    const required = new Set(node.required);
    const shown = fields.filter(([field]) => !isRequest || required.size === 0 || required.has(field));
    const example = Object.fromEntries(shown.map(([field, one]) => [field, one.example]));
    const known = this.#models.get(name);
    if (known !== undefined && JSON.stringify(known.schema) !== JSON.stringify(schema)) {
      throw new Error(`two models are called ${name}: give one of them a title`);
    }
    this.#models.set(name, { schema, example });
    return { schema: { $ref: `#/components/schemas/${name}` }, example };
  }

  /** True for models of which each requires a field that no other has, so that a value is of one of them only. */
  #areApart(alternatives: readonly Node[]): boolean {
    const found = alternatives.map(({ $ref = "" }) => this.#models.get($ref.split("/").at(-1) ?? "")?.schema);
    if (found.length < 2) return false;
    return found.every((one) => {
      const others = found.filter((other) => other !== one);
      return one?.required?.some((field) => others.every((other) => !(field in (other?.properties ?? {})))) === true;
    });
  }

  #choiceOf({ anyOf = [], title: _title, ...rest }: Node, place: Place): Described {
    const isNullable = anyOf.some(({ type }) => type === "null");
    const nameless = { owner: place.owner, name: nameIn(place), isRequest: place.isRequest ?? false };
    const present = anyOf.filter(({ type }) => type !== "null").map((one) => this.describe(one, nameless));
    const alternatives = present.map((one) => one.schema);
    const schema =
      this.#areApart(alternatives) && !isNullable ? { oneOf: alternatives } : merge(alternatives, isNullable);
    return { schema: { ...schema, ...rest }, example: present[0]?.example ?? null };
  }
}

/** The name of an unnamed model: that of its owner, and its field in the singular. */
function nameIn({ owner, field, name }: Place): string {
  if (name !== undefined) return name;
  const words = (field ?? "").replaceAll(/\[\]|\{\}/g, "").split("_");
  return `${owner.replace(/(Request|Response)$/, "")}${singular(words.map((word) => `${word[0]?.toUpperCase() ?? ""}${word.slice(1)}`).join(""))}`;
}

function singular(name: string): string {
  if (/(ss|us|is)$/.test(name)) return name;
  return name
    .replace(/ies$/, "y")
    .replace(/(?<=(x|ch|sh|ss))es$/, "")
    .replace(/s$/, "");
}

function commonName({ properties = {}, required = [] }: Node): string | undefined {
  const isTrue = properties["success"]?.enum?.[0] === true;
  const key = Object.keys(properties)
    .map((name) => `${name}${required.includes(name) ? "" : "?"}`)
    .join(" ");
  return isTrue ? COMMON_MODELS[key] : undefined;
}

/** One schema for several alternatives: words become one enumeration, and simple types one list of types. */
function merge(alternatives: readonly Node[], isNullable: boolean): Node {
  const nothing = isNullable ? ["null"] : [];
  const [first] = alternatives;
  if (alternatives.length > 1 && alternatives.every(isWord)) {
    const notes = alternatives.flatMap((one) =>
      one.description === undefined ? [] : [`\`${String(one.enum?.[0])}\`: ${one.description}`],
    );
    const words = alternatives.flatMap((one) => one.enum ?? []);
    return {
      ...(notes.length === 0 ? {} : { description: notes.join(" ") }),
      type: isNullable ? ["string", "null"] : "string",
      enum: isNullable ? [...words, null] : words,
    };
  }
  if (first !== undefined && alternatives.length === 1 && typeof first.type === "string") {
    const { type, enum: words, ...rest } = first;
    const all = words === undefined ? {} : { enum: isNullable ? [...words, null] : words };
    return { ...rest, type: isNullable ? [type, ...nothing] : type, ...all };
  }
  if (alternatives.every(isSimple)) return { type: [...alternatives.map(({ type }) => String(type)), ...nothing] };
  return { anyOf: [...alternatives, ...nothing.map((type) => ({ type }))] };
}

function isWord({ type, enum: words }: Node): boolean {
  return type === "string" && words !== undefined;
}

function isSimple(node: Node): boolean {
  return typeof node.type === "string" && Object.keys(node).every((key) => key === "type" || key === "description");
}

function withoutTitle({ title: _title, ...rest }: Node): Node {
  return rest;
}

/** The simplest value that a schema accepts. Texts without an example have none: a test asks for one. */
function scalarExample({ type, enum: words, const: only, default: usual, minimum }: Node): unknown {
  if (usual !== undefined) return usual;
  if (only !== undefined) return only;
  if (words !== undefined) return words[0];
  const [first] = [type].flat();
  if (first === "boolean") return true;
  if (first === "integer" || first === "number") return Math.max(minimum ?? 1, 1);
  return first === "null" ? null : undefined;
}
