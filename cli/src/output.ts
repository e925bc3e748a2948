/** A column of a table for people: its title, and the text of one row's cell. Numbers stand at the right. */
export type Column<Row> = {
  readonly title: string;
  readonly cell: (row: Row) => string | number | undefined | null;
};

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

/** Exactly one JSON object on one line, for scripts. */
export function printJsonLine(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints the answer as JSON when asked to, else what `render` makes of it. */
export function printAnswer<T>(answer: T, options: { readonly json?: boolean }, render: (answer: T) => string): void {
  if (options.json === true) printJson(answer);
  else printLine(render(answer));
}

/** Columns aligned by their widest cell; `emptyText` when there is no row. */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], emptyText: string): string {
  if (rows.length === 0) return emptyText;
  const cells = rows.map((row) => columns.map((column) => cellText(column.cell(row))));
  const isNumeric = columns.map((column) => rows.every((row) => typeof column.cell(row) === "number"));
  const titles = columns.map((column) => column.title);
  const widths = titles.map((title, index) =>
    Math.max(title.length, ...cells.map((line) => (line[index] ?? "").length)),
  );
  const renderLine = (line: readonly string[]) =>
    line
      .map((text, index) => (isNumeric[index] ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0)))
      .join("  ")
      .trimEnd();
  return [titles, ...cells].map(renderLine).join("\n");
}

/** Dollars for people: `$1.50`, and four digits where cents would hide the difference: `$0.2317`, `<$0.0001`. */
export function dollars(value: number | undefined | null): string {
  if (value === undefined || value === null) return "-";
  const magnitude = Math.abs(value);
  if (magnitude > 0 && magnitude < 0.000_05) return value < 0 ? ">-$0.0001" : "<$0.0001";
  const isInCents = magnitude >= 10 || Math.abs(Math.round(magnitude * 100) - magnitude * 100) < 1e-6;
  return `${value < 0 ? "-" : ""}$${magnitude.toFixed(isInCents ? 2 : 4)}`;
}

/** The place of a machine, without the empty city with which the API begins an unknown one. */
export function placeText(geolocation: string): string {
  return geolocation.replace(/^, /, "");
}

/** The text of a cell. Control characters are replaced: they would move the terminal's cursor or change its colours. */
function cellText(value: string | number | undefined | null): string {
  if (value === undefined || value === null || value === "") return "-";
  return String(value).replace(/\p{Cc}/gu, "\u{FFFD}");
}

/** The fields of one thing, one on each line; fields without a value are left out. */
export function renderFields(fields: Readonly<Record<string, string | number | undefined | null>>): string {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const width = Math.max(0, ...present.map(([name]) => name.length));
  return present.map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`).join("\n");
}
