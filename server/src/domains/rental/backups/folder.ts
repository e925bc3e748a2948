import { open, readdir, rename, rm, stat, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { asId, type InstanceBackupId } from "../../../base/ids.ts";

/** The name of a backup's file: of one backup, on one connection of its host. No name that a host sends is in it. */
export type FileId = { readonly id: InstanceBackupId; readonly attempt: number };

export type StoredFile = FileId & { readonly isDraft: boolean };

const NAME = /^([1-9]\d{0,9})-([1-9]\d{0,9})\.(part|tar\.gz)$/;

/** The operator's folder of backups. Several servers may share it: each file belongs to one row of their database. */
export class BackupFolder {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Opens a file that is no backup yet. */
  createDraft(file: FileId): Promise<FileHandle> {
    return open(this.#pathOf({ ...file, isDraft: true }), "wx", 0o600);
  }

  /** Makes a draft a backup, once all its bytes are on the disk. */
  async keep(file: FileId, draft: FileHandle): Promise<void> {
    await draft.sync();
    await draft.close();
    await rename(this.#pathOf({ ...file, isDraft: true }), this.#pathOf({ ...file, isDraft: false }));
    const folder = await open(this.#directory, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  /** Opens a backup to be read, with its size; undefined when the file is gone. */
  async openWhole(file: FileId): Promise<{ readonly handle: FileHandle; readonly sizeBytes: number } | undefined> {
    try {
      const handle = await open(this.#pathOf({ ...file, isDraft: false }), "r");
      return { handle, sizeBytes: (await handle.stat()).size };
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Removes a file; one that is gone already is removed as well. */
  async remove(file: StoredFile): Promise<void> {
    await rm(this.#pathOf(file), { force: true });
  }

  /** Files of backups and drafts; other files in the folder are none of this server's. */
  async list(): Promise<readonly StoredFile[]> {
    return (await readdir(this.#directory)).flatMap((name) => readName(name) ?? []);
  }

  /** Throws when the folder is not there or cannot be written to. */
  async check(): Promise<void> {
    if (!(await stat(this.#directory)).isDirectory()) throw new Error(`${this.#directory} is no folder`);
    const probe = path.join(this.#directory, `.berth-${process.pid}`);
    const handle = await open(probe, "w", 0o600);
    await handle.close();
    await rm(probe);
  }

  #pathOf({ id, attempt, isDraft }: StoredFile): string {
    return path.join(this.#directory, `${id}-${attempt}.${isDraft ? "part" : "tar.gz"}`);
  }
}

function readName(name: string): StoredFile | undefined {
  const [, id, attempt, ending] = NAME.exec(name) ?? [];
  if (id === undefined) return undefined;
  return { id: asId<InstanceBackupId>(Number(id)), attempt: Number(attempt), isDraft: ending === "part" };
}
