// The packages of npm that sources need to run: those that they import, and all that those need.
import { existsSync, globSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { folderFrom, type Entry } from "./tree.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** Files that help to write code, and that no running program reads. */
const NOT_RUN = /\.(?:d\.[cm]?ts|[cm]?ts|map|md|markdown|flow|tsbuildinfo)$/i;
const FOLDERS_NOT_RUN = /(?:^|\/)(?:node_modules|test|tests|__tests__|docs|examples?|benchmarks?|\.github)$/;

type LockedPackage = {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
};
type Lock = { readonly packages: Readonly<Record<string, LockedPackage>> };

/** Names of packages that these sources import by name, or ask the resolver for. */
export function importedBy(sources: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const source of sources) {
    const found = readFileSync(source, "utf8").matchAll(/(?:\bfrom|\bimport\(|\bresolve\(|\bimport)\s*[`"]([^`"$]+)/g);
    for (const [, specifier = ""] of found) {
      if (/^[./]|^node:/.test(specifier)) continue;
      names.add(specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/"));
    }
  }
  return new Set([...names].filter((name) => !builtinModules.includes(name) && existsSync(moduleFolder(name))));
}

/** Entries of these packages and of all that they need, as they are installed here. */
export function moduleEntries(place: string, names: Iterable<string>): readonly Entry[] {
  const lock = JSON.parse(readFileSync(path.join(ROOT, "package-lock.json"), "utf8")) as Lock;
  const keys = new Set<string>();
  const add = (name: string, from: string) => {
    const key = resolveIn(lock, name, from);
    if (key === undefined || keys.has(key)) return;
    keys.add(key);
    for (const needed of neededBy(lock.packages[key] ?? {})) add(needed, key);
  };
  for (const name of names) add(name, "");
  const takes = (inner: string) => !NOT_RUN.test(inner) && !FOLDERS_NOT_RUN.test(inner);
  return [...keys].toSorted().flatMap((key) => folderFrom(path.join(place, key), path.join(ROOT, key), takes));
}

function moduleFolder(name: string): string {
  return path.join(ROOT, "node_modules", name);
}

/** Optional packages are left out: programs run without them, and some are built for one system. */
function neededBy({ dependencies, peerDependencies, peerDependenciesMeta }: LockedPackage): readonly string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
  return [...Object.keys(dependencies ?? {}), ...peers];
}

/** The key of a package in the lock file, looked for as Node does: beside the one that asks, then further up. */
function resolveIn(lock: Lock, name: string, from: string): string | undefined {
  const key = `${from === "" ? "" : `${from}/`}node_modules/${name}`;
  if (lock.packages[key] !== undefined) return key;
  return from === "" ? undefined : resolveIn(lock, name, from.replace(/\/?node_modules\/(?:@[^/]+\/)?[^/]+$/, ""));
}

/** Sources of these folders of the repository that are no tests. */
export function sourcesIn(folders: readonly string[]): readonly string[] {
  return globSync(
    folders.map((folder) => `${folder}/**/*.ts`),
    { cwd: ROOT, exclude: ["**/*.test.ts", "**/node_modules/**", "**/dist/**"] },
  )
    .toSorted()
    .map((file) => path.join(ROOT, file));
}
