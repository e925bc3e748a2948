import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../../../../base/errors.ts";
import { readCommand } from "./command.ts";

test("a command is split into words as a shell would, quotes included", () => {
  for (const [command, words] of [
    ["ls", ["ls"]],
    ["  ls   -l\t/data ", ["ls", "-l", "/data"]],
    [`rm -r "a b" 'c;d|$e' f\\ g`, ["rm", "-r", "a b", "c;d|$e", "f g"]],
    ["du -d2 -h 'it'\"'\"s", ["du", "-d2", "-h", "it's"]],
    ["ls a~b c#d \\$HOME \\*", ["ls", "a~b", "c#d", "$HOME", "*"]],
    [`ls "*.txt" "a>b"`, ["ls", "*.txt", "a>b"]],
  ] as const) {
    assert.deepEqual(readCommand(command), words, command);
  }
});

test("a command that needs a shell is refused by the name of the character", () => {
  for (const [command, character] of [
    ["ls | rm", "|"],
    ["ls; rm -rf /", ";"],
    ["ls && rm x", "&"],
    ["ls > /etc/passwd", ">"],
    ["ls < x", "<"],
    ["ls $HOME", "$"],
    ['ls "$(id)"', "$"],
    ['ls "`id`"', "`"],
    ["ls (a)", "("],
    ["rm *.txt", "*"],
    ["rm a?", "?"],
    ["rm [ab]", "["],
    ["rm {a,b}", "{"],
    ["ls ~/x", "~"],
    ["ls # x", "#"],
    ["ls\nrm x", "a line break"],
  ] as const) {
    assert.throws(
      () => readCommand(command),
      (error) =>
        error instanceof AppError &&
        error.code === "invalid_args" &&
        error.publicMessage.startsWith(`command: ${character} needs a shell`),
      command,
    );
  }
});

test("only ls, rm and du are commands, whole and within the length", () => {
  for (const command of ["", "   ", "cat x", "lsof", "/bin/ls", "sh -c ls", "LS", "'' ls", "ls 'open", "ls x\\"]) {
    assert.throws(() => readCommand(command), { code: "invalid_args" }, command);
  }
  assert.equal(readCommand(`ls ${"a".repeat(509)}`).length, 2);
  assert.throws(() => readCommand(`ls ${"a".repeat(510)}`), /longer than 512/);
});
