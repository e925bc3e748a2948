import { invalid } from "../../../../base/errors.ts";
import { splitShellWords } from "../../templates/index.ts";

const COMMAND_LENGTH_MAX = 512;
const PROGRAMS: readonly string[] = ["ls", "rm", "du"];
/** Characters that a shell treats as more than a part of a word. Within single quotes none is special. */
const SPECIAL = new Set("|&;<>()$`*?[]{}!\n\r");
const SPECIAL_IN_DOUBLE_QUOTES = new Set("$`");

/**
 * The words of a command to execute: `ls`, `rm` or `du` with arguments. No shell runs it, so a character that would
 * need one is refused instead of being taken for a part of a name; within quotes, or after a backslash, every character
 * is part of a name.
 */
export function readCommand(command: string): readonly string[] {
  if (command.length > COMMAND_LENGTH_MAX) {
    throw invalid("command", `command is longer than ${COMMAND_LENGTH_MAX} characters`);
  }
  refuseShell(command);
  const words = splitShellWords(command, "command");
  if (!PROGRAMS.includes(words[0] ?? "")) {
    throw invalid("command", `command must begin with ${PROGRAMS.join(", ")}: other programs are not run this way`);
  }
  return words;
}

function refuseShell(command: string): void {
  let quote = "";
  for (let index = 0; index < command.length; index += 1) {
    const character = command.charAt(index);
    if (quote === "'") {
      if (character === "'") quote = "";
    } else if (character === "\\") {
      index += 1;
    } else if (character === quote) {
      quote = "";
    } else if (quote === "" && (character === '"' || character === "'")) {
      quote = character;
    } else if (isSpecial(command, index, quote)) {
      throw invalid(
        "command",
        `command: ${nameOf(character)} needs a shell, which does not run here; quote the character to use it in a name`,
      );
    }
  }
}

function isSpecial(command: string, index: number, quote: string): boolean {
  const character = command.charAt(index);
  if (quote === '"') return SPECIAL_IN_DOUBLE_QUOTES.has(character);
  const isFirst = index === 0 || /\s/.test(command.charAt(index - 1));
  return SPECIAL.has(character) || (isFirst && (character === "~" || character === "#"));
}

function nameOf(character: string): string {
  return character === "\n" || character === "\r" ? "a line break" : character;
}
