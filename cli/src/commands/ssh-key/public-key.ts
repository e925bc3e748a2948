import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { UserError } from "../../failure.ts";

/** Names of key files in the order in which `ssh` tries them. */
const DEFAULT_FILES = ["id_ed25519.pub", "id_ecdsa.pub", "id_ed25519_sk.pub", "id_ecdsa_sk.pub", "id_rsa.pub"];
const KEY_TEXT = /^(?:ssh-|ecdsa-|sk-)\S+\s+\S/;

/**
 * The public key that an argument names: its text, a file, or without an argument the key that `ssh` uses. The server
 * checks the key; a private key is refused here and never sent.
 */
export function readPublicKey(given: string | undefined): string {
  if (given !== undefined && KEY_TEXT.test(given.trim())) return given.trim();
  const file = given ?? findDefaultFile();
  const text = readFile(file);
  if (text === undefined) {
    throw new UserError(
      `${file} is neither a file nor a public key.`,
      "Name a .pub file, or put the whole line of one in quotes.",
    );
  }
  if (/PRIVATE KEY-----|PuTTY-User-Key-File/.test(text)) {
    throw new UserError(`${file} is a private key; it was not sent.`, `Did you mean ${file}.pub?`);
  }
  return text.trim();
}

/** Type, name and fingerprint of a key, as `ssh-keygen -l` shows them. */
export function describePublicKey(line: string): {
  readonly type: string;
  readonly name: string;
  readonly hash: string;
} {
  const [type = "", body = "", ...comment] = line.split(" ");
  const hash = createHash("sha256").update(Buffer.from(body, "base64")).digest("base64").replace(/=+$/, "");
  return { type, name: comment.join(" "), hash: `SHA256:${hash}` };
}

/** The person's own keys that `ssh` would try: the files of the private halves, and the lines of the public ones. */
export function ownKeyFiles(): readonly { readonly file: string; readonly line: string }[] {
  const directory = path.join(homedir(), ".ssh");
  return DEFAULT_FILES.flatMap((name) => {
    const file = path.join(directory, name.replace(/\.pub$/, ""));
    const line = existsSync(file) ? readFile(path.join(directory, name)) : undefined;
    return line === undefined ? [] : [{ file, line: line.trim() }];
  });
}

function findDefaultFile(): string {
  const directory = path.join(homedir(), ".ssh");
  const found = DEFAULT_FILES.map((name) => path.join(directory, name)).find((file) => readFile(file) !== undefined);
  if (found !== undefined) return found;
  throw new UserError(
    `There is no public key in ${directory}.`,
    "Make one with `ssh-keygen -t ed25519`, or name a file.",
  );
}

function readFile(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") return undefined;
    if (code === "EACCES") throw new UserError(`${file} cannot be read with your permissions.`, "Name another file.");
    if (code === "EISDIR") throw new UserError(`${file} is a folder.`, "Name the .pub file in it.");
    throw error;
  }
}
