import { readFileSync } from "node:fs";
import { writeDurably } from "../base/durable-file.ts";

/**
 * Keeps what the control plane gave with the last welcome, to be shown in the next hello. It is not a note: of two
 * copies of one agent it tells which is the original, so it is on the disk before the session that gave it counts.
 */
export type ProofStore = {
  /** The kept proof; empty when there is none. */
  load(): string;
  /** False when it cannot be stored: then the one before has to stay good. */
  keep(proof: string): boolean;
};

/** The store of agents that the control plane asks for no proof. */
export const noProof: ProofStore = { load: () => "", keep: () => true };

export function fileProof(path: string, onFailure: (cause: unknown) => void): ProofStore {
  return {
    load: () => {
      try {
        return readFileSync(path, "utf8").trim();
      } catch {
        // The first start, or a state folder that was lost: the control plane then says whether to join again.
        return "";
      }
    },
    keep: (proof) => {
      try {
        writeDurably(path, `${proof}\n`);
        return true;
      } catch (cause) {
        onFailure(cause);
        return false;
      }
    },
  };
}
