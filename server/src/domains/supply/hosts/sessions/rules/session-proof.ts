import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { MachineId } from "../../../../../base/ids.ts";

/**
 * The proof that an agent gets with each welcome and shows at its next connection: of two copies of one agent only the
 * one that connected last has it. The text carries its session number under the server's signature, so that a server
 * whose database was restored from an older copy recognises a proof that it issued and has forgotten: a restore locks
 * out no agent.
 */
const PROOF = /^(\d{1,15})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;
const NONCE_BYTES = 16;

export type ProofMaker = {
  readonly make: (machineId: MachineId, sessionNumber: number) => string;
  /** The number of the session that a proof was made for; undefined for a proof that this server never made. */
  readonly sessionOf: (machineId: MachineId, proof: string) => number | undefined;
};

export function proofMaker(secret: Buffer, random: (byteCount: number) => Buffer): ProofMaker {
  const signatureOf = (machineId: MachineId, text: string) =>
    createHmac("sha256", secret).update(`session proof of machine ${machineId}\n${text}`).digest("base64url");
  return {
    make: (machineId, sessionNumber) => {
      const text = `${sessionNumber}.${random(NONCE_BYTES).toString("base64url")}`;
      return `${text}.${signatureOf(machineId, text)}`;
    },
    sessionOf: (machineId, proof) => {
      const [, number = "", nonce = "", shown = ""] = PROOF.exec(proof) ?? [];
      if (nonce === "") return undefined;
      const expected = signatureOf(machineId, `${number}.${nonce}`);
      // Compared as texts: a decoded value has several spellings, and this server made only one of them.
      return timingSafeEqual(Buffer.from(expected), Buffer.from(shown)) ? Number(number) : undefined;
    },
  };
}

export function hashProof(proof: string): Buffer {
  return createHash("sha256").update(proof).digest();
}

/** Proofs of a machine that the server has stored. */
export type KnownProofs = {
  /** Null before the first connection since the machine joined: then any proof is accepted. */
  readonly proofSha256: Buffer | null;
  readonly previousProofSha256: Buffer | null;
  readonly sessionNumber: number;
};

/**
 * True for a proof that the original can have: the present one, the previous one while the present one is unconfirmed,
 * or one from beyond what the database knows (`issuedFor` is the session that it was made for).
 */
export function isProofGood(known: KnownProofs, shown: string, issuedFor: number | undefined): boolean {
  if (known.proofSha256 === null) return true;
  const hash = hashProof(shown);
  if (hash.equals(known.proofSha256) || known.previousProofSha256?.equals(hash)) return true;
  return issuedFor !== undefined && issuedFor > known.sessionNumber;
}
