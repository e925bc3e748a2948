import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { LineTail } from "./line-tail.ts";

const lines = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "ä", " ") }), { maxLength: 30 });
const WIDE = { tailLines: 1_000, limitBytes: 1_000_000, filter: "" };

function push(tail: LineTail, text: string, size: number, stream = "one"): void {
  const data = Buffer.from(text);
  for (let at = 0; at < data.length; at += size) tail.push(stream, data.subarray(at, at + size));
}

describe("the newest lines of a text", () => {
  it("are the same however it is cut, filtered first and counted then", () => {
    fc.assert(
      fc.property(
        lines,
        fc.integer({ min: 1, max: 9 }),
        fc.nat(12),
        fc.constantFrom("", "a", "ab"),
        (all, size, tailLines, filter) => {
          const tail = new LineTail({ ...WIDE, tailLines, filter });
          push(tail, all.map((line) => `${line}\n`).join(""), size);
          const kept = all.filter((line) => line.includes(filter)).slice(tailLines === 0 ? all.length : -tailLines);
          assert.equal(tail.text(), kept.map((line) => `${line}\n`).join(""));
        },
      ),
    );
  });

  it("never take more room than allowed, and are an end of the whole", () => {
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 40 }), (all, limitBytes) => {
        const whole = all.map((line) => `${line.replaceAll("ä", "c")}\n`).join("");
        const tail = new LineTail({ ...WIDE, limitBytes });
        push(tail, whole, 7);
        const kept = tail.text();
        assert.ok(Buffer.byteLength(kept) <= limitBytes);
        assert.ok(whole.endsWith(kept));
      }),
    );
  });

  it("are not torn by another stream, and a line without end counts", () => {
    const tail = new LineTail(WIDE);
    push(tail, "one, ", 100, "stdout");
    push(tail, "two\n", 100, "stderr");
    push(tail, "still one\nrest", 100, "stdout");
    assert.equal(tail.text(), "two\none, still one\nrest\n");
  });

  it("keeps the end of one endless line", () => {
    const tail = new LineTail({ ...WIDE, limitBytes: 10 });
    for (let i = 0; i < 10_000; i += 1) tail.push("one", Buffer.from("0123456789abcdef"));
    assert.equal(tail.text(), "789abcdef\n");
  });
});
