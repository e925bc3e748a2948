// `./berth check` and `./berth test` of a file or folder, in a small checkout of their own: the tools themselves and the
// files that they import.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { codesIn } from "./tidy.ts";

const checkout = path.resolve(import.meta.dirname, "..");
const COPIED = ["berth", "package.json", "package-lock.json", "tsconfig.json", ".oxlintrc.json", ".oxfmtrc.json"];
const PROGRAMS = ["check", "test", "boundaries", "dependencies-installed"].map((name) => `tools/${name}.ts`);
const PRELOADED = ["test/support/untracked-promises.ts", "test/support/seed.ts"];
const TEST_IMPORTS = 'import assert from "node:assert/strict";\nimport { test } from "node:test";\n';
const CLEAN = "export const answer = 42;\n";
const BAD_FORMAT = "export const answer  =  42\n";
const BAD_LINT = "export const f = (a: Promise<void>) => {\n  a;\n};\n";
const BAD_TYPE = 'export const answer: number = "42";\n';
let root = "";

before(() => {
  root = mkdtempSync(path.join(tmpdir(), "berth-check-"));
  const sources = withImports([...PROGRAMS, ...PRELOADED]);
  for (const file of [...COPIED, ...sources]) copy(file);
  write("docs/errors.md", errorsPage(sources));
  copy(".dependency-cruiser.cjs");
  write(".gitignore", "node_modules/\n");
  write("server/src/on-main.ts", BAD_FORMAT);
  write("server/src/base/answer.ts", CLEAN);
  write(
    "server/src/base/twice.ts",
    'import { answer } from "./answer.ts";\n\nexport const twice: number = answer + answer;\n',
  );
  linkModules();
  git("init", "--quiet", "--initial-branch=main");
  commit("the main branch");
  git("switch", "--quiet", "--create", "change");
});
after(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  git("reset", "--quiet", "--hard", "main");
  git("clean", "--quiet", "--force", "-d");
});

/** The files and all of ours that they import, directly or not. */
function withImports(start: readonly string[]): readonly string[] {
  const found = new Set(start);
  for (const file of found) {
    const text = readFileSync(path.join(checkout, file), "utf8");
    for (const [, specifier = ""] of text.matchAll(/\bfrom "(\.{1,2}\/[^"]+)"/g)) {
      found.add(path.join(path.dirname(file), specifier));
    }
  }
  return [...found];
}

function errorsPage(sources: readonly string[]): string {
  const server = sources.filter((file) => file.startsWith("server/"));
  const codes = new Set(server.flatMap((file) => codesIn(readFileSync(path.join(checkout, file), "utf8"))));
  return `# Errors\n\n${[...codes]
    .toSorted()
    .map((code) => `| \`${code}\` | 400 | |\n`)
    .join("")}`;
}

/** All packages of this checkout, but another cache, so that the two do not meet. */
function linkModules(): void {
  mkdirSync(path.join(root, "node_modules"));
  for (const entry of readdirSync(path.join(checkout, "node_modules"))) {
    if (entry === ".cache") continue;
    symlinkSync(path.join(checkout, "node_modules", entry), path.join(root, "node_modules", entry));
  }
}

function copy(file: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  copyFileSync(path.join(checkout, file), path.join(root, file));
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

function commit(message: string): void {
  git("add", "--all");
  git("commit", "--quiet", "--message", message);
}

function git(...args: readonly string[]): void {
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
  const { status, stderr } = spawnSync("git", [...identity, ...args], {
    cwd: root,
    encoding: "utf8",
    env: environment(),
  });
  assert.equal(status, 0, stderr);
}

/** An environment without traces of the run that this test is part of, and without the developer's settings. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], HOME: path.join(root, "node_modules/.home"), GIT_CONFIG_NOSYSTEM: "1" };
}

type Outcome = { readonly code: number | null; readonly text: string };

function berth(...args: readonly string[]): Outcome {
  const options = { cwd: root, encoding: "utf8", env: environment() } as const;
  const { status, stdout, stderr } = spawnSync(path.join(root, "berth"), args, options);
  return { code: status, text: stdout + stderr };
}

/** The names of the checks that failed, and all of them that were made. */
function checksOf({ text }: Outcome) {
  const lines = [...text.matchAll(/^── (.+): (ok|FAILED) \(/gm)];
  return {
    made: lines.map(([, name = ""]) => name),
    failed: lines.filter(([, , verdict]) => verdict === "FAILED").map(([, name = ""]) => name),
  };
}

test("a clean tree is fine, also when the main branch has mistakes", () => {
  const outcome = berth("check");
  assert.deepEqual([outcome.code, checksOf(outcome).failed], [0, []], outcome.text);
  assert.match(outcome.text, /^Fine: 0 files changed since [0-9a-f]{8}, in [\d.]+ s\.$/m);
});

test("a changed file that is wrongly formatted, that the linter refuses or that has a wrong type is found", () => {
  write("server/src/base/typed.ts", BAD_TYPE);
  commit("a wrong type, committed");
  write("server/src/base/linted.ts", BAD_LINT);
  git("add", "server/src/base/linted.ts");
  write("server/src/base/formatted.ts", BAD_FORMAT);
  const bad = berth("check");
  assert.equal(bad.code, 1, bad.text);
  assert.deepEqual(checksOf(bad).failed, ["format", "lint", "types"], bad.text);
  for (const name of ["typed", "linted", "formatted"]) assert.match(bad.text, new RegExp(`base/${name}\\.ts`));
  assert.doesNotMatch(bad.text, /on-main\.ts/);

  for (const name of ["typed", "linted", "formatted"]) write(`server/src/base/${name}.ts`, CLEAN);
  const mended = berth("check");
  assert.deepEqual([mended.code, checksOf(mended).failed], [0, []], mended.text);
  assert.match(mended.text, /^Fine: 3 files changed/m);
});

test("a type that breaks a file that was not changed, an import over a boundary and a broken house rule are found", () => {
  write("server/src/base/answer.ts", 'export const answer = "42";\n');
  write("server/src/base/reaching.ts", 'export { answer } from "../main.ts";\n');
  write("server/src/main.ts", `// ${["TO", "DO"].join("")}: later\n${CLEAN}`);
  const outcome = berth("check");
  assert.deepEqual(checksOf(outcome).failed, ["boundaries", "types", "house rules"], outcome.text);
  assert.match(outcome.text, /base\/twice\.ts\(\d+,\d+\): error/);
  assert.match(outcome.text, /reaching\.ts -> server\/src\/main\.ts/);
});

