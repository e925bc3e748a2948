import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";

/** The environment variable with the seed of tests and properties; a whole number below 2^31. */
export const TEST_SEED_VARIABLE = "BERTH_TEST_SEED";

/**
 * A seed that follows from the sources alone: the same sources draw the same cases on every machine, so a whole run
 * passes again where it passed once, and each change of the sources looks at other cases. `files` are below `root`.
 */
export function seedOfSources(root: string, files: readonly string[]): number {
  const hash = createHash("sha256");
  for (const file of files.toSorted()) {
    const text = readFileSync(path.join(root, file));
    hash.update(`${file}\n${text.length}\n`).update(text);
  }
  return hash.digest().readUInt32BE() >>> 1;
}
