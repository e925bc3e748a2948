// How sentences read: comments start with their subject, and some words are not used at all. What was written before the
// rule is counted file by file in plain-words.json, which only shrinks. Run with the beginnings of paths
// it prints the places there; with --update it lowers the counts to what is left.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { readTree, type Complaint, type SourceFile } from "./source-files.ts";

const LIST = "tools/plain-words.json";
/** Migrations stay as they ran, generated files follow their source, and the others name what they refuse. */
const EXEMPT =
  /^server\/(migrations\/|openapi\.json|schema\.sql)|^sdk\/src\/operations\.ts$|^tools\/(plain-words|tidy)\b/;
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
const OPENING = new RegExp(`^\\s*(?:(?:/\\*\\*|//)\\s+|(?:test|it)\\(\\s*["'\`])(?:${FIRST})`, "i");
/** Glue that hides the subject, and a person who is not "they". */
const WORDS = /\b(?:whoever|whatever|wherever|whomever|anew|he|his|him|himself)\b/i;

/** Line numbers, from 1, of the sentences of a file that do not keep the rule. */
export function findUnplain({ path: name, text }: SourceFile): readonly number[] {
  if (EXEMPT.test(name) || name.endsWith(".json")) return [];
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const continues = /^\s*\/\//.test(line) && /^\s*\/\//.test(lines[index - 1] ?? "");
    const isOpening = name.endsWith(".ts") && !continues && OPENING.test(line);
    return isOpening || WORDS.test(line) ? [index + 1] : [];
  });
}

/** Complaints about files that have more such sentences than the list allows, or fewer: then the list is lowered. */
export function plainWords(files: readonly SourceFile[]): readonly Complaint[] {
  const list = files.find((file) => file.path === LIST);
  const allowed: Readonly<Record<string, number>> = list === undefined ? {} : JSON.parse(list.text);
  const judged = files.map((file) => ({ file, found: findUnplain(file), limit: allowed[file.path] ?? 0 }));
  const gone = Object.keys(allowed).filter((name) => !files.some((file) => file.path === name));
  return [
    ...judged.flatMap(({ file, found, limit }) => (found.length > limit ? [complain(file, found, limit)] : [])),
    ...judged
      .filter(({ found, limit }) => found.length < limit)
      .map(({ file }) => `${LIST}: ${file.path} has fewer by now; run tools/plain-words.ts --update`),
    ...gone.map((name) => `${LIST}: there is no ${name}; run tools/plain-words.ts --update`),
  ];
}

function complain(file: SourceFile, found: readonly number[], limit: number): Complaint {
  const rule = "a comment starts with its subject, and says neither whoever, whatever, anew nor he (CONTRIBUTING.md)";
  return `${file.path}: ${rule}; lines ${found.join(", ")}${limit === 0 ? "" : ` (${limit} are from before the rule)`}`;
}

/** How many such sentences each file has that has any. */
export function countUnplain(files: readonly SourceFile[]): Readonly<Record<string, number>> {
  const found = files.map((file) => [file.path, findUnplain(file).length] as const);
  return Object.fromEntries(found.filter(([, count]) => count > 0));
}

if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, "..");
  const [first, ...more] = process.argv.slice(2);
  const files = readTree(root);
  if (first === "--update") writeFileSync(path.join(root, LIST), `${JSON.stringify(countUnplain(files), null, 2)}\n`);
  else printUnplain(files.filter((file) => [first ?? "", ...more].some((start) => file.path.startsWith(start))));
}

function printUnplain(files: readonly SourceFile[]): void {
  for (const file of files) {
    const lines = file.text.split("\n");
    for (const number of findUnplain(file)) console.log(`${file.path}:${number}: ${lines[number - 1]?.trim()}`);
  }
}
