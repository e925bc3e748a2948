import { access, chmod, mkdtemp, readdir, realpath, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

const PREFIX = "berth-test-memory-";
const MEMORY = "/dev/shm";
const MEMORY_BYTES_MIN = 4e9;

/**
 * A new directory that PostgreSQL's own account may enter, in memory where there is enough of it, else in the temporary
 * directory. The caller removes it; a later call does so after a crash.
 */
export async function memoryDirectory(): Promise<string> {
  const isInMemory = (await freeBytes(MEMORY)) >= MEMORY_BYTES_MIN;
  const place = isInMemory ? MEMORY : await realpath(tmpdir());
  await removeAbandoned(place);
  const directory = await mkdtemp(path.join(place, `${PREFIX}${process.pid}-`));
  await chmod(directory, 0o711);
  return directory;
}

async function freeBytes(directory: string): Promise<number> {
  const found = await statfs(directory).catch(() => undefined);
  return found === undefined ? 0 : found.bavail * found.bsize;
}

async function removeAbandoned(place: string): Promise<void> {
  for (const entry of await readdir(place)) {
    if (!entry.startsWith(PREFIX)) continue;
    const pid = entry.slice(PREFIX.length).split("-")[0] ?? "";
    const isOwnerAlive = await access(`/proc/${pid}`).then(
      () => true,
      () => false,
    );
    if (!isOwnerAlive) await rm(path.join(place, entry), { recursive: true, force: true });
  }
}
