// Says by its exit code whether what package-lock.json names is what node_modules holds. `berth` asks when its own
// stamp is missing, so that dependencies installed by plain npm are not installed again.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

export type Needs = "production" | "all";

/** npm writes a list of one as it stood in the package, sometimes without its brackets. */
type OneOrMore = string | readonly string[];

type LockedPackage = {
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly os?: OneOrMore;
  readonly cpu?: OneOrMore;
  readonly libc?: OneOrMore;
};

/** The packages that are missing or of another version, by their place below `root`. */
export function findMissing(root: string, needs: Needs): readonly string[] {
  const locked = readPackages(path.join(root, "package-lock.json"));
  const hidden = path.join(root, "node_modules", ".package-lock.json");
  const installed = existsSync(hidden) ? readPackages(hidden) : {};
  return Object.entries(locked)
    .filter(([place, wanted]) => place !== "" && isNeeded(wanted, needs))
    .filter(([place, wanted]) => {
      const found = installed[place];
      if (found === undefined || found.version !== wanted.version || found.integrity !== wanted.integrity) return true;
      return !existsSync(path.join(root, place, "package.json"));
    })
    .map(([place]) => place);
}

function readPackages(file: string): Readonly<Record<string, LockedPackage>> {
  const lock: { readonly packages?: Readonly<Record<string, LockedPackage>> } = JSON.parse(readFileSync(file, "utf8"));
  return lock.packages ?? {};
}

function isNeeded(wanted: LockedPackage, needs: Needs): boolean {
  if (needs === "production" && (wanted.dev === true || wanted.devOptional === true)) return false;
  // Without a platform of its own it belongs to an optional package that another platform takes.
  if (wanted.optional === true && wanted.os === undefined && wanted.cpu === undefined) return false;
  if (!allows(wanted.os, process.platform) || !allows(wanted.cpu, process.arch)) return false;
  return allows(wanted.libc, "glibc");
}

/** npm's lists name what is meant, or with an exclamation mark what is not. */
function allows(limits: OneOrMore | undefined, value: string): boolean {
  const list = [limits ?? []].flat();
  if (list.includes(`!${value}`)) return false;
  return list.includes(value) || list.every((item) => item.startsWith("!"));
}

if (import.meta.main) {
  const needs = process.argv[2] === "all" ? "all" : "production";
  process.exitCode = findMissing(path.join(import.meta.dirname, ".."), needs).length === 0 ? 0 : 1;
}
