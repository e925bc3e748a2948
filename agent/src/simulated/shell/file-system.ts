import { posix } from "node:path";

/** A file or folder of an invented disk. */
export type Entry = {
  readonly kind: "file" | "folder";
  data: Buffer;
  /** Memory that the data lies at the beginning of. */
  room: Buffer;
  mode: number;
  mtimeSeconds: number;
};

export type Problem = "missing" | "exists" | "not a folder" | "not a file" | "not empty" | "full";

/** Bytes and entries of one disk at most: it lies in the memory of the process that simulates. */
const BYTES_MAX = 8 * 2 ** 20;
const ENTRIES_MAX = 1_000;
const FOLDER_MODE = 0o755;
const FILE_MODE = 0o644;

const WELCOME = `This instance is simulated: no container exists, and nothing runs here.
Files that you put here are kept in memory until the instance is destroyed or its host's process ends.
`;

/** The disk of a simulated instance: a small tree in memory. Paths are absolute. */
export class SimulatedFiles {
  readonly #entries = new Map<string, Entry>();
  readonly #nowSeconds: () => number;

  constructor(nowSeconds: () => number) {
    this.#nowSeconds = nowSeconds;
    for (const folder of ["/", "/etc", "/root", "/tmp", "/workspace"]) this.#put(folder, "folder", Buffer.alloc(0));
    this.#put("/etc/hostname", "file", Buffer.from("simulated\n"));
    this.#put("/root/README.txt", "file", Buffer.from(WELCOME));
  }

  find(path: string): Entry | undefined {
    return this.#entries.get(posix.normalize(path).replace(/(?<=.)\/$/, ""));
  }

  /** Names in a folder, in order. */
  list(folder: string): readonly string[] {
    const start = folder === "/" ? "/" : `${folder}/`;
    return [...this.#entries.keys()]
      .filter((path) => path !== "/" && path.startsWith(start) && !path.slice(start.length).includes("/"))
      .map((path) => path.slice(start.length))
      .toSorted();
  }

  makeFolder(path: string): Problem | undefined {
    if (this.find(path) !== undefined) return "exists";
    return this.#refuseRoom(path, 0) ?? this.#put(path, "folder", Buffer.alloc(0));
  }

  /** Makes an empty file, or empties the one that is there. */
  create(path: string, { isExclusive }: { readonly isExclusive: boolean }): Problem | undefined {
    const found = this.find(path);
    if (found?.kind === "folder") return "not a file";
    if (found !== undefined && isExclusive) return "exists";
    return this.#refuseRoom(path, 0) ?? this.#put(path, "file", Buffer.alloc(0));
  }

  write(path: string, data: Buffer, offset: number): Problem | undefined {
    const entry = this.find(path);
    if (entry?.kind !== "file") return "missing";
    const size = Math.max(entry.data.length, offset + data.length);
    const refused = this.#refuseRoom(path, size - entry.data.length);
    if (refused !== undefined) return refused;
    // Room grows by doubling, so that a file which comes in many pieces is not copied for each of them.
    if (size > entry.room.length) {
      const room = Buffer.alloc(Math.max(size, 2 * entry.room.length));
      entry.data.copy(room);
      entry.room = room;
    }
    data.copy(entry.room, offset);
    entry.data = entry.room.subarray(0, size);
    entry.mtimeSeconds = this.#nowSeconds();
    return undefined;
  }

  remove(path: string, kind: Entry["kind"]): Problem | undefined {
    const entry = this.find(path);
    if (entry === undefined) return "missing";
    if (entry.kind !== kind) return kind === "file" ? "not a file" : "not a folder";
    if (kind === "folder" && (path === "/" || this.list(path).length > 0)) return "not empty";
    this.#entries.delete(path);
    return undefined;
  }

  rename(from: string, to: string): Problem | undefined {
    const entry = this.find(from);
    if (entry === undefined) return "missing";
    if (this.find(to) !== undefined) return "exists";
    if (this.find(posix.dirname(to))?.kind !== "folder") return "missing";
    for (const [path, one] of [...this.#entries]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue;
      this.#entries.delete(path);
      this.#entries.set(`${to}${path.slice(from.length)}`, one);
    }
    return undefined;
  }

  #refuseRoom(path: string, addedBytes: number): Problem | undefined {
    if (this.find(posix.dirname(path))?.kind !== "folder") return "missing";
    const bytes = [...this.#entries.values()].reduce((sum, { data }) => sum + data.length, 0);
    const isFull =
      bytes + addedBytes > BYTES_MAX || (this.find(path) === undefined && this.#entries.size >= ENTRIES_MAX);
    return isFull ? "full" : undefined;
  }

  #put(path: string, kind: Entry["kind"], data: Buffer): undefined {
    const mode = kind === "folder" ? FOLDER_MODE : FILE_MODE;
    this.#entries.set(path, { kind, data, room: data, mode, mtimeSeconds: this.#nowSeconds() });
  }
}
