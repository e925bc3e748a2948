import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";
import { writeDurably } from "../base/durable-file.ts";

/** What a machine that has joined keeps, in one file that only its owner reads. */
export const StoredCredential = Type.Object({
  /** The control plane's address. */
  server: Type.String(),
  /** Stays the machine's name there, wherever the folder is moved. */
  host_key: Type.String({ pattern: "^[A-Za-z0-9._-]{1,100}$" }),
  credential: Type.String({ pattern: "^[\\x21-\\x7e]{1,4096}$" }),
  joined_at: Type.String(),
});
export type StoredCredential = Static<typeof StoredCredential>;

/** A join under way: who is killed before the answer is stored asks for the same answer again. */
export const StartedJoin = Type.Object({
  server: Type.String(),
  token_sha256: Type.String(),
  nonce: Type.String({ pattern: "^[\\x21-\\x7e]{16,128}$" }),
});
export type StartedJoin = Static<typeof StartedJoin>;

const credentialSchema = Compile(StoredCredential);
const joinSchema = Compile(StartedJoin);

export function credentialPath(state_dir: string): string {
  return join(state_dir, "credential.json");
}

function joinPath(state_dir: string): string {
  return join(state_dir, "joining.json");
}

/** Undefined when there is none; `problem` when there is a file that is not one. */
export function loadCredential(state_dir: string): StoredCredential | undefined | { readonly problem: string } {
  const path = credentialPath(state_dir);
  const text = readText(path);
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (credentialSchema.Check(value)) return value;
  return { problem: `${path} is damaged: remove it and join again with a new token` };
}

/** Ends the join that was under way, too. */
export function saveCredential(state_dir: string, credential: StoredCredential): void {
  writeDurably(credentialPath(state_dir), `${JSON.stringify(credential, undefined, 2)}\n`);
  rmSync(joinPath(state_dir), { force: true });
}

/** The join that was under way with this token, if one was. */
export function loadStartedJoin(state_dir: string, asked: Omit<StartedJoin, "nonce">): StartedJoin | undefined {
  const value = parseJson(readText(joinPath(state_dir)) ?? "");
  if (!joinSchema.Check(value)) return undefined;
  return value.server === asked.server && value.token_sha256 === asked.token_sha256 ? value : undefined;
}

export function saveStartedJoin(state_dir: string, started: StartedJoin): void {
  writeDurably(joinPath(state_dir), `${JSON.stringify(started)}\n`);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Half a file is as good as a wrong one: the caller's schema refuses both.
    return undefined;
  }
}
