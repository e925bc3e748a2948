import { readFileSync } from "node:fs";
import { UserError } from "../../failure.ts";

/** The value of a variable: the argument, or standard input, where no other user of the machine can read it. */
export function readValue(given: string | undefined): string {
  if (given !== undefined) return given;
  if (process.stdin.isTTY) {
    throw new UserError("The value is missing.", "Give it after the name, or pipe it in: berth env-var … < file", 2);
  }
  return readFileSync(0, "utf8").replace(/\r?\n$/, "");
}
