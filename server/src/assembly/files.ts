import { randomBytes } from "node:crypto";
import { access, chmod, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { FactKeeper, FactWitness, NO_HEAD, type FactHead } from "../base/facts.ts";

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

/** The file in the data directory that keeps the secret, where `BERTH_SECRET` does not give it. */
export const SECRET_FILE = "secret";

/**
 * The secret from which instance keys are derived and with which texts are encrypted: `BERTH_SECRET`, else the one in
 * the data directory; undefined where there is neither.
 */
export async function findSecret(dataDir: string, given: string | undefined): Promise<Buffer | undefined> {
  if (given !== undefined && given !== "") return Buffer.from(given, "utf8");
  const file = path.join(dataDir, SECRET_FILE);
  if (!(await hasFile(file))) return undefined;
  return Buffer.from((await readFile(file, "utf8")).trim(), "base64url");
}

const DATA_DIR_FILE = "server.id";
const DATA_DIR_KEY_BYTES = 12;

/** The name of a data directory among those of all servers of a database; made at the first start on it. */
export async function dataDirKeyOf(dataDir: string): Promise<{ readonly dataDirKey: string; readonly isNew: boolean }> {
  const file = path.join(dataDir, DATA_DIR_FILE);
  if (await hasFile(file)) return { dataDirKey: (await readFile(file, "utf8")).trim(), isNew: false };
  const dataDirKey = randomBytes(DATA_DIR_KEY_BYTES).toString("base64url");
  await writePrivateFile(file, `${dataDirKey}\n`);
  return { dataDirKey, isNew: true };
}

/**
 * Remembers in the data directory how far the chain of facts went: a database that was set back cannot take that back.
 * The secret to sign by is known once the database is open.
 */
export async function openFactKeeper(dataDir: string): Promise<FactKeeper> {
  const file = path.join(dataDir, "fact-head");
  const known = (await hasFile(file)) ? parseHead(await readFile(file, "utf8")) : NO_HEAD;
  const keep = ({ number, sha256 }: FactHead) => writePrivateFile(file, `${number} ${sha256}\n`);
  return new FactKeeper(new FactWitness(known, keep));
}

function parseHead(text: string): FactHead {
  const [, number, sha256] = /^(\d+) ([0-9a-f]{64})\s*$/.exec(text) ?? [];
  return number === undefined || sha256 === undefined ? NO_HEAD : { number: BigInt(number), sha256 };
}
