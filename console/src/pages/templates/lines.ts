/** A line of a change: it is in both texts, or only in the one before, or only in the one after. */
export type Line = { readonly kind: "same" | "gone" | "new"; readonly text: string };

/** Longer texts are shown whole, one after the other. */
const LINES_MAX = 300;

/** The lines of two texts in one list: the longest common run of lines stays, the others go or come. */
export function linesBetween(before: string, after: string): readonly Line[] {
  const [old, next] = [before.split("\n"), after.split("\n")];
  if (old.length > LINES_MAX || next.length > LINES_MAX) {
    return [...old.map((text) => line("gone", text)), ...next.map((text) => line("new", text))];
  }
  const lengths = commonLengths(old, next);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < next.length) {
    const [one, other] = [old[i], next[j]];
    if (one !== undefined && one === other) {
      lines.push(line("same", one));
      i += 1;
      j += 1;
    } else if (one !== undefined && (other === undefined || at(lengths, i + 1, j) >= at(lengths, i, j + 1))) {
      lines.push(line("gone", one));
      i += 1;
    } else {
      lines.push(line("new", other ?? ""));
      j += 1;
    }
  }
  return lines.filter(({ kind, text }) => kind === "same" || text !== "" || lines.length > 2);
}

function line(kind: Line["kind"], text: string): Line {
  return { kind, text };
}

/** The number of lines that the rests of both texts have in common, from each pair of places on. */
function commonLengths(old: readonly string[], next: readonly string[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: old.length + 1 }, () => Array.from({ length: next.length + 1 }, () => 0));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = next.length - 1; j >= 0; j -= 1) {
      const row = lengths[i];
      if (row === undefined) continue;
      row[j] =
        old[i] === next[j] ? at(lengths, i + 1, j + 1) + 1 : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1));
    }
  }
  return lengths;
}

function at(lengths: readonly (readonly number[])[], i: number, j: number): number {
  return lengths[i]?.[j] ?? 0;
}
