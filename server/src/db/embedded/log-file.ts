import { constants } from "node:fs";
import { copyFile, open, stat, type FileHandle } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";

export type EmbeddedLog = Pick<Log, "info" | "warn">;

const SIZE_MAX_BYTES = 10 * 1024 * 1024;
const CHECK_EVERY_MS = 60_000;
const TAIL_BYTES = 4_096;

/**
 * PostgreSQL writes its log straight into a file, not through us: a pipe would block it while we are busy and lose the
 * last words when we die. At most two files of about 10 MB stay.
 */
export type LogFile = {
  readonly fd: number;
  /** The last lines written since the file was opened, for the message when a start fails. */
  tail(): Promise<string>;
  close(): Promise<void>;
};

export async function openLogFile(file: string, clock: Clock, log: EmbeddedLog): Promise<LogFile> {
  const handle = await open(file, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
  await rotate(file, handle);
  const { size: start } = await handle.stat();
  const stopChecking = clock.every(CHECK_EVERY_MS, () => {
    rotate(file, handle).catch((error: unknown) => log.warn({ err: error }, "the PostgreSQL log could not be rotated"));
  });
  return {
    fd: handle.fd,
    async tail() {
      const { size } = await handle.stat();
      const from = Math.max(Math.min(start, size), size - TAIL_BYTES);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
      return buffer.toString("utf8", 0, bytesRead).trim();
    },
    async close() {
      stopChecking();
      await handle.close();
    },
  };
}

/** Copies and empties in place: PostgreSQL keeps its descriptor, and appending goes on at the new end. */
async function rotate(file: string, handle: FileHandle): Promise<void> {
  if ((await stat(file)).size <= SIZE_MAX_BYTES) return;
  await copyFile(file, `${file}.1`);
  await handle.truncate(0);
}
