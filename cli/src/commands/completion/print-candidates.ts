import type { Command } from "commander";
import { candidatesFor } from "./candidates.ts";

/** Prints a candidate on each line, with a tab before its summary. */
export function printCandidates(program: Command, words: readonly string[]): void {
  for (const { word, summary } of candidatesFor(program, words)) {
    process.stdout.write(summary === "" ? `${word}\n` : `${word}\t${summary}\n`);
  }
}
