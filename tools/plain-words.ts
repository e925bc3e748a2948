// How sentences read: comments start with their subject, and some words are not used at all.
import type { Complaint, SourceFile } from "./source-files.ts";

/** Migrations stay as they ran, generated files follow their source, and the others name what they refuse. */
const EXEMPT =
  /^CONTRIBUTING\.md$|^server\/(migrations\/|openapi\.json|schema\.sql)|^sdk\/src\/operations\.ts$|^tools\/(plain-words|tidy)\b/;
/** Openings without a subject: "What is found" instead of "Offers that match a search". */
const OPENINGS = [
  "What",
  "Of",
  "Where",
  "Whether",
  "Whoever",
  "Whatever",
  "Undefined",
  "None",
  "Nothing",
  "Such",
  "Else",
];
const FIRST = `(?:${OPENINGS.join("|")})\\b|So (?:many|much|long|old)\\b`;
const OPENING = new RegExp(`^\\s*(?:(?:/\\*\\*|//)\\s+|(?:test|it)\\(\\s*["'\`])(${FIRST})`, "i");
/** The same in a comment of several lines, whose first line is only its sign. */
const BLOCK_OPENING = new RegExp(`^\\s*\\*\\s+(${FIRST})`, "i");
const OPENING_RULE = "a comment or a test starts with its subject (CONTRIBUTING.md)";
const WORD_RULE = 'say who or what is meant; a person is "they" (CONTRIBUTING.md)';
/** Glue that hides the subject, and a person who is not "they". */
const WORDS = /\b(?:whoever|whatever|wherever|whomever|anew|he|his|him|himself)\b/i;

/** Complaints about sentences of a file that do not keep the rule, by their lines. */
export function plainWords(files: readonly SourceFile[]): readonly Complaint[] {
  return files.filter(({ path }) => !EXEMPT.test(path) && !path.endsWith(".json")).flatMap(findUnplain);
}

function findUnplain({ path, text }: SourceFile): readonly Complaint[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const continues = /^\s*\/\//.test(line) && /^\s*\/\//.test(lines[index - 1] ?? "");
    const pattern = /^\s*\/\*\*$/.test(lines[index - 1] ?? "") ? BLOCK_OPENING : OPENING;
    const opening = /\.tsx?$/.test(path) && !continues ? pattern.exec(line)?.[1] : undefined;
    const found = opening ?? WORDS.exec(line)?.[0];
    return found === undefined
      ? []
      : [`${path}:${index + 1}: "${found}": ${opening === undefined ? WORD_RULE : OPENING_RULE}`];
  });
}
