import type { Catalog, Column, Table } from "./catalog.ts";

/** TypeScript types of PostgreSQL's types, as the server's driver reads them. */
const TYPES: Readonly<Record<string, string>> = {
  smallint: "number",
  integer: "number",
  bigint: "bigint",
  real: "number",
  "double precision": "number",
  numeric: "string",
  text: "string",
  uuid: "string",
  boolean: "boolean",
  bytea: "Buffer",
  jsonb: "unknown",
  "timestamp with time zone": "Date",
  "text[]": "string[]",
  "integer[]": "number[]",
};

type Names = { readonly tables: ReadonlyMap<string, Table>; readonly brands: ReadonlySet<string> };

/** Kysely's table types. `brands` are the id types that `base/ids.ts` exports, such as `UserId`. */
export function renderTypes({ tables }: Catalog, brands: ReadonlySet<string>): string {
  const names: Names = { tables: new Map(tables.map((table) => [table.name, table])), brands };
  const bodies = tables.map((table) => renderTable(table, names));
  const entries = tables.map(({ name }) => `  ${name}: ${toPascalCase(name)}Table;`);
  const body = [...bodies, `export type Tables = {\n${entries.join("\n")}\n};`].join("\n\n");
  const isUsed = (name: string) => new RegExp(`\\b${name}\\b`).test(body);
  const imports = [
    importLine(["ColumnType", "Generated", "GeneratedAlways"].filter(isUsed), "kysely"),
    importLine([...brands].toSorted().filter(isUsed), "../base/ids.ts"),
  ];
  const header = "// Made from server/migrations by tools/dump-schema.ts: read it here, change it there.";
  return `${[`${header}\n${imports.join("\n")}`, body].join("\n\n")}\n`;
}

function importLine(names: readonly string[], from: string): string {
  return names.length === 0 ? "" : `import type { ${names.join(", ")} } from "${from}";`;
}

function renderTable(table: Table, names: Names): string {
  const lines = table.columns.map((column) => `  ${column.name}: ${renderColumn(table, column, names)};`);
  return `export type ${toPascalCase(table.name)}Table = {\n${lines.join("\n")}\n};`;
}

function renderColumn(table: Table, column: Column, names: Names): string {
  const orNull = column.is_nullable ? " | null" : "";
  const hasDefault = column.default_expression !== null || column.identity !== "";
  if (column.type === "jsonb") {
    // JSON goes in as text, since the driver would turn an array into a PostgreSQL array.
    const written = `string${orNull}`;
    return `ColumnType<unknown, ${written}${hasDefault ? " | undefined" : ""}, ${written}>`;
  }
  const type = `${renderType(table, column, names)}${orNull}`;
  if (column.identity === "always" || column.is_computed) return `GeneratedAlways<${type}>`;
  return hasDefault ? `Generated<${type}>` : type;
}

function renderType(table: Table, column: Column, names: Names): string {
  const type = TYPES[column.type];
  if (type === undefined) throw new Error(`${table.name}.${column.name}: no TypeScript type for ${column.type}`);
  if (column.type === "text") return findAllowedValues(table, column.name)?.map(quote).join(" | ") ?? type;
  return column.type === "integer" ? (findBrand(table, column.name, names, []) ?? type) : type;
}

/** The id type of a column: what its foreign key points to, what its table is made of, or what its own name says. */
function findBrand(table: Table, column: string, names: Names, seen: readonly string[]): string | undefined {
  const place = `${table.name}.${column}`;
  if (seen.includes(place)) return undefined;
  for (const { kind, columns, target_table, target_columns } of table.constraints) {
    if (kind !== "foreign key" || !columns.includes(column)) continue;
    const target = names.tables.get(target_table ?? "");
    const targetColumn = target_columns?.[columns.indexOf(column)];
    if (target === undefined || targetColumn === undefined) continue;
    const brand = findBrand(target, targetColumn, names, [...seen, place]);
    if (brand !== undefined) return brand;
  }
  const nouns = column === "id" ? singulars(table.name) : column.endsWith("_id") ? [column.slice(0, -3)] : [];
  return nouns.map((noun) => `${toPascalCase(noun)}Id`).find((brand) => names.brands.has(brand));
}

function singulars(plural: string): readonly string[] {
  return [plural.replace(/s$/, ""), plural.replace(/es$/, ""), plural.replace(/ies$/, "y")];
}

/** The values of `check (column in ('a', 'b'))`, as PostgreSQL writes it back; undefined without such a constraint. */
function findAllowedValues(table: Table, column: string): readonly string[] | undefined {
  for (const { kind, columns, definition } of table.constraints) {
    if (kind !== "check" || columns.length !== 1 || columns[0] !== column) continue;
    const list = /^CHECK \(\(\w+ = (?:ANY \(ARRAY\[(.*)\]\)|(.*))\)\)$/.exec(definition);
    const text = list?.[1] ?? list?.[2];
    if (text === undefined || !/^('(?:[^']|'')*'::text(, )?)+$/.test(text)) continue;
    return [...text.matchAll(/'((?:[^']|'')*)'::text/g)].map(([, value = ""]) => value.replaceAll("''", "'"));
  }
  return undefined;
}

function quote(value: string): string {
  return JSON.stringify(value);
}

function toPascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
