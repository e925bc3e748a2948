// Arrays as parameters of statements, in PostgreSQL's binary format. A statement for hundreds of rows sends thousands of
// values: as text, writing and reading them takes longer than storing the rows. The statement casts each to the type that
// its function names, such as `${bigints(ids)}::bigint[]`; any other type is refused.
import { invariant } from "../base/invariant.ts";

type Values<T> = readonly (T | null | undefined)[];
/** Writes a value at an offset, and returns the offset behind it. */
type Write<T> = (buffer: Buffer, value: T, offset: number) => number;

const TYPE_IDS = { bytea: 17, integer: 23, bigint: 20, text: 25, jsonb: 3802, timestamptz: 1184 } as const;
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const LENGTH_OF_NULL = -1;
const UTF8_BYTES_MAX = 3;
const JSONB_VERSION = 1;
/** The beginning of PostgreSQL's count of microseconds. */
const EPOCH_MS = Date.UTC(2000, 0, 1);
const HIGH_WORD = 2 ** 32;

export function integers(values: Values<number>): Buffer {
  return encode(values, { typeId: TYPE_IDS.integer, bytesMax: 4 * values.length }, (buffer, value, offset) => {
    invariant(Number.isInteger(value), "an integer is whole");
    return buffer.writeInt32BE(value, offset);
  });
}

export function bigints(values: Values<bigint>): Buffer {
  return encode(values, { typeId: TYPE_IDS.bigint, bytesMax: 8 * values.length }, (buffer, value, offset) =>
    buffer.writeBigInt64BE(value, offset),
  );
}

/** An array of milliseconds since 1970, as a value for timestamptz[]. */
export function timestamps(valuesMs: Values<number>): Buffer {
  return encode(
    valuesMs,
    { typeId: TYPE_IDS.timestamptz, bytesMax: 8 * valuesMs.length },
    (buffer, valueMs, offset) => {
      const micros = (valueMs - EPOCH_MS) * 1000;
      invariant(
        Number.isSafeInteger(micros),
        "an instant is a whole number of microseconds, some centuries away at most",
      );
      const high = Math.floor(micros / HIGH_WORD);
      return buffer.writeUInt32BE(micros - high * HIGH_WORD, buffer.writeInt32BE(high, offset));
    },
  );
}

export function texts(values: Values<string>): Buffer {
  return encode(values, { typeId: TYPE_IDS.text, bytesMax: utf8BytesMax(values) }, writeText);
}

export function byteas(values: Values<Buffer>): Buffer {
  const bytesMax = values.reduce((sum, value) => sum + (value?.length ?? 0), 0);
  return encode(values, { typeId: TYPE_IDS.bytea, bytesMax }, (buffer, value, offset) => {
    return offset + value.copy(buffer, offset);
  });
}

/** An array of JSON texts, as a value for jsonb[]. */
export function jsons(values: Values<string>): Buffer {
  const bytesMax = utf8BytesMax(values) + values.length;
  return encode(values, { typeId: TYPE_IDS.jsonb, bytesMax }, (buffer, value, offset) =>
    writeText(buffer, value, buffer.writeUInt8(JSONB_VERSION, offset)),
  );
}

function encode<T extends string | number | bigint | Buffer>(
  values: Values<T>,
  { typeId, bytesMax }: { readonly typeId: number; readonly bytesMax: number },
  write: Write<T>,
): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + LENGTH_BYTES * values.length + bytesMax);
  const dimensions = values.length === 0 ? 0 : 1;
  let offset = buffer.writeInt32BE(dimensions, 0);
  // A flag: the array may hold nulls.
  offset = buffer.writeInt32BE(1, offset);
  offset = buffer.writeInt32BE(typeId, offset);
  if (dimensions === 0) return buffer.subarray(0, offset);
  offset = buffer.writeInt32BE(values.length, offset);
  // The index of the first element.
  offset = buffer.writeInt32BE(1, offset);
  for (const value of values) {
    if (value === null || value === undefined) {
      offset = buffer.writeInt32BE(LENGTH_OF_NULL, offset);
      continue;
    }
    const start = offset + LENGTH_BYTES;
    const end = write(buffer, value, start);
    buffer.writeInt32BE(end - start, offset);
    offset = end;
  }
  return buffer.subarray(0, offset);
}

function writeText(buffer: Buffer, value: string, offset: number): number {
  return offset + buffer.write(value, offset);
}

function utf8BytesMax(values: Values<string>): number {
  return values.reduce((sum, value) => sum + (value?.length ?? 0) * UTF8_BYTES_MAX, 0);
}
