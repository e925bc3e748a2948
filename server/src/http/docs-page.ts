/** What the page reads of an OpenAPI document; everything else of it is left to `/openapi.json`. */
type Schema = {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
};
type Operation = {
  readonly summary?: string;
  readonly description?: string;
  readonly operationId?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    name: string;
    in: string;
    required?: boolean;
    schema?: Schema;
    description?: string;
  }[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly responses?: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >;
};
type Document = { readonly info?: { title?: string }; readonly paths?: Readonly<Record<string, object | undefined>> };

const METHODS = ["get", "post", "put", "delete"] as const;

const STYLE = `
:root{color-scheme:light dark;--line:color-mix(in srgb,currentColor 18%,transparent);--soft:color-mix(in srgb,currentColor 6%,transparent)}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{margin-bottom:.2rem}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}
details{border:1px solid var(--line);border-radius:.5rem;margin:.5rem 0;padding:.4rem .8rem}
details[open]{background:var(--soft)}summary{cursor:pointer}
code{font:13px/1.4 ui-monospace,monospace}.method{display:inline-block;min-width:4.2rem;font-weight:600}
.open{opacity:.6;font-size:.85rem;margin-left:.5rem}table{border-collapse:collapse;width:100%;margin:.4rem 0 1rem}
td,th{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line)}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem}`;

/** One self-contained page without scripts: every operation with its parameters, body and answer. */
export function renderApiPage(document: object): string {
  const { paths = {} } = document as Document;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = (item as Record<string, Operation> | undefined)?.[method];
      return operation === undefined ? [] : [{ path, method, operation }];
    }),
  );
  const groups = Map.groupBy(operations, ({ operation }) => operation.operationId?.split(".")[1] ?? "other");
  const names = [...groups.keys()].toSorted();
  const links = names.map((name) => `<a href="#${escape(name)}">${escape(titleOf(name))}</a>`).join("");
  const sections = names.map((name) => {
    const entries = (groups.get(name) ?? []).map(renderOperation).join("");
    return `<h2 id="${escape(name)}">${escape(titleOf(name))}</h2>${entries}`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>Berth API</title><style>${STYLE}</style></head>
<body><h1>Berth API</h1><p>Send your key as <code>Authorization: Bearer KEY</code>. Bodies are JSON, amounts are dollars,
times are seconds since the epoch unless they say otherwise. The same as data: <a href="/openapi.json">openapi.json</a>.</p>
<nav>${links}</nav>${sections.join("")}</body></html>`;
}

/** `network_disk` of an operation's name, as people write it. */
function titleOf(group: string): string {
  return group.replaceAll("_", " ");
}

function renderOperation({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const isOpen = operation.security?.length === 0;
  const body = operation.requestBody?.content?.["application/json"]?.schema;
  const answer = operation.responses?.["200"]?.content?.["application/json"]?.schema;
  const parameters = (operation.parameters ?? []).map(({ name, in: place, required, schema, description }) => ({
    name,
    type: `${typeOf(schema)}, ${place}`,
    isRequired: required === true,
    note: description ?? noteOf(schema),
  }));
  return `<details id="${escape(operation.operationId ?? "")}"><summary><code><span class="method">${method.toUpperCase()}</span>
${escape(path)}</code> — ${escape(operation.summary ?? "")}${isOpen ? '<span class="open">no key needed</span>' : ""}</summary>
<p>${escape(operation.description ?? "")}</p>${renderTable("Parameters", parameters)}
${renderTable("Body", rowsOf(body))}${renderTable("Answer", rowsOf(answer))}</details>`;
}

type Row = { readonly name: string; readonly type: string; readonly isRequired: boolean; readonly note: string };

function rowsOf(schema: Schema | undefined): readonly Row[] {
  const object = schema?.type === "array" ? schema.items : schema;
  return Object.entries(object?.properties ?? {}).map(([name, property]) => ({
    name,
    type: typeOf(property),
    isRequired: object?.required?.includes(name) === true,
    note: property.description ?? noteOf(property),
  }));
}

function renderTable(title: string, rows: readonly Row[]): string {
  if (rows.length === 0) return "";
  const lines = rows.map(
    ({ name, type, isRequired, note }) =>
      `<tr><td><code>${escape(name)}</code>${isRequired ? " *" : ""}</td><td>${escape(type)}</td><td>${escape(note)}</td></tr>`,
  );
  return `<b>${title}</b><table>${lines.join("")}</table>`;
}

function typeOf(schema: Schema | undefined): string {
  if (schema === undefined) return "any";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  return [schema.type ?? "any"].flat().join(" or ");
}

function noteOf(schema: Schema | undefined): string {
  if (schema === undefined) return "";
  const limits = [
    schema.minimum === undefined ? "" : `at least ${schema.minimum}`,
    schema.maximum === undefined ? "" : `at most ${schema.maximum}`,
    schema.maxLength === undefined ? "" : `at most ${schema.maxLength} characters`,
  ];
  return limits.filter((limit) => limit !== "").join(", ");
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
