import { createHash } from "node:crypto";
import { openAsBlob } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { create } from "tar";
import { UserError } from "../../failure.ts";

const CONFIG = "config.json";

export type Packed = { readonly sha256: string; readonly sizeBytes: number; readonly file: Blob };

/**
 * Packs a directory, as it will lie below the root of each worker, into a .tar.gz file and gives it to `use`. The same
 * content always makes the same file. A directory without a config.json gets one without requirements.
 */
export async function withPacked<T>(directory: string, name: string, use: (packed: Packed) => Promise<T>): Promise<T> {
  if (!(await stat(directory).catch(() => undefined))?.isDirectory()) {
    throw new UserError(`${directory} is not a directory`, "Name the directory that holds the code.", 2);
  }
  const place = await mkdtemp(path.join(tmpdir(), "berth-code-"));
  try {
    const source = await withConfig(directory, { name, place });
    const file = path.join(place, "code.tar.gz");
    const paths = (await readdir(source, { recursive: true, withFileTypes: true }))
      .map((entry) => path.relative(source, path.join(entry.parentPath, entry.name)))
      .toSorted((a, b) => (a < b ? -1 : 1))
      // A name that begins like this would be taken for an archive.
      .map((entry) => (entry.startsWith("@") ? `./${entry}` : entry));
    await create(
      { file, cwd: source, gzip: true, portable: true, mtime: new Date(0), noDirRecurse: true, strict: true },
      paths,
    );
    const packed = await openAsBlob(file);
    const hash = createHash("sha256");
    for await (const part of packed.stream()) hash.update(part);
    return await use({ sha256: hash.digest("hex"), sizeBytes: packed.size, file: packed });
  } finally {
    await rm(place, { recursive: true });
  }
}

/** The directory to pack: a copy where one file has to be added. */
async function withConfig(
  directory: string,
  { name, place }: { readonly name: string; readonly place: string },
): Promise<string> {
  const text = await readFile(path.join(directory, CONFIG), "utf8").catch(() => undefined);
  if (text !== undefined) {
    refuseMistakes(text);
    return directory;
  }
  const copy = path.join(place, "code");
  await cp(directory, copy, { recursive: true, verbatimSymlinks: true });
  const config = { name, pip_installs: [], apt_gets: [], envs: {}, runs: [] };
  await writeFile(path.join(copy, CONFIG), `${JSON.stringify(config, undefined, 2)}\n`);
  return copy;
}

function refuseMistakes(text: string): void {
  const suggestion = 'It looks like {"name": "square", "pip_installs": [], "apt_gets": [], "envs": {}, "runs": []}.';
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    throw new UserError(`${CONFIG} is not JSON`, suggestion);
  }
  const isObject = typeof config === "object" && config !== null && !Array.isArray(config);
  if (!isObject) throw new UserError(`${CONFIG} is not a JSON object`, suggestion);
}
