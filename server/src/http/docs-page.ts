import type { Node } from "./description/schemas.ts";

/** The parts of an OpenAPI document that the page shows. */
type Media = { readonly schema?: Node; readonly example?: unknown };
type Response = {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, Media>>;
};
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Node;
  readonly description?: string;
  readonly example?: unknown;
};
type Operation = {
  readonly summary?: string;
  readonly description?: string;
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, Media>> };
  readonly responses?: Readonly<Record<string, Response>>;
};
type Document = {
  readonly paths?: Readonly<Record<string, object | undefined>>;
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Node>>;
    readonly responses?: Readonly<Record<string, Response>>;
  };
};
type Entry = { readonly path: string; readonly method: string; readonly operation: Operation };

const METHODS = ["get", "post", "put", "delete"] as const;

const STYLE = `
:root{color-scheme:light dark;--line:color-mix(in srgb,currentColor 18%,transparent);--soft:color-mix(in srgb,currentColor 6%,transparent)}
body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}
h1{margin-bottom:.2rem}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}h4{margin:.8rem 0 .2rem}
details{border:1px solid var(--line);border-radius:.5rem;margin:.5rem 0;padding:.4rem .8rem}
details[open]{background:var(--soft)}summary{cursor:pointer}
code,pre{font:13px/1.4 ui-monospace,monospace}pre{background:var(--soft);border-radius:.4rem;padding:.6rem;overflow:auto;max-height:24rem}
.method{display:inline-block;min-width:4.2rem;font-weight:600}
.open{opacity:.6;font-size:.85rem;margin-left:.5rem}table{border-collapse:collapse;width:100%;margin:.2rem 0 .6rem}
td,th{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line)}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem}`;

/** One self-contained page without scripts: every operation with its fields, examples and answers, and every model. */
export function renderApiPage(document: object): string {
  const { paths = {}, tags = [], components = {} } = document as Document;
  const entries = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method): Entry[] => {
      const operation = (item as Record<string, Operation> | undefined)?.[method];
      return operation === undefined ? [] : [{ path, method, operation }];
    }),
  );
  const groups = Map.groupBy(entries, ({ operation }) => operation.tags?.[0] ?? "Other");
  const notes = new Map(tags.map(({ name, description }) => [name, description ?? ""]));
  const names = [...groups.keys()].toSorted();
  const links = [...names, "Failures", "Models"].map((name) => `<a href="#${idOf(name)}">${escape(name)}</a>`).join("");
  const sections = names.map((name) => {
    const operations = (groups.get(name) ?? []).map((entry) => renderOperation(entry));
    return `<h2 id="${idOf(name)}">${escape(name)}</h2><p>${prose(notes.get(name) ?? "")}</p>${operations.join("")}`;
  });
  const failures = Object.entries(components.responses ?? {}).map(
    ([name, one]) => `<div id="response-${escape(name)}">${renderResponse(name, one)}</div>`,
  );
  const models = Object.entries(components.schemas ?? {}).map(([name, schema]) => renderModel(name, schema));
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>Berth API</title><style>${STYLE}</style></head>
<body><h1>Berth API</h1><p>Send your key as <code>Authorization: Bearer KEY</code>. Bodies are JSON, amounts are dollars,
times are seconds since the epoch unless they say otherwise. The same as data: <a href="/openapi.json">openapi.json</a>.</p>
<nav>${links}</nav>${sections.join("")}<h2 id="failures">Failures</h2>
${failures.join("")}<h2 id="models">Models</h2>${models.join("")}</body></html>`;
}

function renderOperation({ path, method, operation }: Entry): string {
  const isOpen = operation.security?.length === 0;
  const rows = (operation.parameters ?? []).map(({ name, in: place, required, schema, description }) =>
    rowOf({ name, isRequired: required === true, schema: { ...schema, ...(description && { description }) }, place }),
  );
  const bodies = Object.entries(operation.requestBody?.content ?? {}).map(([type, media]) =>
    renderMedia("Request", type, media),
  );
  const responses = Object.entries(operation.responses ?? {});
  const answers = responses.map(([status, one]) => (one.$ref === undefined ? renderResponse(status, one) : ""));
  const failures = responses.flatMap(([status, { $ref }]) => ($ref === undefined ? [] : [failureLink(status, $ref)]));
  return `<details id="${escape(operation.operationId ?? "")}"><summary><code><span class="method">${method.toUpperCase()}</span>
