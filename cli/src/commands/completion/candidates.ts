import type { Command, Option } from "commander";

/** A word that could stand at the cursor, and what it is. */
export type Candidate = { readonly word: string; readonly summary: string };

/** Words that could complete the last of the words after `berth`; none where any text or a file may stand. */
export function candidatesFor(program: Command, words: readonly string[]): readonly Candidate[] {
  const typed = words.at(-1) ?? "";
  const { command, open, operands } = readWords(program, words.slice(0, -1));
  const all = open === undefined ? wordsOf(command, typed, operands) : choices(open);
  return all.filter(({ word }) => word.startsWith(typed));
}

/** Reads complete words: the command they name, the option that waits for its value, and the number of arguments. */
function readWords(program: Command, words: readonly string[]) {
  let command = program;
  let open: Option | undefined;
  let operands = 0;
  for (const word of words) {
    const inner = command.commands.find((child) => child.name() === word);
    if (open !== undefined) open = undefined;
    else if (word.startsWith("-"))
      open = command.options.find(({ required, short, long }) => required && [short, long].includes(word));
    else if (inner === undefined) operands += 1;
    else command = inner;
  }
  return { command, open, operands };
}

function wordsOf(command: Command, typed: string, operands: number): readonly Candidate[] {
  const help = command.createHelp();
  if (typed.startsWith("-")) {
    return help
      .visibleOptions(command)
      .flatMap(({ short, long, description }) =>
        [short, long].flatMap((word) => (word?.startsWith("--") === true ? [{ word, summary: description }] : [])),
      );
  }
  const argument = command.registeredArguments[operands];
  const inner = help.visibleCommands(command).map((child) => ({
    word: child.name(),
    summary: child.summary() || child.description(),
  }));
  return [...inner, ...(argument === undefined ? [] : choices(argument))];
}

function choices({ argChoices }: { readonly argChoices?: readonly string[] | undefined }): readonly Candidate[] {
  return (argChoices ?? []).map((word) => ({ word, summary: "" }));
}
