// Colours of terminals in what programs print. Nothing of an escape sequence is ever shown as markup or carried out.

export type Look = { readonly color: Color | undefined; readonly isBold: boolean; readonly isDim: boolean };
export type Color = "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "grey";
export type Piece = Look & { readonly text: string };

export const PLAIN: Look = { color: undefined, isBold: false, isDim: false };

const ESCAPE = "\u001B";
const BELL = "\u0007";
/** Parameters and final letter of a control sequence, behind the escape. */
const SEQUENCE = /^\[([0-?]*)[ -/]*([@-~])/;
/** The beginning of text for the terminal itself, such as the title of its window. */
const TEXT_FOR_TERMINAL = /^[\]PX^_]/;
const COLORS: readonly (Color | undefined)[] = [
  ...(["grey", "red", "green", "yellow", "blue", "magenta", "cyan"] as const),
  undefined,
];

/** The text in pieces of one look each, and the look of what follows. Other escape sequences are left out. */
export function readAnsi(text: string, start: Look): { readonly pieces: readonly Piece[]; readonly look: Look } {
  const [first = "", ...rest] = text.split(ESCAPE);
  const pieces: Piece[] = [{ ...start, text: first }];
  let look = start;
  for (const part of rest) {
    const sequence = SEQUENCE.exec(part);
    if (sequence?.[2] === "m") look = lookAfter(look, sequence[1] ?? "");
    pieces.push({ ...look, text: sequence === null ? behindOther(part) : part.slice(sequence[0].length) });
  }
  return { pieces: pieces.filter((piece) => piece.text !== ""), look };
}

/** The text behind an escape that begins no control sequence. */
function behindOther(part: string): string {
  if (!TEXT_FOR_TERMINAL.test(part)) return part.slice(1);
  const end = part.indexOf(BELL);
  // Without a bell it ends with the next escape, behind which stands a backslash.
  return end === -1 ? "" : part.slice(end + 1);
}

function lookAfter(look: Look, parameters: string): Look {
  const codes = parameters.split(/[;:]/).map(Number);
  let next = look;
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    // A colour of a larger palette has its own parameters, and is shown as none.
    if (code === 38 || code === 48) {
      index += codes[index + 1] === 2 ? 4 : 2;
      if (code === 38) next = { ...next, color: undefined };
    } else next = lookWith(next, code);
  }
  return next;
}

function lookWith(look: Look, code: number): Look {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...look, isBold: true };
  if (code === 2) return { ...look, isDim: true };
  if (code === 22) return { ...look, isBold: false, isDim: false };
  if (code === 39) return { ...look, color: undefined };
  if (code >= 30 && code <= 37) return { ...look, color: COLORS[code - 30] };
  if (code >= 90 && code <= 97) return { ...look, color: COLORS[code - 90] };
  return look;
}
