import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Replaces a file that only its owner reads, whole or not at all; on the disk when this returns. */
export function writeDurably(path: string, text: string): void {
  const directory = dirname(path);
  mkdirSync(directory, { recursive: true });
  const draft = openSync(`${path}.new`, "w", 0o600);
  try {
    writeSync(draft, text);
    fsyncSync(draft);
  } finally {
    closeSync(draft);
  }
  renameSync(`${path}.new`, path);
  // The new name is a change of the folder.
  const folder = openSync(directory, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
