// Checks who imports whom by the rules of .dependency-cruiser.cjs, and that the checker really read every file: a parser
// that quietly reads nothing reports no violation either.
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

const ROOMS = ["protocol", "server", "agent", "sdk", "worker", "cli", "console", "test", "bench", "tools"];
const OWN_IMPORT = /^\s*(?:import|export)\b[^;]*?\bfrom\s*"\.{1,2}\//m;

type Configuration = {
  /** Files that hold pure rules, by their names. */
  readonly rulesFiles: readonly string[];
  readonly forbidden: IForbiddenRuleType[];
  readonly options: ICruiseOptions;
};

const configuration: Configuration = createRequire(import.meta.url)("../.dependency-cruiser.cjs");

/** Every complaint about the tree under `root`, one line each; none means that all rules hold in all files. */
export async function checkBoundaries(root: string): Promise<readonly string[]> {
  const rooms = ROOMS.filter((room) => existsSync(path.join(root, room)));
  const files = globSync(
    rooms.map((room) => `${room}/**/*.ts`),
    { cwd: root, exclude: ["**/node_modules/**"] },
  );
  const { options, forbidden } = configuration;
  const { output } = await cruise(rooms, { ...options, validate: true, ruleSet: { forbidden }, baseDir: root });
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

/** A rules file that was renamed would otherwise quietly stop being one. */
export function findMissingRules(root: string): string[] {
  return configuration.rulesFiles
    .filter((file) => !existsSync(path.join(root, file)))
    .map((file) => `${file}: is listed among the pure rules, but does not exist`);
}

if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, "..");
  const complaints = [...findMissingRules(root), ...(await checkBoundaries(root))];
  for (const complaint of complaints) console.error(complaint);
  process.exitCode = complaints.length === 0 ? 0 : 1;
}
