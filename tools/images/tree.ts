// The contents of a layer of an image, told without times, owners or the order of a folder, which differ between machines.
import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import path from "node:path";

/** The owner and the group of a file. */
export type Owner = { readonly uid: number; readonly gid: number };

type Place = { readonly path: string; readonly owner?: Owner };

/** One file, folder or link of an image; its path has no slash before it. */
export type Entry =
  | (Place & { readonly kind: "folder"; readonly mode: number })
  | (Place & { readonly kind: "link"; readonly target: string })
  | (Place & { readonly kind: "file"; readonly mode: number; readonly source: string | Buffer });

const FOLDER_MODE = 0o755;
const FILE_MODE = 0o644;
const PROGRAM_MODE = 0o755;

export function folder(place: string, mode = FOLDER_MODE, owner?: Owner): Entry {
  return { kind: "folder", path: place, mode, ...(owner && { owner }) };
}

export function text(place: string, content: string): Entry {
  return { kind: "file", path: place, mode: FILE_MODE, source: Buffer.from(content) };
}

export function program(place: string, content: string): Entry {
  return { kind: "file", path: place, mode: PROGRAM_MODE, source: Buffer.from(content) };
}

export function link(place: string, target: string): Entry {
  return { kind: "link", path: place, target };
}

/** The file of this machine at that place of the image. */
export function fileFrom(place: string, source: string): Entry {
  const isProgram = (lstatSync(source).mode & 0o111) !== 0;
  return { kind: "file", path: place, mode: isProgram ? PROGRAM_MODE : FILE_MODE, source };
}

/** All that a folder of this machine has and `takes` wants, told by its path below that folder, at a place of the image. */
export function folderFrom(place: string, source: string, takes: (inner: string) => boolean): readonly Entry[] {
  const entries: Entry[] = [];
  const visit = (inner: string) => {
    for (const name of readdirSync(path.join(source, inner)).toSorted()) {
      const below = path.join(inner, name);
      if (takes(below)) entries.push(...entryOf(below, visit));
    }
  };
  const entryOf = (below: string, into: (inner: string) => void): readonly Entry[] => {
    const from = path.join(source, below);
    const at = path.join(place, below);
    const status = lstatSync(from);
    if (status.isSymbolicLink()) return [link(at, readlinkSync(from))];
    if (status.isFile()) return [fileFrom(at, from)];
    if (status.isDirectory()) into(below);
    return [];
  };
  visit("");
  return entries;
}

/** The entries in order, each path once, with the folders above them. The later of two with one path holds. */
export function arrange(entries: readonly Entry[]): readonly Entry[] {
  const all = new Map<string, Entry>();
  for (const entry of entries) {
    for (let above = path.dirname(entry.path); above !== "."; above = path.dirname(above)) {
      if (!all.has(above)) all.set(above, folder(above));
    }
    all.set(entry.path, entry);
  }
  return [...all.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
