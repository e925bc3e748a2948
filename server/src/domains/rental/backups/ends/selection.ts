import { FOLDER, HARD_LINK, readTar, TAR_END, tarHead, type TarEntry } from "../../../../../../tunnel/tar.ts";

/** Files of a backup that are sent: below a folder in the archive, as a copy between hosts would send them. */
export type Selection = {
  readonly shape: "file" | "folder" | "contents";
  /** The name of a single file. */
  readonly name: string;
  /**
   * Files outside of the selection with the names that hard links in the selection give them. Their bytes are sent under
   * the first of these names.
   */
  readonly borrowed: ReadonlyMap<string, readonly string[]>;
};

/** Hard links to files outside of the selection that are followed. */
const BORROWED_MAX = 200_000;
const DEVICES: ReadonlySet<string> = new Set(["3", "4"]);

/** Reads an archive to find out what is at a path; a slash at the path's end means the contents. Undefined for nothing. */
export async function findSelection(archive: AsyncIterable<Buffer>, path: string): Promise<Selection | undefined> {
  const place = placeOf(path);
  let isThere = place.at === "";
  let isFolder = place.at === "";
  const borrowed = new Map<string, string[]>();
  let borrowedCount = 0;
  for await (const { path: raw, type, link } of readTar(archive)) {
    const at = plainPath(raw);
    if (at === undefined || !isWithin(at, place.at) || DEVICES.has(type)) continue;
    isThere = true;
    if (at !== place.at || type === FOLDER) isFolder = true;
    const target = type === HARD_LINK ? plainPath(link) : undefined;
    if (target === undefined || isWithin(target, place.at)) continue;
    borrowedCount += 1;
    if (borrowedCount > BORROWED_MAX) throw new Error("the archive has too many hard links");
    const names = borrowed.get(target) ?? [];
    names.push(at);
    borrowed.set(target, names);
  }
  if (!isThere || (place.isContents && !isFolder)) return undefined;
  const shape = place.isContents ? "contents" : isFolder ? "folder" : "file";
  return { shape, name: shape === "file" ? (path.split("/").at(-1) ?? "") : "", borrowed };
}

/** The archive of the selected files alone, with the names that the receiving host expects. */
export async function* selectFiles(
  archive: AsyncIterable<Buffer>,
  path: string,
  { borrowed }: Pick<Selection, "borrowed">,
): AsyncGenerator<Buffer, void> {
  const place = placeOf(path);
  const sent = new Set<string>();
  for await (const entry of readTar(archive)) {
    const at = plainPath(entry.path);
    if (at === undefined || DEVICES.has(entry.type)) continue;
    if (isWithin(at, place.at)) {
      const renamed = rename(entry, at, { place, borrowed, sent });
      if (renamed === undefined) continue;
      yield* tarHead({ ...entry, ...renamed });
      yield* entry.body;
      continue;
    }
    const [first] = borrowed.get(at) ?? [];
    if (first === undefined || entry.type !== "0" || sent.has(at)) continue;
    sent.add(at);
    yield* tarHead({ ...entry, path: nameIn(place, first) });
    yield* entry.body;
  }
  yield TAR_END;
}

type Borrowing = {
  readonly borrowed: Selection["borrowed"];
  readonly sent: ReadonlySet<string>;
  readonly place: Place;
};

/** The new name of an entry, and the new target of a hard link; undefined for an entry that is not sent. */
function rename(
  { type, link }: TarEntry,
  at: string,
  { place, borrowed, sent }: Borrowing,
): { readonly path: string; readonly link: string } | undefined {
  const path = `${nameIn(place, at)}${type === FOLDER && at !== place.at ? "/" : ""}`;
  if (type !== HARD_LINK) return { path, link };
  const target = plainPath(link);
  if (target === undefined) return undefined;
  if (isWithin(target, place.at)) return { path, link: nameIn(place, target) };
  const [first] = borrowed.get(target) ?? [];
  // The first of the names has the bytes already.
  if (first === undefined || first === at || !sent.has(target)) return undefined;
  return { path, link: nameIn(place, first) };
}

/** The place in an archive that a path names. Paths of archives hold a byte in each character. */
type Place = { readonly at: string; readonly isContents: boolean };

function placeOf(path: string): Place {
  const at = plainPath(Buffer.from(path, "utf8").toString("latin1")) ?? "";
  return { at, isContents: path.endsWith("/") };
}

function nameIn({ at: root, isContents }: Place, at: string): string {
  const below = root === "" ? at : at.slice(root.length + 1);
  if (isContents) return `./${below}`;
  const base = root.slice(root.lastIndexOf("/") + 1);
  return below === "" ? `./${base}` : `./${base}/${below}`;
}

function isWithin(at: string, root: string): boolean {
  return root === "" || at === root || at.startsWith(`${root}/`);
}

/** A path without a slash at its ends and without dots; undefined for one that climbs out of the archive. */
function plainPath(path: string): string | undefined {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return parts.includes("..") ? undefined : parts.join("/");
}
