import assert from "node:assert/strict";
import { test } from "node:test";
import { EXAMPLES, findCommand } from "./examples.ts";
import { createProgram } from "./program.ts";

/** The words of a shell command line with simple quotes; a redirection of input is left out. */
function wordsOf(line: string): readonly string[] {
  const [command = ""] = line.split(" < ");
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

test("each example in the help is a command line that its command accepts", async (t) => {
  for (const [words, example] of Object.entries(EXAMPLES)) {
    await t.test(`the example of ${words} parses`, async () => {
      const program = createProgram();
      let isRun = false;
      findCommand(program, words).action(() => {
        isRun = true;
      });
      const [name, ...args] = wordsOf(example);
      assert.equal(name, "berth");
      await program.parseAsync(args, { from: "user" });
      assert.ok(isRun, example);
    });
  }
});
