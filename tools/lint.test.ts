// Proves that the linter still finds what .oxlintrc.json asks for: names of rules and options change between versions,
// and a rule that does not exist any more finds nothing.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";

const checkout = path.resolve(import.meta.dirname, "..");

/** A planted mistake for each rule, in a file of product code. */
const planted: Readonly<Record<string, string>> = {
  "eslint(eqeqeq)": "export const f = (a: number | null) => a == null;",
  "eslint(max-lines)": "// A line.\n".repeat(401),
  "eslint(max-lines-per-function)": `export function f(): number {\n${"  // A line.\n".repeat(70)}  return 1;\n}`,
  "eslint(no-console)": "console.log(1);",
  "eslint(no-empty)": "export const f = () => {\n  try {\n    JSON.parse('');\n  } catch {}\n};",
  "eslint(no-restricted-globals)": "setTimeout(() => {}, 1);",
  "eslint(no-restricted-imports)": 'import { setTimeout as sleep } from "node:timers/promises";\nvoid sleep(1);',
  "eslint(no-restricted-properties)": "export const now = Date.now();",
  "import(no-cycle)": 'import { a } from "./cycle.ts";\nexport const b = (): number => a();',
  "import(no-default-export)": "export default 1;",
  "typescript(consistent-type-imports)": 'import { Stats } from "node:fs";\nexport type A = Stats;',
  "typescript(no-explicit-any)": "export const a: any = 1;",
  "typescript(no-floating-promises)": "export const f = (a: Promise<void>) => {\n  a;\n  a.then(() => {});\n};",
  "typescript(no-misused-promises)": "export const f = (a: Promise<boolean>) => {\n  if (a) return 1;\n  return 2;\n};",
  "typescript(no-non-null-assertion)": "export const f = (a: string | undefined) => a!.length;",
  "typescript(switch-exhaustiveness-check)":
    'export function f(a: "x" | "y"): void {\n  switch (a) {\n    case "x":\n      return;\n  }\n}',
};

const fileOf = (rule: string) => `server/src/${rule.replace(/\W+/g, "-")}.ts`;
let root = "";

before(() => {
  root = mkdtempSync(path.join(tmpdir(), "berth-lint-"));
  mkdirSync(path.join(root, "server/src"), { recursive: true });
  for (const file of [".oxlintrc.json", "tsconfig.json", "package.json"]) {
    copyFileSync(path.join(checkout, file), path.join(root, file));
  }
  symlinkSync(path.join(checkout, "node_modules"), path.join(root, "node_modules"));
});
after(() => rmSync(root, { recursive: true, force: true }));

/** The rules that the linter finds broken, by file. It is told to fail on warnings by its configuration. */
function lint(files: Readonly<Record<string, string>>): {
  readonly found: Map<string, Set<string>>;
  readonly code: number | null;
} {
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(root, file), `${text}\n`);
  const linter = path.join(checkout, "node_modules/.bin/oxlint");
  const done = spawnSync(process.execPath, [linter, "--format=json", "server"], { cwd: root, encoding: "utf8" });
  for (const file of Object.keys(files)) rmSync(path.join(root, file));
  const { diagnostics }: { diagnostics: { filename: string; code: string }[] } = JSON.parse(done.stdout);
  const found = Map.groupBy(diagnostics, ({ filename }) => path.normalize(filename));
  return {
    found: new Map([...found].map(([file, entries]) => [file, new Set(entries.map(({ code }) => code))])),
    code: done.status,
  };
}

test("the linter finds each planted mistake", () => {
  const files = Object.fromEntries(Object.entries(planted).map(([rule, text]) => [fileOf(rule), text]));
  const { found, code } = lint({
    ...files,
    "server/src/cycle.ts": `import { b } from "./${path.basename(fileOf("import(no-cycle)"))}";\nexport const a = (): number => b();`,
  });
  assert.equal(code, 1);
  for (const rule of Object.keys(planted)) {
    assert.ok(found.get(fileOf(rule))?.has(rule), `${rule}: ${[...(found.get(fileOf(rule)) ?? [])].join()}`);
  }
});

test("correct code, and liberties of tests, give no finding", () => {
  const { found, code } = lint({
    "server/src/a.test.ts":
      'import { test } from "node:test";\ntest("time passes", () => void setTimeout(() => {}, Date.now()));',
    "server/src/b.ts":
      'export function f(a: "x" | "y"): number {\n  switch (a) {\n    case "x":\n      return 1;\n    default:\n      return 2;\n  }\n}',
  });
  assert.deepEqual([found.size, code], [0, 0]);
});
