import { randomBytes } from "node:crypto";
import { access, chmod, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";

const SECRET_BYTES = 32;

/** Writes a file that only its owner reads, whole or not at all. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, file);
}

export async function hasFile(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/**
 * The secret that instance keys are derived from: `BERTH_SECRET` where several servers share a database, else a file in
 * the data directory, made at the first start.
 */
export async function loadSecret(dataDir: string, given: string | undefined): Promise<Buffer> {
  if (given !== undefined && given !== "") return Buffer.from(given, "utf8");
  const file = path.join(dataDir, "secret");
  if (!(await hasFile(file))) await writePrivateFile(file, `${randomBytes(SECRET_BYTES).toString("base64url")}\n`);
  return Buffer.from((await readFile(file, "utf8")).trim(), "base64url");
}
