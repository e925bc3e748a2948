import { chown, lstat, mkdir, mkdtemp, readdir, readlink, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Account } from "./account.ts";
import { errorCode } from "./failure.ts";
import { SOCKET_PORT } from "./settings.ts";

/** The kernel keeps 108 bytes for the path of a socket, one of them for the final zero. */
const SOCKET_PATH_BYTES_MAX = 107;
const TEMPORARY_PREFIX = "berth-postgres-";

export type SocketDirectory = {
  readonly path: string;
  /** Removes the files of a killed PostgreSQL from the directory, so that another one may start there. */
  clear(): Promise<void>;
  /** Removes the directory when it is a temporary one. */
  leave(): Promise<void>;
};

/**
 * A directory for PostgreSQL's socket which only its account (and root) may enter. It is `home/run`, or, where that path is too long for a socket, a temporary directory that
 * `home/run` points to. What an earlier run left is removed, so no process of the cluster may be alive.
 */
export async function makeSocketDirectory(home: string, account: Account): Promise<SocketDirectory> {
  const beside = path.join(home, "run");
  await removeEarlier(beside, account);
  if (Buffer.byteLength(path.join(beside, `.s.PGSQL.${SOCKET_PORT}`)) <= SOCKET_PATH_BYTES_MAX) {
    await mkdir(beside, { mode: 0o700 });
    await chown(beside, account.uid, account.gid);
    return { path: beside, clear: () => clearDirectory(beside), leave: async () => {} };
  }
  const temporary = await mkdtemp(path.join(await realpath(tmpdir()), TEMPORARY_PREFIX));
  await chown(temporary, account.uid, account.gid);
  await symlink(temporary, beside);
  const leave = () => rm(temporary, { recursive: true, force: true });
  return { path: temporary, clear: () => clearDirectory(temporary), leave };
}

async function clearDirectory(directory: string): Promise<void> {
  for (const entry of await readdir(directory)) await rm(path.join(directory, entry), { force: true });
}

/** PostgreSQL's lock file beside the socket names a process too, and must not be believed after a `kill -9`. */
async function removeEarlier(beside: string, account: Account): Promise<void> {
  try {
    const target = await readlink(beside);
    if (path.basename(target).startsWith(TEMPORARY_PREFIX) && (await lstat(target)).uid === account.uid) {
      await rm(target, { recursive: true, force: true });
    }
  } catch (error) {
    const code = errorCode(error);
    if (code !== "ENOENT" && code !== "EINVAL") throw error; // Nothing there, or a plain directory.
  }
  await rm(beside, { recursive: true, force: true });
}