${escape(path)}</code> — ${escape(operation.summary ?? "")}${isOpen ? '<span class="open">no key needed</span>' : ""}</summary>
<p>${prose(operation.description ?? "")}</p>${rows.length === 0 ? "" : `${heading("Parameters")}${table(rows)}`}
${bodies.join("")}${answers.join("")}${failures.length === 0 ? "" : `<p>Failures: ${failures.join(", ")}</p>`}</details>`;
}

function failureLink(status: string, reference: string): string {
  return `<a href="#response-${nameOf(reference)}">${escape(status)}</a>`;
}

function renderResponse(status: string, { description = "", content = {} }: Response): string {
  const title = `Response ${status}: ${description}`;
  const media = Object.entries(content);
  return media.length === 0 ? heading(title) : media.map(([type, one]) => renderMedia(title, type, one)).join("");
}

/** A request or an answer: the name of its model, and an example. */
function renderMedia(title: string, type: string, { schema, example }: Media): string {
  const text = typeof example === "string" ? example : JSON.stringify(example, undefined, 2);
  const shown = example === undefined ? "" : `<pre>${escape(text)}</pre>`;
  const kind = type === "application/json" ? typeOf(schema) : escape(type);
  return `${heading(title)}<p>${kind}</p>${shown}`;
}

function renderModel(name: string, schema: Node): string {
  const rows = Object.entries(schema.properties ?? {}).map(([field, one]) =>
    rowOf({ name: field, isRequired: schema.required?.includes(field) === true, schema: one }),
  );
  return `<details id="model-${escape(name)}"><summary><code>${escape(name)}</code></summary>
<p>${prose(schema.description ?? "")}</p>${table(rows)}</details>`;
}

type Field = { readonly name: string; readonly isRequired: boolean; readonly schema: Node; readonly place?: string };

function rowOf({ name, isRequired, schema, place }: Field): string {
  const where = place === undefined ? "" : `, ${place}`;
  const note = [schema.description ?? "", limitsOf(schema)].filter((text) => text !== "").join(" ");
  return `<tr><td><code>${escape(name)}</code>${isRequired ? " *" : ""}</td><td>${typeOf(schema)}${where}</td><td>${prose(note)}</td></tr>`;
}

function table(rows: readonly string[]): string {
  return rows.length === 0 ? "" : `<table>${rows.join("")}</table>`;
}

function heading(title: string): string {
  return `<h4>${escape(title)}</h4>`;
}

/** The type in HTML, with links to models. */
function typeOf(schema: Node | undefined): string {
  if (schema === undefined) return "any";
  if (schema.$ref !== undefined) return `<a href="#model-${nameOf(schema.$ref)}">${nameOf(schema.$ref)}</a>`;
  if (schema.enum !== undefined) return schema.enum.map((one) => escape(JSON.stringify(one))).join(" or ");
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return [...new Set(alternatives.map(typeOf))].join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  if (schema.type === "object" && typeof schema.additionalProperties === "object") {
    return `map of ${typeOf(schema.additionalProperties)}`;
  }
  return [schema.type ?? "any"].flat().join(" or ");
}

function limitsOf({ minimum, maximum, maxLength, default: usual }: Node): string {
  const limits = [
    minimum === undefined ? "" : `at least ${minimum}`,
    maximum === undefined ? "" : `at most ${maximum}`,
    maxLength === undefined ? "" : `at most ${maxLength} characters`,
    usual === undefined ? "" : `${JSON.stringify(usual)} by default`,
  ].filter((limit) => limit !== "");
  return limits.length === 0 ? "" : `(${limits.join(", ")})`;
}

function nameOf(reference: string): string {
  return escape(reference.split("/").at(-1) ?? "");
}

function idOf(name: string): string {
  return escape(name.toLowerCase().replaceAll(" ", "-"));
}

/** Text with its names in backquotes set as code. */
function prose(text: string): string {
  return escape(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
