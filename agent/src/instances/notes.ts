import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";
import { Notice, ObservedInstance } from "../../../protocol/index.ts";
import { camelFields, snakeFields, type Camel } from "../wire/fields.ts";

const Count = Type.Number({ minimum: 0 });
const Counters = Type.Object({ running_ms: Count, received_bytes: Count, sent_bytes: Count });

/**
 * Facts that an agent remembers over its own restart. It works without them: it adopts every container from its labels,
 * but may then undercount traffic, and give a lease its full length once more.
 */
const StoredNotes = Type.Object({
  boot_id: Type.String(),
  lease: Type.Object({ granted_at_ms: Type.Number(), lease_ms: Type.Number() }),
  /** Container id → why the agent stopped it. */
  halted: Type.Record(Type.String(), Type.String()),
  /** Ids of containers that ran when this was written: after a reboot they are to run again. */
  running: Type.Array(Type.String()),
  /** Instance → the id of the image below its disk. */
  images: Type.Record(Type.String(), Type.String()),
  /** Instance → keys that may enter it, for while the control plane is away. */
  keys: Type.Record(Type.String(), Type.Array(Type.String())),
  /** Images that orders brought here → epoch milliseconds of their last use. */
  pulled_images: Type.Record(Type.String(), Count),
  /** Ids of images that came with somebody's credentials. */
  guarded_images: Type.Array(Type.String()),
  /** Instance → the notice under which it runs or has ended. Absent in notes of older agents. */
  notices: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        generation: Count,
        reason: Notice.properties.reason,
        message: Type.String(),
        noticed_at_ms: Count,
        ends_at_ms: Count,
        is_over: Type.Boolean(),
      }),
    ),
  ),
  /** `<instance>:<generation>` → its meter. */
  meters: Type.Record(
    Type.String(),
    Type.Object({ carried: Counters, run_key: Type.String(), started_at_ms: Count, run: Counters }),
  ),
  /** `<instance>:<generation>` → the last word about a run that is over, not acknowledged yet. Absent in older notes. */
  finals: Type.Optional(Type.Record(Type.String(), ObservedInstance)),
});
export type Notes = Camel<Static<typeof StoredNotes>>;

export type NotesStore = {
  /** The notes of an earlier process; undefined when there are none, or none that can be read. */
  load(): Notes | undefined;
  save(notes: Notes): void;
};

const notesSchema = Compile(StoredNotes);

/** Notes of hosts whose containers do not outlive the process. */
export const forgetfulNotes: NotesStore = { load: () => undefined, save: () => undefined };

/** Keeps the notes in one file, replaced as a whole. A failure to write is told to `onFailure` and otherwise ignored. */
export function fileNotes(path: string, onFailure: (cause: unknown) => void): NotesStore {
  return {
    load: () => {
      try {
        const value: unknown = JSON.parse(readFileSync(path, "utf8"));
        return notesSchema.Check(value) ? camelFields(StoredNotes, value) : undefined;
      } catch {
        // No file, or half a file: the agent then starts without notes, which is always safe.
        return undefined;
      }
    },
    save: (notes) => {
      try {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(`${path}.new`, JSON.stringify(snakeFields(StoredNotes, notes)), { mode: 0o600 });
        renameSync(`${path}.new`, path);
      } catch (cause) {
        onFailure(cause);
      }
    },
  };
}
