import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";
import { writeDurably } from "../base/durable-file.ts";
import { camelFields, snakeFields, type Camel } from "../wire/fields.ts";

/** The credential of a machine that has joined, in one file that only its owner reads. */
const CredentialFile = Type.Object({
  /** The control plane's address. */
  server: Type.String(),
  /** The machine's name there; it stays when the folder is moved. */
  host_key: Type.String({ pattern: "^[A-Za-z0-9._-]{1,100}$" }),
  credential: Type.String({ pattern: "^[\\x21-\\x7e]{1,4096}$" }),
  joined_at: Type.String(),
});
export type StoredCredential = Camel<Static<typeof CredentialFile>>;

/** A join under way: an agent that is killed before it stores the answer asks for the same answer again. */
const JoinFile = Type.Object({
  server: Type.String(),
  token_sha256: Type.String(),
  nonce: Type.String({ pattern: "^[\\x21-\\x7e]{16,128}$" }),
});
export type StartedJoin = Camel<Static<typeof JoinFile>>;

const credentialSchema = Compile(CredentialFile);
const joinSchema = Compile(JoinFile);

export function credentialPath(stateDir: string): string {
  return join(stateDir, "credential.json");
}

function joinPath(stateDir: string): string {
  return join(stateDir, "joining.json");
}

/** The stored credential; undefined when there is no file, `problem` when the file is damaged. */
export function loadCredential(stateDir: string): StoredCredential | undefined | { readonly problem: string } {
  const path = credentialPath(stateDir);
  const text = readText(path);
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (credentialSchema.Check(value)) return camelFields(CredentialFile, value);
  return { problem: `${path} is damaged: remove it and join again with a new token` };
}

/** Stores the credential and ends the join that was under way. */
export function saveCredential(stateDir: string, credential: StoredCredential): void {
  writeDurably(credentialPath(stateDir), `${JSON.stringify(snakeFields(CredentialFile, credential), undefined, 2)}\n`);
  rmSync(joinPath(stateDir), { force: true });
}

/** The join that was under way with this token, if one was. */
export function loadStartedJoin(stateDir: string, asked: Omit<StartedJoin, "nonce">): StartedJoin | undefined {
  const value = parseJson(readText(joinPath(stateDir)) ?? "");
  if (!joinSchema.Check(value)) return undefined;
  const started = camelFields(JoinFile, value);
  return started.server === asked.server && started.tokenSha256 === asked.tokenSha256 ? started : undefined;
}

export function saveStartedJoin(stateDir: string, started: StartedJoin): void {
  writeDurably(joinPath(stateDir), `${JSON.stringify(snakeFields(JoinFile, started))}\n`);
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
    // The caller's schema refuses half a file as it does a wrong one.
    return undefined;
  }
}
