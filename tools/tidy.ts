// The house rules that no linter has. `tidy.test.ts` runs them on the whole tree, and each of them on planted mistakes.
import { existsSync } from "node:fs";
import path from "node:path";
import { plainWords } from "./plain-words.ts";
import type { Complaint, SourceFile } from "./source-files.ts";
import { tablesAtHome } from "./tables-at-home.ts";

type Rule = (files: readonly SourceFile[], root: string) => readonly Complaint[];

/** They plant mistakes to prove that they are found, so they cannot be judged by them. */
const PLANTS_MISTAKES = new Set(["tools/tidy.ts", "tools/tidy.test.ts", "tools/test-run.test.ts"]);

export const rules: Readonly<Record<string, Rule>> = {
  sqlOutsideStores,
  tablesAtHome,
  forbiddenWords,
  clocks,
  privateMembers,
  migrations,
  documentTitles,
  links,
  plainWords,
  fileNames,
  testNames,
  sleepingTests,
  errorCodes,
};

/** The complaints of all rules about these files. `root` is where they lie on this machine, which none may mention. */
export function tidy(files: readonly SourceFile[], root: string): readonly Complaint[] {
  return Object.values(rules).flatMap((rule) => rule(files, root));
}

/** Every line of the text that matches, as complaints. */
function linesMatching(file: SourceFile, pattern: RegExp, complaint: (found: string) => string): readonly Complaint[] {
  return file.text.split("\n").flatMap((line, index) => {
    const found = pattern.exec(line);
    return found === null ? [] : [`${file.path}:${index + 1}: ${complaint(found[0].trim())}`];
  });
}

function isTest(file: SourceFile): boolean {
  return /\.(test|contract)\.ts$|(^|\/)test\/|^(bench|tools)\//.test(file.path);
}

function productCode(files: readonly SourceFile[]): readonly SourceFile[] {
  return files.filter((file) => /\.tsx?$/.test(file.path) && !isTest(file));
}

