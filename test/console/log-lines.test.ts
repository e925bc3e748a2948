import assert from "node:assert/strict";
import { test } from "node:test";
import { LINES_MAX, LogLines } from "../../console/src/pages/instances/log-lines.ts";
import { PLAIN, readAnsi } from "../../console/src/text/ansi.ts";

const ESC = "\u001B";

test("colours become looks, which last until they are ended, and all other sequences are left out", () => {
  const { pieces, look } = readAnsi(`a${ESC}[1;31mb${ESC}[2K${ESC}[39mc${ESC}[0m${ESC}[92md`, PLAIN);
  assert.deepEqual(pieces, [
    { ...PLAIN, text: "a" },
    { ...PLAIN, isBold: true, color: "red", text: "b" },
    { ...PLAIN, isBold: true, text: "c" },
    { ...PLAIN, color: "green", text: "d" },
  ]);
  assert.deepEqual(look, { ...PLAIN, color: "green" });
  assert.deepEqual(readAnsi("e", look).pieces, [{ ...PLAIN, color: "green", text: "e" }]);
});

test("hostile sequences show nothing of themselves and swallow no text behind them", () => {
  const shown = (text: string) =>
    readAnsi(text, PLAIN)
      .pieces.map((piece) => piece.text)
      .join("|");
  assert.equal(shown(`${ESC}]0;a title\u0007after`), "after");
  assert.equal(shown(`${ESC}]8;;https://evil.example${ESC}\\link${ESC}]8;;${ESC}\\`), "link");
  assert.equal(shown(`${ESC}c${ESC}[999999999999;;m<b>${ESC}[`), "<b>");
  assert.deepEqual(readAnsi(`${ESC}[38;5;196mx${ESC}[38;2;1;2;3;4my`, PLAIN).pieces, [
    { ...PLAIN, text: "x" },
    { ...PLAIN, text: "y" },
  ]);
});

test("pieces of two streams become whole lines, and a progress bar is what it showed last", () => {
  const log = new LogLines();
  log.add("stdout", "one\nhalf ");
  log.add("stderr", `${ESC}[31mbad\nstill${ESC}[0m red\n`);
  assert.deepEqual(
    log.all().map(({ text }) => text),
    ["one", "bad", "still red", "half "],
  );
  assert.deepEqual(
    log.all()[2]?.pieces.map(({ color, text }) => [color, text]),
    [
      ["red", "still"],
      [undefined, " red"],
    ],
  );
  log.add("stdout", "a line\r\n10 %\r20 %\r30 %\n");
  assert.deepEqual(
    log
      .all()
      .slice(3)
      .map(({ text, raw }) => [text, raw]),
    [
      ["half a line", "half a line\r"],
      ["30 %", "10 %\r20 %\r30 %"],
    ],
  );
  log.add("stdout", "x\n".repeat(LINES_MAX));
  log.addNote("Lines are gone.");
  assert.deepEqual([log.all().length, log.all().at(-1)?.isNote], [LINES_MAX, true]);
});
