// Checks who imports whom by the rules of .dependency-cruiser.cjs, and that the checker really read every file: a parser
// that quietly reads nothing reports no violation either. With files as arguments it checks only what these import.
import {
  cruise,
  type ICruiseOptions,
  type ICruiseResult,
  type IForbiddenRuleType,
  type IModule,
} from "dependency-cruiser";
import { existsSync, globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const ROOMS = ["protocol", "tunnel", "server", "agent", "sdk", "worker", "cli", "console", "test", "bench", "tools"];
const OWN_IMPORT = /^\s*(?:import|export)\b[^;]*?\bfrom\s*"\.{1,2}\//m;

type Configuration = {
  readonly forbidden: IForbiddenRuleType[];
  readonly options: ICruiseOptions;
};

const configuration: Configuration = createRequire(import.meta.url)("../.dependency-cruiser.cjs");

/** Every complaint about the tree under `root`, one line each; none means that all rules hold in all files. */
export async function checkBoundaries(root: string): Promise<readonly string[]> {
  const rooms = ROOMS.filter((room) => existsSync(path.join(root, room)));
  const files = globSync(
    rooms.map((room) => `${room}/**/*.{ts,tsx}`),
    { cwd: root, exclude: ["**/node_modules/**"] },
  );
  return checkImports(root, rooms, files, {});
}

/** Checks the imports of these files alone, in a fraction of the time. Only cycles among them are found. */
export async function checkBoundariesOf(root: string, files: readonly string[]): Promise<readonly string[]> {
  const inRooms = files.filter((file) => ROOMS.includes(file.split("/")[0] ?? ""));
  if (inRooms.length === 0) return [];
  const escaped = inRooms.map((file) => file.replace(/[.*+?^$()[\]{}|\\]/g, "\\$&"));
  return checkImports(root, inRooms, inRooms, { doNotFollow: { path: `^(?!(${escaped.join("|")})$)` } });
}

async function checkImports(
  root: string,
  start: readonly string[],
  files: readonly string[],
  extent: Pick<ICruiseOptions, "doNotFollow">,
): Promise<readonly string[]> {
  const { options, forbidden } = configuration;
  const rules = { validate: true, ruleSet: { forbidden }, baseDir: root };
  const { output } = await cruise([...start], { ...options, ...extent, ...rules });
  if (typeof output === "string") throw new Error("the boundaries were checked with the wrong reporter");
  return [...findUnread(root, files, output.modules), ...describeViolations(output)];
}

/** Complaints about files that exist but were not read, or whose imports were not found in them. */
export function findUnread(
  root: string,
  files: readonly string[],
  modules: readonly Pick<IModule, "source" | "dependencies">[],
): string[] {
  if (files.length === 0) return ["no files: there is nothing to check"];
  const dependencyCounts = new Map(modules.map((module) => [module.source, module.dependencies.length]));
  return files.flatMap((file) => {
    const dependencyCount = dependencyCounts.get(file);
    if (dependencyCount === undefined) return [`${file}: was not read`];
    const hasOwnImports = OWN_IMPORT.test(readFileSync(path.join(root, file), "utf8"));
    return hasOwnImports && dependencyCount === 0 ? [`${file}: its imports were not found`] : [];
  });
}

function describeViolations(result: ICruiseResult): string[] {
  const reasons = new Map(configuration.forbidden.map((rule) => [rule.name, rule.comment]));
  return result.summary.violations.map(({ from, to, rule }) => {
    const target = to === from ? "" : ` -> ${to}`;
    return `${from}${target}: ${reasons.get(rule.name) ?? ""} (${rule.name})`;
  });
}

if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, "..");
  const files = process.argv.slice(2);
  const complaints = files.length === 0 ? await checkBoundaries(root) : await checkBoundariesOf(root, files);
  for (const complaint of complaints) console.error(complaint);
  process.exitCode = complaints.length === 0 ? 0 : 1;
}
