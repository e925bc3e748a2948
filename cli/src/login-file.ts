import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { UserError } from "./failure.ts";

/** The address as `--url` takes it and a key, which `berth login` keeps; the key is for these servers alone. */
export type Login = { readonly url: string; readonly key: string };

/** The user's file by the XDG rules, which leave a relative `XDG_CONFIG_HOME` out of account. */
export function loginFile(): string {
  const given = process.env["XDG_CONFIG_HOME"] ?? "";
  const base = path.isAbsolute(given) ? given : path.join(homedir(), ".config");
  return path.join(base, "berth", "config.json");
}

export function readLogin(): Login | undefined {
  const file = loginFile();
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "EACCES") throw new UserError(`${file} cannot be read with your permissions.`, "Make it yours.");
    throw error;
  }
  const login = parseLogin(text);
  if (login === undefined)
    throw new UserError(`${file} has no url and key.`, "Write it again with: berth login --url ADDRESS");
  return login;
}

/** Writes the file whole or not at all; nobody but its owner can read it at any moment. */
export function writeLogin(login: Login): void {
  const file = loginFile();
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${JSON.stringify(login, undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes the file; false when there was none. */
export function removeLogin(): boolean {
  try {
    rmSync(loginFile());
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return false;
    throw error;
  }
}

function parseLogin(text: string): Login | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("url" in value) || !("key" in value)) return undefined;
    const { url, key } = value;
    return typeof url === "string" && typeof key === "string" ? { url, key } : undefined;
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
