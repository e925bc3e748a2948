// Other versions of Berth beside this checkout: an older one that is in git, or a newer one that is made from this source.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const ROOT = path.join(import.meta.dirname, "../../..");
/** Everything that a server and the command line are made of. */
const PARTS = [
  "berth",
  "package.json",
  "package-lock.json",
  "server",
  "protocol",
  "tunnel",
  "agent",
  "cli",
  "sdk",
  "worker",
];
const runFile = promisify(execFile);
const GIT_OUTPUT_MAX = 256 * 1_048_576;

export type Version = {
  /** Its `./berth`. */
  readonly program: string;
  remove(): Promise<void>;
};

async function aFolder(): Promise<{ readonly folder: string; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-version-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** All versions use the packages that are installed here. */
async function linkPackages(folder: string): Promise<void> {
  const modules = path.join(ROOT, "node_modules");
  await symlink(await readlink(modules).catch(() => modules), path.join(folder, "node_modules"));
}

/** This source with another version, and with further migrations or files, by their paths. */
export async function laterVersion(version: string, files: Readonly<Record<string, string>>): Promise<Version> {
  const { folder, remove } = await aFolder();
  for (const part of PARTS) await cp(path.join(ROOT, part), path.join(folder, part), { recursive: true });
  const file = path.join(folder, "package.json");
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), version }));
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  await linkPackages(folder);
  return { program: path.join(folder, "berth"), remove };
}

/** A tag or commit of this repository, such as the release before. */
export async function versionOf(ref: string): Promise<Version> {
  const { folder, remove } = await aFolder();
  const archive = path.join(folder, "version.tar");
  const tree = path.join(folder, "tree");
  await mkdir(tree);
  await runFile("git", ["archive", "--output", archive, ref], { cwd: ROOT, maxBuffer: GIT_OUTPUT_MAX });
  await runFile("tar", ["--extract", "--file", archive, "--directory", tree]);
  await rm(archive);
  // The command installs what its own lock file names, unless that file is the one of what is installed.
  await cp(path.join(ROOT, "package-lock.json"), path.join(tree, "package-lock.json"));
  await linkPackages(tree);
  return { program: path.join(tree, "berth"), remove };
}
