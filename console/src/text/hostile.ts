// Text that somebody else wrote: names, labels, logs, messages of status.

/** Marks that turn the order of the text around them, and others that are not to be seen. */
const INVISIBLE = /(?![\t\n])\p{Cc}|[\u00AD\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/gu;

/** The text in pieces; a mark that would not be seen comes as its code point. */
export function piecesOf(text: string): readonly { readonly text: string; readonly isMark: boolean }[] {
  const marks = [...text.matchAll(INVISIBLE)];
  const pieces = marks.flatMap((mark, index) => {
    const start = index === 0 ? 0 : (marks[index - 1]?.index ?? 0) + 1;
    return [
      { text: text.slice(start, mark.index), isMark: false },
      { text: `U+${(mark[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`, isMark: true },
    ];
  });
  const last = marks.at(-1);
  const rest = last === undefined ? text : text.slice(last.index + 1);
  return [...pieces, { text: rest, isMark: false }].filter((piece) => piece.text !== "");
}

/** The text with each mark that would not be seen as its code point. */
export function visibleText(text: string): string {
  return piecesOf(text)
    .map((piece) => piece.text)
    .join("");
}
