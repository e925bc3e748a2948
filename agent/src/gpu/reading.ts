/**
 * The content of one cell of the tool's table. `absent` is telemetry that this board, or its present mode, does not
 * have: no fault. `unreadable` is telemetry that should be there: a GPU without it does not count as healthy.
 */
export type Reading =
  | { readonly kind: "value"; readonly text: string }
  | { readonly kind: "absent" }
  | { readonly kind: "unreadable"; readonly text: string };

const ABSENT = /^\[?(n\/a|not supported|not available|deprecated|requested functionality has been deprecated)\]?$/i;
/** Text that the tool prints in place of a value that it could not get; healthy values are never in brackets. */
const UNREADABLE = /^(\[.*\]|err!?|unknown error|unknown|gpu is lost|gpu requires reset|error)$/i;

export function readCell(cell: string): Reading {
  const text = cell.trim();
  if (ABSENT.test(text)) return { kind: "absent" };
  if (text === "" || UNREADABLE.test(text)) return { kind: "unreadable", text: bare(text) };
  return { kind: "value", text };
}

/** The reading of a cell that can only hold a number; any other text is unreadable. */
export function readNumberCell(cell: string): Reading {
  const reading = readCell(cell);
  const isNumber = reading.kind !== "value" || /^-?\d+(\.\d+)?$/.test(reading.text);
  return isNumber ? reading : { kind: "unreadable", text: bare(cell) };
}

/** The reading of a cell that can only hold one of the words; any other text is unreadable. */
export function readWordCell(cell: string, words: readonly string[]): Reading {
  const reading = readCell(cell);
  const isWord = reading.kind !== "value" || words.includes(reading.text);
  return isWord ? reading : { kind: "unreadable", text: bare(cell) };
}

/** The number that a reading holds; null when it holds none. */
export function numberOf(reading: Reading): number | null {
  return reading.kind === "value" && Number.isFinite(Number(reading.text)) ? Number(reading.text) : null;
}

/** True for a reading of any of the tool's words for yes. */
export function isYes(reading: Reading): boolean {
  return reading.kind === "value" && ["Active", "Enabled", "Yes"].includes(reading.text);
}

const TEXT_LIMIT = 80;

function bare(text: string): string {
  const inside = text.trim().replace(/^\[(.*)\]$/, "$1");
  return inside === "" ? "nothing" : inside.slice(0, TEXT_LIMIT);
}
