import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createFrameReader } from "./frames.ts";

test("both streams come out whole and in order however the bytes were cut", () => {
  const piece = fc.record({ isStderr: fc.boolean(), text: fc.uint8Array({ maxLength: 40 }) });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.integer({ min: 1, max: 30 })), (pieces, cuts) => {
      const whole = Buffer.concat(
        pieces.map(({ isStderr, text }) => {
          const header = Buffer.from([isStderr ? 2 : 1, 0, 0, 0, 0, 0, 0, 0]);
          header.writeUInt32BE(text.length, 4);
          return Buffer.concat([header, text]);
        }),
      );
      const read = createFrameReader();
      const found: { isStderr: boolean; bytes: number[] }[] = [];
      for (let at = 0, cut = 0; at < whole.length; cut += 1) {
        const size = cuts[cut % Math.max(1, cuts.length)] ?? 7;
        for (const { isStderr, data } of read(whole.subarray(at, at + size))) {
          const last = found.at(-1);
          if (last?.isStderr === isStderr) last.bytes.push(...data);
          else found.push({ isStderr, bytes: [...data] });
        }
        at += size;
      }
      for (const isStderr of [true, false]) {
        assert.deepEqual(
          found.filter((one) => one.isStderr === isStderr).flatMap(({ bytes }) => bytes),
          pieces.filter((one) => one.isStderr === isStderr).flatMap(({ text }) => [...text]),
        );
      }
    }),
  );
});
