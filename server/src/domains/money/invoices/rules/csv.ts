/** A cell of a table: text, a number as its own decimal text, or nothing. */
export type Cell = string | { readonly number: string } | undefined;

/** One record of RFC 4180, its line end included. */
export function csvRecord(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

/**
 * Spreadsheets run text that begins like a formula, which a label or a description could be: an apostrophe before it makes it
 * text. Numbers are ours, and stay numbers below zero too.
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
