import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { unpackWoff } from "./woff.ts";

const { resolve } = createRequire(import.meta.url);

/** The checksum of an OpenType table: the sum of its 32-bit words, filled up with zeros. */
function checksumOf(table: Buffer): number {
  const words = Buffer.concat([table, Buffer.alloc(-table.length & 3)]);
  let sum = 0;
  for (let at = 0; at < words.length; at += 4) sum = (sum + words.readUInt32BE(at)) >>> 0;
  return sum;
}

for (const file of ["dejavu-sans/files/dejavu-sans-latin-400-normal", "unifont/files/unifont-latin-400-normal"]) {
  test(`each table of ${file} is unpacked whole: its bytes have the checksum that the font states`, () => {
    const font = unpackWoff(readFileSync(resolve(`@fontsource/${file}.woff`)));
    const tags = Array.from({ length: font.readUInt16BE(4) }, (_, index) => {
      const entry = font.subarray(12 + index * 16);
      const [tag, stated, from, bytes] = [
        entry.toString("latin1", 0, 4),
        entry.readUInt32BE(4),
        entry.readUInt32BE(8),
        entry.readUInt32BE(12),
      ];
      assert.equal(from % 4, 0, `${tag} begins at a word`);
      // The head table holds the checksum of the whole font, which its own checksum leaves out.
      const table = Buffer.from(font.subarray(from, from + bytes));
      if (tag === "head") table.writeUInt32BE(0, 8);
      assert.equal(checksumOf(table), stated, tag);
      return tag;
    });
    for (const tag of ["cmap", "glyf", "head", "hmtx", "loca"]) assert.ok(tags.includes(tag), tag);
  });
}
