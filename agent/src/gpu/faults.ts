import { readFileSync } from "node:fs";
import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";
import { writeDurably } from "../base/durable-file.ts";

/** A fatal event of one GPU, with its place in the kernel log. */
const Fault = Type.Object({ bus: Type.String(), sequence: Type.Number(), text: Type.String() });
export type Fault = Static<typeof Fault>;
const StoredFaults = Type.Object({ boot_id: Type.String(), faults: Type.Array(Fault) });

/** Remembers faults over restarts of the agent: the kernel log is a ring, and forgets. */
export type FaultStore = {
  load(bootId: string): readonly Fault[];
  save(bootId: string, faults: readonly Fault[]): void;
};

const stored = Compile(StoredFaults);

export const forgetfulFaults: FaultStore = { load: () => [], save: () => undefined };

/** Keeps the faults of the present boot in one file, replaced as a whole. After a reboot they are over. */
export function fileFaults(path: string, onFailure: (cause: unknown) => void): FaultStore {
  return {
    load: (bootId) => {
      try {
        const value: unknown = JSON.parse(readFileSync(path, "utf8"));
        return stored.Check(value) && value.boot_id === bootId ? value.faults : [];
      } catch {
        // No file, or half a file: the kernel log, as far as it goes back, says it again.
        return [];
      }
    },
    save: (bootId, faults) => {
      try {
        writeDurably(path, JSON.stringify({ boot_id: bootId, faults }));
      } catch (cause) {
        onFailure(cause);
      }
    },
  };
}
