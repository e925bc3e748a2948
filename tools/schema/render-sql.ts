import type { Catalog, Column, Table } from "./catalog.ts";

/** The whole schema as SQL that makes it again in an empty database. */
export function renderSql({ tables, views, functions }: Catalog): string {
  const foreignKeys = tables.flatMap((table) =>
    table.constraints
      .filter(({ kind }) => kind === "foreign key")
      .map(({ name, definition }) => `alter table ${table.name} add constraint ${name} ${definition};`),
  );
  const sections = [
    "-- Made from server/migrations by tools/dump-schema.ts: read it here, change it there.",
    // A function may call one that comes after it.
    "set check_function_bodies = off;",
    ...functions.map((definition) => `${definition.trimEnd()};`),
    ...tables.map(renderTable),
    foreignKeys.join("\n"),
    ...views.map(({ name, definition }) => `create view ${name} as\n${definition}`),
    tables.flatMap(({ triggers }) => triggers.map((definition) => `${definition};`)).join("\n"),
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function renderTable({ name, options, columns, constraints, indexes }: Table): string {
  const lines = [
    ...columns.map(renderColumn),
    ...constraints
      .filter(({ kind }) => kind !== "foreign key")
      .map((constraint) => `constraint ${constraint.name} ${constraint.definition}`),
  ];
  const settings = options.length === 0 ? "" : ` with (${options.join(", ")})`;
  const table = `create table ${name} (\n${lines.map((line) => `  ${line}`).join(",\n")}\n)${settings};`;
  return [table, ...indexes.map((definition) => `${definition};`)].join("\n");
}

function renderColumn({ name, type, is_nullable, default_expression, identity, is_computed }: Column): string {
  const parts = [name, type];
  if (identity !== "") parts.push(`generated ${identity} as identity`);
  if (is_computed) parts.push(`generated always as (${default_expression}) stored`);
  else if (default_expression !== null) parts.push(`default ${default_expression}`);
  if (!is_nullable && identity === "") parts.push("not null");
  return parts.join(" ");
}
