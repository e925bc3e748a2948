import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { csvRecord } from "./csv.ts";

/** The cells of one record, parsed by RFC 4180. */
function readRecord(record: string): string[] {
  assert.ok(record.endsWith("\r\n"));
  const cells: string[] = [];
  let rest = record.slice(0, -2);
  for (;;) {
    const match = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|$)/.exec(rest);
    assert.ok(match, `not a record: ${rest}`);
    cells.push(match[1] === undefined ? (match[2] ?? "") : match[1].replaceAll('""', '"'));
    if (match[3] === "") return cells;
    rest = rest.slice(match[0].length);
  }
}

const texts = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.constantFrom("=", "+", "-", "@", '"', ",", "\r", "\n", "\t", " ", "a", "'") }),
);

test("every text survives, except for the apostrophe before text that looks like a formula", () => {
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 6 }), (cells) => {
      const read = readRecord(csvRecord(cells));
      assert.equal(read.length, cells.length);
      for (const [index, cell] of cells.entries()) assert.ok(read[index] === cell || read[index] === `'${cell}`);
    }),
  );
});

test("no text begins like a formula, also after blanks", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const [read = ""] = readRecord(csvRecord([text]));
      assert.ok(!/^\s*[=+\-@]/.test(read), read);
    }),
  );
});

test("a number stays a number, also below zero", () => {
  assert.equal(csvRecord([{ number: "-1.5" }, { number: "0" }, undefined]), "-1.5,0,\r\n");
  assert.equal(csvRecord([{ number: "=1" }]), '"=1"\r\n');
});
