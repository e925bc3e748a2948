import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const ROOT = path.join(import.meta.dirname, "../../../..");
/** The rooms that an agent consists of. */
const ROOMS = ["agent/src", "protocol", "tunnel"];
const LEFT_OUT =
  /\.test\.ts$|^protocol\/golden\/|^node_modules\/.*(\/(test|tests|docs|examples|benchmarks)\/|\.(md|map|d\.[cm]?ts)$)/;
/** Packages that the rooms import; theirs come with them. */
const PACKAGES = ["node-forge", "pino", "ssh2", "typebox", "ws"];
const gzipAll = promisify(gzip);

/**
 * The agent of this version as one archive, with the packages that it needs and without its runtime. Servers of one version
 * make the same bytes, so an agent may download from any of them.
 */
export async function bundleAgent(): Promise<Buffer> {
  const rooms = await Promise.all(ROOMS.map(listFiles));
  const packages = await Promise.all((await closure(PACKAGES)).map((name) => listFiles(`node_modules/${name}`)));
  const paths = ["package.json", ...rooms.flat(), ...packages.flat()].filter((file) => !LEFT_OUT.test(file)).toSorted();
  const files: { readonly path: string; readonly base64: string }[] = [];
  for (const file of new Set(paths)) {
    files.push({ path: file, base64: (await readFile(path.join(ROOT, file))).toString("base64") });
  }
  return gzipAll(JSON.stringify({ files }), { level: 9 });
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(path.join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
}

/** These packages and all that they depend on, as far as they are installed. */
async function closure(names: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  const wanted = [...names];
  for (const name of wanted) {
    if (found.includes(name)) continue;
    const text = await readFile(path.join(ROOT, "node_modules", name, "package.json"), "utf8").catch(() => undefined);
    if (text === undefined) continue;
    found.push(name);
    const { dependencies = {} } = JSON.parse(text) as { readonly dependencies?: Readonly<Record<string, string>> };
    wanted.push(...Object.keys(dependencies));
  }
  return found;
}
