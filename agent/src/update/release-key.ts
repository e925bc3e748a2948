import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { releaseText, type AgentRelease } from "../../../protocol/index.ts";
import { writeDurably } from "../base/durable-file.ts";

const KeyFile = Type.Object({ home: Type.String(), key: Type.String() });
const schema = Compile(KeyFile);
/** The head of an Ed25519 key in SPKI form; the 32 bytes of the key follow. */
const SPKI_HEAD = Buffer.from("302a300506032b6570032100", "hex");

/**
 * The key of the installation, which its home said at the first welcome and which never changes after that: other servers
 * and addresses, and home itself, cannot replace it. Undefined before that.
 */
export class ReleaseKey {
  readonly #file: string;
  readonly #home: string;
  #key: string | undefined;

  constructor(stateDir: string, home: string) {
    this.#file = path.join(stateDir, "release-key.json");
    this.#home = home;
    this.#key = readKey(this.#file, home);
  }

  /** Keeps the key that home says, unless there is one. */
  learn(key: string): void {
    if (this.#key !== undefined || toKey(key) === undefined) return;
    writeDurably(this.#file, `${JSON.stringify({ home: this.#home, key })}\n`);
    this.#key = key;
  }

  /** A sentence on what is wrong with the signature; undefined when the installation signed this release. */
  problemOf(release: AgentRelease): string | undefined {
    const key = this.#key === undefined ? undefined : toKey(this.#key);
    if (key === undefined) return "this agent has no key of its installation yet";
    const signature = Buffer.from(release.signature, "base64url");
    const isSigned = verify(undefined, Buffer.from(releaseText(release)), key, signature);
    return isSigned ? undefined : "the key of this installation did not sign it";
  }
}

function readKey(file: string, home: string): string | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    // A machine that joined somewhere else has another home.
    return schema.Check(value) && value.home === home ? value.key : undefined;
  } catch {
    return undefined;
  }
}

function toKey(key: string): KeyObject | undefined {
  const bytes = Buffer.from(key, "base64url");
  if (bytes.length !== 32) return undefined;
  return createPublicKey({ key: Buffer.concat([SPKI_HEAD, bytes]), format: "der", type: "spki" });
}