/** All SQL of a domain stands in its stores, where it can be found, explained and tested. */
function sqlOutsideStores(files: readonly SourceFile[]): readonly Complaint[] {
  const statement =
    /\bsql(<[^`]*>)?`|["'`]\s*(select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|create\s+table)\b|\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(/i;
  return productCode(files)
    .filter((file) => !/store\.ts$|^server\/src\/db\//.test(file.path))
    .flatMap((file) => linesMatching(file, statement, (found) => `SQL (${found}) belongs into a store`));
}

/** Words that say that something is unfinished, or that only make sense where it was written. */
function forbiddenWords(files: readonly SourceFile[], root: string): readonly Complaint[] {
  const unfinished = /\b(TODO|FIXME|XXX|HACK)\b/;
  const switchedOff = /\b(test|it|describe|suite)\.(skip|only|todo)\b|\{\s*(skip|only|todo):\s*true/;
  const machine = new RegExp(`${root.replace(/[.*+?^$()[\]{}|\\]/g, "\\$&")}\\b|(^|[\\s"'\`(=:])/(home|Users)/\\w`);
  const registry = /https?:\/\/registry\.[\w.]+/i;
  const because: readonly (readonly [RegExp, string])[] = [
    [unfinished, "finish it, or open an issue and say nothing here"],
    [switchedOff, "a test that does not run guards nothing"],
    [machine, "a path of one machine"],
    [registry, "where packages come from is each installation's affair"],
  ];
  return files
    .filter((file) => !PLANTS_MISTAKES.has(file.path))
    .flatMap((file) =>
      because.flatMap(([pattern, reason]) => linesMatching(file, pattern, (found) => `"${found}": ${reason}`)),
    );
}

/** The linter refuses the clock's functions; that `new Date()` without an argument reads it too, it cannot say. */
function clocks(files: readonly SourceFile[]): readonly Complaint[] {
  return productCode(files)
    .filter((file) => !/(^|\/)clock\.ts$/.test(file.path))
    .flatMap((file) => linesMatching(file, /\bnew Date(\(\s*\)|(?=[;,)\s]))/, () => "time is passed in: take a Clock"));
}

/** One spelling of privacy, the language's own; a constructor has none. */
function privateMembers(files: readonly SourceFile[]): readonly Complaint[] {
  return files
    .filter((file) => /\.tsx?$/.test(file.path) && !PLANTS_MISTAKES.has(file.path))
    .flatMap((file) =>
      linesMatching(file, /^\s+private (?!constructor\b)[\w# ]+/, (found) => `"${found}": write #name instead`),
    );
}

/** Migrations run in the order of their numbers, once each, so a number may not be taken twice. */
function migrations(files: readonly SourceFile[]): readonly Complaint[] {
  const seen = new Map<string, string>();
  return files
    .filter((file) => file.path.startsWith("server/migrations/"))
    .flatMap((file) => {
      const name = path.basename(file.path);
      const number = /^(\d{4})_[a-z0-9]+(_[a-z0-9]+)*\.sql$/.exec(name)?.[1];
      if (number === undefined) return [`${file.path}: a migration is called NNNN_what_it_does.sql`];
      const other = seen.get(number);
      seen.set(number, name);
      return other === undefined ? [] : [`${file.path}: ${other} has the same number`];
    });
}

function documentTitles(files: readonly SourceFile[]): readonly Complaint[] {
  return files
    .filter((file) => file.path.endsWith(".md") && !/^# \S/.test(file.text))
    .map((file) => `${file.path}: begins with its title: "# …"`);
}

/** A link within the repository leads to a file that exists, and to a heading of that name in it. */
function links(files: readonly SourceFile[], root: string): readonly Complaint[] {
  const pages = files
    .filter((file) => file.path.endsWith(".md"))
    .map((file) => ({ ...file, text: withoutCode(file.text) }));
  const headings = new Map(pages.map((page) => [page.path, headingsOf(page.text)]));
  return pages.flatMap((page) =>
    [...page.text.matchAll(/\]\((?![a-z]+:)([^)\s#]*)(?:#([^)\s]+))?\)/g)].flatMap(([, target = "", heading]) => {
      const file = target === "" ? page.path : path.join(path.dirname(page.path), target);
      if (!existsSync(path.join(root, file)) && !headings.has(file)) return [`${page.path}: there is no ${target}`];
      const isThere = heading === undefined || headings.get(file)?.has(heading) === true;
      return isThere ? [] : [`${page.path}: ${file} has no heading #${heading}`];
    }),
  );
}

function withoutCode(text: string): string {
  return text.replaceAll(/^ *```[^]*?^ *```$/gm, "");
}

/** The names by which links find the headings of a page. */
function headingsOf(text: string): ReadonlySet<string> {
  const titles = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => title);
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function fileNames(files: readonly SourceFile[]): readonly Complaint[] {
  const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*\.ts$/;
  const component = /^([A-Z][A-Za-z0-9]*|[a-z0-9]+(-[a-z0-9]+)*)\.tsx$/;
  return files
    .filter((file) => /^(protocol|tunnel|server|agent|sdk|cli|console|test|bench|tools)\/.*\.tsx?$/.test(file.path))
    .filter(
      (file) =>
        !file.path.split("/").every((part) => /^[a-z0-9-]+$/.test(part) || kebab.test(part) || component.test(part)),
    )
    .map((file) => `${file.path}: names are kebab-case, and those of components as they are`);
}

/** A test's name is the guarantee that it holds; short ones name a function instead. */
function testNames(files: readonly SourceFile[]): readonly Complaint[] {
  return files
    .filter((file) => /\.(test|contract)\.ts$/.test(file.path))
    .flatMap((file) =>
      linesMatching(
        file,
        /^\s*(test|it)\(\s*(["'`])[^\s"'`]*\2/,
        (found) => `${found}) does not say what it guarantees`,
      ),
    );
}

/** A sleep is too short on a busy machine and too long on an idle one. Between two looks in a loop it is polling. */
function sleepingTests(files: readonly SourceFile[]): readonly Complaint[] {
  const sleep = /\bsetTimeout\(\s*(r|res|resolve|done|\(\))\b|\bawait (\w+\.)?(sleep|delay|setTimeout)\(/;
  return files
    .filter((file) => /\.(test|contract)\.ts$|(^|\/)test\/.*\.ts$/.test(file.path) && !PLANTS_MISTAKES.has(file.path))
    .flatMap((file) => {
      const lines = file.text.split("\n");
      // In the same top-level declaration, above the line.
      const isPolling = (index: number) => {
        const start = lines.findLastIndex((line, at) => at < index && /^\S/.test(line));
        return lines.slice(Math.max(0, start), index + 1).some((line) => /\b(for|while) \(/.test(line));
      };
      return lines.flatMap((line, index) =>
        sleep.test(line) && !isPolling(index)
          ? [`${file.path}:${index + 1}: a test does not sleep: look for the fact, again and again until a deadline`]
          : [],
      );
    });
}

const CODE = "[a-z0-9]+(?:_[a-z0-9]+)*";

/** The codes that clients branch on are a promise: each is documented, and stays so after it was retired. */
function errorCodes(files: readonly SourceFile[]): readonly Complaint[] {
  const document = files.find((file) => file.path === "docs/errors.md");
  if (document === undefined) return ["docs/errors.md: is missing"];
  const rows = [...document.text.matchAll(new RegExp(`^\\| \`(${CODE})\` +\\|(.*)$`, "gm"))];
  const listed = new Map(rows.map(([, code = "", rest = ""]) => [code, rest.includes("retired")]));
  const used = new Map(
    productCode(files)
      .filter((file) => file.path.startsWith("server/"))
      .flatMap((file) => codesIn(file.text).map((code) => [code, file.path] as const)),
  );
  const order = [...listed.keys()];
  return [
    ...[...used]
      .filter(([code]) => !listed.has(code))
      .map(([code, file]) => `${file}: ${code} is not in docs/errors.md`),
    ...[...listed]
      .filter(([code, isRetired]) => !used.has(code) && !isRetired)
      .map(([code]) => `docs/errors.md: no code uses ${code}; mark it as retired, so that it is never used again`),
    ...[...listed]
      .filter(([code, isRetired]) => used.has(code) && isRetired)
      .map(([code]) => `docs/errors.md: ${code} is retired, but used`),
    ...(order.join() === order.toSorted().join() ? [] : ["docs/errors.md: codes stand in alphabetical order"]),
  ];
}

/** Which argument of each constructor of `base/errors.ts` is the code; some have one of their own when it is left out. */
const CODE_ARGUMENT: Readonly<Record<string, number>> = {
  notFound: 0,
  gone: 0,
  conflict: 0,
  unavailable: 0,
  unauthenticated: 1,
  forbidden: 1,
  AppError: 1,
  invalid: 2,
};

/** The codes that a source text gives to the constructors of errors, and those that are their defaults. */
export function codesIn(text: string): readonly string[] {
  const defaults = [...text.matchAll(new RegExp(`\\bcode = "(${CODE})"`, "g"))].map(([, code = ""]) => code);
  const calls = [...text.matchAll(new RegExp(`\\b(${Object.keys(CODE_ARGUMENT).join("|")})\\(`, "g"))];
  const given = calls.flatMap(({ 0: opening, 1: name = "", index }) => {
    const argument = splitArguments(text, index + opening.length)[CODE_ARGUMENT[name] ?? 0] ?? "";
    return new RegExp(`^"(${CODE})"$`).exec(argument)?.[1] ?? [];
  });
  return [...defaults, ...given];
}

/** The arguments of a call whose opening parenthesis ends at `start`: commas within brackets and strings part nothing. */
function splitArguments(text: string, start: number): readonly string[] {
  const parts = [""];
  let depth = 0;
  for (const [token] of text.slice(start).matchAll(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|[^]/g)) {
    if (depth === 0 && token === ")") break;
    if (depth === 0 && token === ",") {
      parts.push("");
      continue;
    }
    if ("([{".includes(token)) depth += 1;
    if (")]}".includes(token)) depth -= 1;
    parts[parts.length - 1] += token;
  }
  return parts.map((part) => part.trim());
}
