import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AppError } from "../../../base/errors.ts";
import { splitShellWords } from "./rules/shell-words.ts";

const split = (text: string) => splitShellWords(text, "args_str");

test("words end at blanks outside quotes", () => {
  assert.deepEqual(split(`--model a/b  --name "x y" 'it''s' "" a\\ b "\\"q\\" \\n" c"d"'e'`), [
    "--model",
    "a/b",
    "--name",
    "x y",
    "its",
    "",
    "a b",
    '"q" \\n',
    "cde",
  ]);
  assert.deepEqual(split(" \n\t "), []);
  assert.deepEqual(split("a \\\n b"), ["a", "b"]);
});

test("variables and patterns are not expanded", () => {
  assert.deepEqual(split("$HOME `id` $(id) * ; | > x && y #z"), [
    "$HOME",
    "`id`",
    "$(id)",
    "*",
    ";",
    "|",
    ">",
    "x",
    "&&",
    "y",
    "#z",
  ]);
});

test("an open quote or a last backslash is refused by field", () => {
  for (const text of ['a "b', "a 'b", "a\\"]) {
    assert.throws(
      () => split(text),
      (error) => error instanceof AppError && error.extra["field"] === "args_str",
    );
  }
});

test("words quoted as a shell would quote them come back", () => {
  const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
  fc.assert(fc.property(fc.array(fc.string()), (words) => assert.deepEqual(split(words.map(quote).join(" ")), words)));
});
