import { inflateSync } from "node:zlib";

const [HEADER_BYTES, ENTRY_BYTES] = [44, 20];
const [SFNT_HEADER_BYTES, SFNT_ENTRY_BYTES] = [12, 16];

/**
 * The OpenType font inside a WOFF file (W3C, WOFF File Format 1.0, sections 4 to 6). The PDF library reads WOFF as well,
 * but inflates a whole table again for each letter, in JavaScript.
 */
export function unpackWoff(woff: Buffer): Buffer {
  const count = woff.readUInt16BE(12);
  const header = Buffer.alloc(SFNT_HEADER_BYTES + count * SFNT_ENTRY_BYTES);
  woff.copy(header, 0, 4, 8); // The kind of outlines.
  header.writeUInt16BE(count, 4);
  const parts: Buffer[] = [header];
  let offset = header.length;
  for (let index = 0; index < count; index += 1) {
    const entry = woff.subarray(HEADER_BYTES + index * ENTRY_BYTES);
    const [packedFrom, packedBytes, bytes] = [entry.readUInt32BE(4), entry.readUInt32BE(8), entry.readUInt32BE(12)];
    const packed = woff.subarray(packedFrom, packedFrom + packedBytes);
    // A table that would not shrink is stored as it is.
    const table = packedBytes < bytes ? inflateSync(packed) : packed;
    const place = SFNT_HEADER_BYTES + index * SFNT_ENTRY_BYTES;
    entry.copy(header, place, 0, 4); // Its tag.
    entry.copy(header, place + 4, 16, 20); // Its checksum.
    header.writeUInt32BE(offset, place + 8);
    header.writeUInt32BE(bytes, place + 12);
    const padding = Buffer.alloc(-bytes & 3);
    parts.push(table, padding);
    offset += bytes + padding.length;
  }
  return Buffer.concat(parts);
}
