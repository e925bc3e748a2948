import assert from "node:assert/strict";
import { test } from "node:test";
import { playCheats } from "./cheats.ts";

test("a small market of cheats is played from the command line, and nobody gains", async () => {
  const lines: string[] = [];
  const problems = await playCheats({ seeds: 4, minutes: 0, seed: 1, batch: 2, ahead: 0 }, (line) => lines.push(line));
  assert.deepEqual(problems, []);
  assert.equal(lines.length, 3);
});
