import { invalid } from "../../../../base/errors.ts";

/**
 * Splits a command line into words as a POSIX shell does with quotes and backslashes, and expands nothing. An open
 * quote or a trailing backslash is `invalid`; the message never repeats the text, which may hold secrets.
 */
export function splitShellWords(text: string, field: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (quote === "'" && character !== "'") {
      word += character;
    } else if (character === "\\") {
      index += 1;
      const next = text.charAt(index);
      if (next === "") throw invalid(field, `${field} ends with a backslash`);
      // Between double quotes a backslash escapes only what is special there.
      const isLiteral = quote === '"' && !DOUBLE_QUOTE_ESCAPES.has(next);
      if (next !== "\n" || isLiteral) word = (word ?? "") + (isLiteral ? character + next : next);
    } else if (character === quote) {
      quote = "";
    } else if (quote === "" && (character === '"' || character === "'")) {
      quote = character;
      word ??= "";
    } else if (quote === "" && BLANK.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (quote !== "") throw invalid(field, `${field} has a quote that is not closed`);
  if (word !== undefined) words.push(word);
  return words;
}

const BLANK = /\s/;
const DOUBLE_QUOTE_ESCAPES: ReadonlySet<string> = new Set(['"', "\\", "$", "`", "\n"]);
