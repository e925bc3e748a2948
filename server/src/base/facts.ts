// Facts of who moved money, and the chain that binds them (docs/adr/0030-facts-of-money.md). Pure: no database, no clock.
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";
import { invariant } from "./invariant.ts";

/** Kinds of facts. Each kind names the table whose row it is checked against; the subject names the row. */
export type FactKind =
  | "origin"
  | "transfer"
  | "cap"
  | "payout"
  | "payout_hold"
  | "freeze"
  | "invoice"
  | "receipt"
  | "statement"
  | "credit_note"
  | "audit_event"
  | "seal";

/** The requester and the request behind a fact; undefined members are not known. */
export type Origin = {
  readonly userId?: number | undefined;
  readonly apiKeyId?: number | undefined;
  /** The member who acted for the user, when the user is a team. */
  readonly memberId?: number | undefined;
  readonly ipAddress?: string | undefined;
  readonly requestId?: string | undefined;
};

/** A fact before it is written. */
export type Fact = {
  readonly kind: FactKind;
  /** The id of the row: a transfer, a cap, a payout. */
  readonly subject: string;
  /** The row's content from this fact on. Values that JSON keeps: text, numbers, booleans, null and objects of them. */
  readonly content: Readonly<Record<string, unknown>>;
  /** The origin of this fact; that of the transaction when left out. */
  readonly origin?: Origin | undefined;
};

/** A fact as it is written and hashed: one line of JSON. */
export type FactText = Pick<Fact, "kind" | "subject"> & { readonly text: string };

/** The facts of one transaction. A link's hash covers its facts and the hash of the link before. */
export type FactLink = {
  readonly number: bigint;
  readonly madeAt: Date;
  readonly texts: readonly string[];
  readonly sha256: string;
  readonly signature: string;
};

export type FactHead = Pick<FactLink, "number" | "sha256">;

/** The head of a chain without links. */
export const NO_HEAD: FactHead = { number: 0n, sha256: "" };

/** `by` is "server" where a loop acts on nobody's request. */
export function textOfFact({ kind, subject, content, origin = {} }: Fact, at: Date): FactText {
  const { userId, apiKeyId, memberId, ipAddress, requestId } = origin;
  const who = { user: userId, key: apiKeyId, member: memberId, ip: ipAddress };
  const isKnown = Object.values(who).some((part) => part !== undefined);
  const by = isKnown ? who : "server";
  return { kind, subject, text: JSON.stringify({ kind, subject, at, by, request: requestId ?? null, ...content }) };
}

export function hashLink(before: FactHead, madeAt: Date, texts: readonly string[]): FactHead {
  const number = before.number + 1n;
  const hash = createHash("sha256").update(`${before.sha256}\n${number} ${madeAt.toISOString()}\n`);
  for (const text of texts) hash.update(`${text}\n`);
  return { number, sha256: hash.digest("hex") };
}

/** Signs for the server, by keys that follow from its secret: somebody who has only the database cannot. */
export type FactSigner = {
  /** The public key for checks of signatures: Ed25519, base64url. */
  readonly publicKey: string;
  readonly sign: (head: FactHead) => string;
  readonly isSigned: (head: FactHead, signature: string) => boolean;
  /** Stands for a text that a fact should not repeat; only the server can tell to which text it belongs. */
  readonly digest: (text: string) => string;
};

/** The PKCS #8 header in front of the 32 bytes of an Ed25519 key (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

export function createFactSigner(secret: Buffer): FactSigner {
  const seed = Buffer.from(hkdfSync("sha256", secret, "", "berth fact chain 1", 32));
  const digestKey = Buffer.from(hkdfSync("sha256", secret, "", "berth fact digests 1", 32));
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: "der", type: "pkcs8" });
  const publicKey: KeyObject = createPublicKey(key);
  return {
    publicKey: publicKey.export({ format: "jwk" }).x ?? "",
    sign: (head) => sign(null, signedText(head), key).toString("base64url"),
    isSigned: (head, signature) => verify(null, signedText(head), publicKey, Buffer.from(signature, "base64url")),
    digest: (text) => createHmac("sha256", digestKey).update(text).digest("hex"),
  };
}

function signedText({ number, sha256 }: FactHead): Buffer {
  return Buffer.from(`berth facts 1 ${number} ${sha256}`);
}

/** JSON with the names of each object in order, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** A process's own memory of how far the chain went, which a change of the database cannot undo. */
export class FactWitness {
  #newest: FactHead;
  #kept: bigint;
  readonly #keepHead: (head: FactHead) => Promise<void>;

  /** `keepHead` stores the head outside the database, for the time after a restart. */
  constructor(known: FactHead, keepHead: (head: FactHead) => Promise<void>) {
    this.#newest = known;
    this.#kept = known.number;
    this.#keepHead = keepHead;
  }

  /** The last link that this process, or the one before it on this machine, knows to have been committed. */
  get head(): FactHead {
    return this.#newest;
  }

  see(head: FactHead): void {
    if (head.number > this.#newest.number) this.#newest = head;
  }

  async keep(): Promise<void> {
    const head = this.#newest;
    if (head.number <= this.#kept) return;
    await this.#keepHead(head);
    this.#kept = head.number;
  }
}

/** Writes the facts of one process: it holds the key and the options for that. */
export class FactKeeper {
  readonly witness: FactWitness;
  #known: FactSigner | undefined;

  constructor(witness: FactWitness) {
    this.witness = witness;
  }

  /** Signs by this secret from now on. A server learns it after it has opened its database, and before it writes. */
  useSecret(secret: Buffer): this {
    this.#known = createFactSigner(secret);
    return this;
  }

  get signer(): FactSigner {
    invariant(this.#known !== undefined, "facts are signed once the server's secret is known");
    return this.#known;
  }
}
