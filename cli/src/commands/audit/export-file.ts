import { createHash, createPublicKey, verify } from "node:crypto";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { UserError } from "../../failure.ts";

/** The advice for an export that is not whole. */
export const EXPORT_ADVICE = "Take another copy of that export: this one proves nothing. See docs/audit.md.";

/** One line of an export. */
type Link = {
  readonly number: number;
  readonly made_at: string;
  readonly facts: readonly string[];
  readonly sha256: string;
  readonly signature: string;
  readonly public_key: string;
};

export type ExportHead = {
  readonly number: number;
  readonly sha256: string;
  readonly publicKey: string;
  readonly factCount: number;
};

/**
 * Reads an export and checks that it is whole: each hash follows from the facts and the hash before, and the server
 * signed the last one, which binds all. Throws with the first line that differs from the export.
 */
export async function readExport(file: string): Promise<ExportHead> {
  let head: Link | undefined;
  let factCount = 0;
  let position = 0;
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    position += 1;
    const link = readLink(text, `${file}, line ${position}`);
    // The first line may be in the middle of the chain (--after): its own hash cannot be recomputed then.
    const isAlone = head === undefined && link.number !== 1;
    if (head !== undefined && link.number !== head.number + 1) {
      throw new UserError(`${file}, line ${position}: link ${head.number + 1} is missing.`, EXPORT_ADVICE);
    }
    if (!isAlone && hashOf(head?.sha256 ?? "", link) !== link.sha256) {
      throw new UserError(
        `${file}, line ${position}: link ${link.number} was changed after it was exported.`,
        EXPORT_ADVICE,
      );
    }
    head = link;
    factCount += link.facts.length;
  }
  if (head === undefined) throw new UserError(`${file} has no facts.`, EXPORT_ADVICE);
  if (!isSigned(head)) {
    throw new UserError(
      `${file}: the signature of link ${head.number} is not that of key ${head.public_key}.`,
      EXPORT_ADVICE,
    );
  }
  return { number: head.number, sha256: head.sha256, publicKey: head.public_key, factCount };
}

function readLink(text: string, place: string): Link {
  try {
    const read = JSON.parse(text) as Link;
    if (Array.isArray(read.facts) && typeof read.sha256 === "string" && Number.isInteger(read.number)) return read;
  } catch {
    // Reported below as a line that belongs to no export.
  }
  throw new UserError(`${place} is no line of an export of facts.`, EXPORT_ADVICE);
}

function hashOf(before: string, { number, made_at: madeAt, facts }: Link): string {
  const hash = createHash("sha256").update(`${before}\n${number} ${madeAt}\n`);
  for (const fact of facts) hash.update(`${fact}\n`);
  return hash.digest("hex");
}

function isSigned({ number, sha256, signature, public_key: x }: Link): boolean {
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return verify(null, Buffer.from(`berth facts 1 ${number} ${sha256}`), key, Buffer.from(signature, "base64url"));
}
