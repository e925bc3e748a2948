/** A cell of a table: text, a number as decimal text, or empty. */
export type Cell = string | { readonly number: string } | undefined;

/** One record of RFC 4180, with its line end. */
export function csvRecord(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

/**
 * Text that begins like a formula, as a label could, gets an apostrophe, since spreadsheets would run it. Numbers come
 * from the server and stay numbers, also below zero.
 */
function csvCell(cell: Cell): string {
  if (cell === undefined) return "";
  if (typeof cell !== "string") return /^-?\d+(\.\d+)?$/.test(cell.number) ? cell.number : quoted(cell.number);
  const isFormula = /^[\s\p{C}]*[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20]/u.test(cell) || /^[\t\r\n]/.test(cell);
  if (isFormula) return quoted(`'${cell}`);
  return /[",\r\n;\t]|^\s|\s$/.test(cell) ? quoted(cell) : cell;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