test("a changed configuration, --all and the lack of a repository check every file", () => {
  assert.match(berth("check", "--all").text, /on-main\.ts/);
  write(".oxfmtrc.json", readFileSync(path.join(checkout, ".oxfmtrc.json"), "utf8").replace("120", "110"));
  assert.match(berth("check").text, /on-main\.ts/);
  git("reset", "--quiet", "--hard");
  assert.equal(berth("check", "--since", "main").code, 0);
  const unknown = berth("check", "--since", "nowhere");
  assert.equal(unknown.code, 2);
  assert.match(unknown.text, /^berth check: there is no commit nowhere/);
  renameSync(path.join(root, ".git"), path.join(root, "no-repository"));
  try {
    assert.match(berth("check").text, /on-main\.ts/);
  } finally {
    renameSync(path.join(root, "no-repository"), path.join(root, ".git"));
  }
});

test("`berth test FILE` fails for a test that passes but has a wrong type or a wrong format", () => {
  const file = "server/src/base/small.test.ts";
  write(file, `${TEST_IMPORTS}\ntest("one is one", () => assert.equal(1, 1));\n`);
  const good = berth("test", file);
  assert.deepEqual([good.code, good.text.trim().split("\n").at(-1)], [0, "1 passed, 0 failed"], good.text);
  assert.deepEqual(checksOf(good).made, ["tests", "format", "lint and types", "boundaries", "house rules"]);
  write(file, `${TEST_IMPORTS}const one: string  = 1;\n\ntest("one is one", () => assert.equal(one, 1));\n`);
  const bad = berth("test", file);
  assert.deepEqual([bad.code, bad.text.trim().split("\n").at(-1)], [1, "1 passed, 1 failed"], bad.text);
  assert.deepEqual(checksOf(bad).failed, ["format", "lint and types"], bad.text);
});

test("`berth test FOLDER` runs the tests at every depth below the folder, and checks all its sources", () => {
  for (const name of ["one", "two/three/four"]) {
    write(`sdk/src/${name}.test.ts`, `${TEST_IMPORTS}\ntest("one is one", () => assert.equal(1, 1));\n`);
  }
  const good = berth("test", "sdk");
  assert.deepEqual([good.code, good.text.trim().split("\n").at(-1)], [0, "2 passed, 0 failed"], good.text);
  write("sdk/src/two/source.ts", BAD_TYPE);
  const bad = berth("test", "sdk/src/two");
  assert.deepEqual([bad.code, bad.text.trim().split("\n").at(-1)], [1, "1 passed, 1 failed"], bad.text);
  assert.deepEqual(checksOf(bad).failed, ["lint and types"], bad.text);
  const empty = berth("test", "docs");
  assert.equal(empty.code, 1);
  assert.match(empty.text, /^no test below docs$/m);
});
