// Checks that read the sources without running them. `./berth test` makes them of the whole tree, one after the other;
// `./berth check` and `./berth test PATH` make the quick ones of some files, all at once.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { systemClock } from "../server/src/base/clock.ts";
import { lintTree } from "./migration-locks/lint.ts";
import { readTree } from "./source-files.ts";
import { tidy } from "./tidy.ts";

export type CheckResult = { readonly isFine: boolean; readonly output: string };
export type Check = { readonly name: string; readonly run: () => Promise<CheckResult> };

/** Generators of files that are in the repository: with `--check` each says whether its files are up to date. */
const GENERATORS = [
  "tools/dump-schema.ts",
  "tools/generate-openapi.ts",
  "tools/generate-sdk.ts",
  "tools/generate-help.ts",
];
const NODE_OPTIONS = ["--disable-warning=ExperimentalWarning"];
/** The compiler's memory between runs. A file is checked again when it, or the type of something it uses, has changed. */
const TYPES_CACHE = "node_modules/.cache";
/** Projects of the compiler: the console runs in browsers, whose types no other room has. */
const PROJECTS = [
  { name: "types", folder: "." },
  { name: "types of the console", folder: "console" },
];
const MIGRATION = /^server\/migrations\/|^tools\/migration-locks\//;
const SOURCE = /\.[cm]?[jt]sx?$/;
/** Configuration that each file is checked by: when it has changed, every file has to be looked at. */
const CONFIGURATION =
  /^(\.oxfmtrc\.json|\.oxlintrc\.json|\.dependency-cruiser\.cjs|(console\/)?tsconfig\.json|package-lock\.json)$/;

export function wholeTreeChecks(root: string): readonly Check[] {
  return [
    formatCheck(root),
    lintCheck(root),
    ...typeChecks(root),
    boundariesCheck(root),
    { name: "unused code", run: () => runTool(root, "knip") },
    migrationsCheck(root),
    ...GENERATORS.filter((file) => existsSync(path.join(root, file))).map((file) => ({
      name: `generated files unchanged (${path.basename(file, ".ts")})`,
      run: () => runTool(root, "node", ...NODE_OPTIONS, file, "--check"),
    })),
  ];
}

/**
 * Format, lint and imports of these files, and the types of the whole tree, since a changed type breaks others. Of the
 * whole tree nothing is left out when the configuration is among the files, or the files are not known.
 */
export function changeChecks(root: string, changed: readonly string[] | undefined): readonly Check[] {
  const files = changed?.some((file) => CONFIGURATION.test(file)) === true ? undefined : changed;
  return [
    ...(files?.length === 0 ? [] : [formatCheck(root, files)]),
    ...(files !== undefined && !files.some(isSource) ? [] : [lintCheck(root, files), boundariesCheck(root, files)]),
    ...typeChecks(root, (folder) => ["--incremental", "--tsBuildInfoFile", cacheOf(folder)]),
    { name: "house rules", run: () => checkHouseRules(root) },
    ...(files !== undefined && !files.some((file) => MIGRATION.test(file)) ? [] : [migrationsCheck(root)]),
  ];
}

/** Checks these files alone: a type that they break in another file is not found. */
export function fileChecks(root: string, files: readonly string[]): readonly Check[] {
  if (files.length === 0) return [];
  return [
    formatCheck(root, files),
    { ...lintCheck(root, files, ["--type-check"]), name: "lint and types" },
    boundariesCheck(root, files),
    { name: "house rules", run: () => checkHouseRules(root, files) },
  ];
}

/** A check that has been started, and what it came to. */
export type RunningCheck = Promise<CheckResult & { readonly name: string; readonly seconds: string }>;

export function startChecks(checks: readonly Check[]): readonly RunningCheck[] {
  return checks.map(async ({ name, run }) => {
    const start = systemClock.monotonicMs();
    const result = await run();
    return { name, ...result, seconds: ((systemClock.monotonicMs() - start) / 1000).toFixed(1) };
  });
}

/** Prints each check when it is done, in their order; a tool's output only when it found something. */
export async function showChecks(running: readonly RunningCheck[]): Promise<boolean> {
  let isAllFine = true;
  for (const each of running) {
    const { name, isFine, output, seconds } = await each;
    if (!isFine) process.stdout.write(`${output.trimEnd()}\n`);
    console.log(`── ${name}: ${isFine ? "ok" : "FAILED"} (${seconds} s)`);
    isAllFine &&= isFine;
  }
  return isAllFine;
}

function typeChecks(root: string, options: (folder: string) => readonly string[] = () => []): readonly Check[] {
  const present = PROJECTS.filter(({ folder }) => existsSync(path.join(root, folder, "tsconfig.json")));
  return present.map(({ name, folder }) => ({
    name,
    run: () => runTool(root, "tsc", "--noEmit", "--project", folder, ...options(folder)),
  }));
}

function cacheOf(folder: string): string {
  return path.join(TYPES_CACHE, `types${folder === "." ? "" : `-${folder}`}.tsbuildinfo`);
}

function formatCheck(root: string, files: readonly string[] = []): Check {
  // Not every kind of file is formatted, and to be given none that is would be an error.
  return { name: "format", run: () => runTool(root, "oxfmt", "--check", "--no-error-on-unmatched-pattern", ...files) };
}

function lintCheck(root: string, files: readonly string[] = [], options: readonly string[] = []): Check {
  const sources = files.filter(isSource);
  return {
    name: "lint",
    run: () => runTool(root, "oxlint", "--type-aware", ...options, "--no-error-on-unmatched-pattern", ...sources),
  };
}

function boundariesCheck(root: string, files: readonly string[] = []): Check {
  const sources = files.filter((file) => /\.tsx?$/.test(file));
  return { name: "boundaries", run: () => runTool(root, "node", ...NODE_OPTIONS, "tools/boundaries.ts", ...sources) };
}

function migrationsCheck(root: string): Check {
  return {
    name: "migrations",
    run: async () => {
      const complaints = existsSync(path.join(root, "server/migrations")) ? await lintTree(root) : [];
      return { isFine: complaints.length === 0, output: complaints.join("\n") };
    },
  };
}

function isSource(file: string): boolean {
  return SOURCE.test(file);
}

async function checkHouseRules(root: string, files?: readonly string[]): Promise<CheckResult> {
  const complaints = tidy(readTree(root), root);
  const ours = complaints.filter((text) => files === undefined || files.includes(text.split(":")[0] ?? ""));
  return { isFine: ours.length === 0, output: ours.join("\n") };
}

/** Runs an installed tool, or `node`, with the pinned Node instead of the system's. */
function runTool(root: string, name: string, ...args: readonly string[]): Promise<CheckResult> {
  const pathVariable = [path.dirname(process.execPath), path.join(root, "node_modules/.bin"), process.env["PATH"]];
  const colors = process.stdout.isTTY ? { FORCE_COLOR: "1" } : {};
  const env = { ...process.env, ...colors, PATH: pathVariable.join(":") };
  const child = spawn(name, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  return new Promise((resolve) => {
    child.on("error", ({ message }) => resolve({ isFine: false, output: `${name}: ${message}` }));
    child.on("close", (code) => resolve({ isFine: code === 0, output }));
  });
}
