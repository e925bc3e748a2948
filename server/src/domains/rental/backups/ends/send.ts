import type { FileHandle } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { Clock } from "../../../../base/clock.ts";
import { findSelection, selectFiles, type Selection } from "./selection.ts";
import type { Connection } from "./receive.ts";

export type SendInput = {
  readonly connection: Connection;
  readonly handle: FileHandle;
  /** Absolute from the root of the backup; a slash at its end means the contents. */
  readonly path: string;
  readonly clock: Clock;
};

/** A host that takes nothing for this long, while nothing is read either, is cut off. */
const SILENCE_MS = 120_000;
/** As between hosts: files of random bytes gain nothing, and text shrinks to a third. */
const GZIP_LEVEL = 1;
const PIECE_BYTES = 262_144;

/** Sends files of a backup, and waits until the host has a verdict. */
export async function sendFiles({ connection, handle, path, clock }: SendInput): Promise<void> {
  let moved = 0;
  let seen = -1;
  const stop = clock.every(SILENCE_MS, () => {
    if (moved === seen) connection.cut();
    seen = moved;
  });
  const onBytes = (bytes: number) => (moved += bytes);
  // A host that is gone, or has a verdict before the end, wants no more of it.
  const verdict = connection.hear();
  void verdict.then(() => connection.output.destroy());
  try {
    const selection = await find(() => unzipped(handle, onBytes), path);
    if (typeof selection === "string")
      return connection.say({ kind: "transfer_end", is_success: false, text: selection });
    connection.say({ kind: "transfer_start", shape: selection.shape, name: selection.name });
    const files = selectFiles(unzipped(handle, onBytes), path, selection);
    // A connection that is closed takes no message; any other failure is this server's.
    await pipeline(files, createGzip({ level: GZIP_LEVEL }), connection.output).catch(() =>
      connection.say({ kind: "transfer_end", is_success: false, text: "the backup cannot be read now" }),
    );
    await verdict;
  } finally {
    stop();
  }
}

/** The selected files, or the reason for which there are none. */
async function find(open: () => AsyncIterable<Buffer>, path: string): Promise<Selection | string> {
  try {
    return (await findSelection(open(), path)) ?? `there is nothing at ${path} in the backup`;
  } catch {
    return "the backup is damaged: its host sent something that cannot be unpacked";
  }
}

function unzipped(handle: FileHandle, onBytes: (bytes: number) => void): AsyncIterable<Buffer> {
  const gunzip = createGunzip();
  // The reader of the unzipped bytes learns of an error.
  pipeline(bytesOf(handle, onBytes), gunzip).catch(() => undefined);
  return gunzip;
}

/** All bytes of a file, which stays open. */
async function* bytesOf(handle: FileHandle, onBytes: (bytes: number) => void): AsyncGenerator<Buffer, void> {
  let position = 0;
  while (true) {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.allocUnsafe(PIECE_BYTES), position });
    if (bytesRead === 0) return;
    position += bytesRead;
    onBytes(bytesRead);
    yield buffer.subarray(0, bytesRead);
  }
}
