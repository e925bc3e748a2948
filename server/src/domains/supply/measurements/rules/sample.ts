import { decodeValue, encodeValue } from "./code.ts";
import { SUBJECT_KINDS, type SeriesKey, type Subject } from "./series.ts";

// A sample is what one machine measured at one moment: a format byte, then for each subject its kind (1 byte), its id (4)
// and its number of values (2), and for each value its series (2) and its code (2). All numbers begin with their low byte.
const FORMAT = 1;
const SUBJECT_BYTES = 7;
const VALUE_BYTES = 4;

/** Values in stored units by series; unknown ones are absent. */
export type Values = ReadonlyMap<SeriesKey, number>;

export function encodeSample(subjects: readonly { readonly subject: Subject; readonly values: Values }[]): Buffer {
  const known = subjects.filter(({ values }) => values.size > 0);
  const size = known.reduce((sum, { values }) => sum + SUBJECT_BYTES + VALUE_BYTES * values.size, 1);
  const content = Buffer.allocUnsafe(size);
  let offset = content.writeUInt8(FORMAT, 0);
  for (const { subject, values } of known) {
    offset = content.writeUInt8(SUBJECT_KINDS[subject.kind], offset);
    offset = content.writeUInt32LE(subject.id, offset);
    offset = content.writeUInt16LE(values.size, offset);
    for (const [key, value] of values) {
      offset = content.writeUInt16LE(key, offset);
      offset = content.writeUInt16LE(encodeValue(value), offset);
    }
  }
  return content;
}

/** Calls back for each value of a sample; one of an unknown format has none. */
export function readSample(content: Buffer, onValue: (subject: Subject, key: SeriesKey, value: number) => void): void {
  if (content[0] !== FORMAT) return;
  let offset = 1;
  while (offset + SUBJECT_BYTES <= content.length) {
    const kind = content.readUInt8(offset) === SUBJECT_KINDS.instance ? ("instance" as const) : ("machine" as const);
    const subject = { kind, id: content.readUInt32LE(offset + 1) };
    const end = offset + SUBJECT_BYTES + VALUE_BYTES * content.readUInt16LE(offset + 5);
    for (offset += SUBJECT_BYTES; offset < end; offset += VALUE_BYTES) {
      onValue(subject, content.readUInt16LE(offset), decodeValue(content.readUInt16LE(offset + 2)));
    }
  }
}

/** Values of one subject in a sample; undefined where it has none. */
export function readSubject(content: Buffer, wanted: Subject): Values | undefined {
  const values = new Map<SeriesKey, number>();
  readSample(content, (subject, key, value) => {
    if (subject.kind === wanted.kind && subject.id === wanted.id) values.set(key, value);
  });
  return values.size === 0 ? undefined : values;
}
