import { posix } from "node:path";
import type { SimulatedFiles } from "./file-system.ts";

/** The effect of a line of the simulated shell: text to print, and the place or the end that follows. */
export type Outcome = { readonly text: string; readonly place: string; readonly exitCode?: number };

export const GREETING =
  "This instance is simulated: it has no container, and its files are invented. Type help for what works.\n";

const HELP = `This shell is a part of the simulation. It knows:
  echo WORDS         prints them
  ls [PATH]          lists a folder
  cd [PATH], pwd     changes and prints the place
  cat FILE           prints a file
  whoami, hostname   say who and where
  clear              clears the screen
  exit               ends the session
On a real host your own shell answers here.
`;

type Run = (words: readonly string[], context: Context) => Outcome;
type Context = { readonly files: SimulatedFiles; readonly place: string; readonly hostname: string };

const COMMANDS: Readonly<Record<string, Run>> = {
  help: (_words, { place }) => ({ text: HELP, place }),
  echo: (words, { place }) => ({ text: `${words.join(" ")}\n`, place }),
  pwd: (_words, { place }) => ({ text: `${place}\n`, place }),
  whoami: (_words, { place }) => ({ text: "root\n", place }),
  hostname: (_words, { place, hostname }) => ({ text: `${hostname}\n`, place }),
  clear: (_words, { place }) => ({ text: "\u001B[H\u001B[2J", place }),
  exit: ([code], { place }) => ({ text: "", place, exitCode: Number(code ?? 0) & 255 }),
  ls: ([given], { files, place }) => {
    const path = resolvePath(place, given);
    const found = files.find(path);
    if (found === undefined) return { text: `ls: ${path}: No such file or directory\n`, place };
    if (found.kind === "file") return { text: `${path}\n`, place };
    const names = files
      .list(path)
      .map((name) => `${name}${files.find(posix.join(path, name))?.kind === "folder" ? "/" : ""}`);
    return { text: names.length === 0 ? "" : `${names.join("  ")}\n`, place };
  },
  cd: ([given = "/root"], { files, place }) => {
    const path = resolvePath(place, given);
    const found = files.find(path);
    if (found?.kind === "folder") return { text: "", place: path };
    return { text: `cd: ${path}: ${found === undefined ? "No such file or directory" : "Not a directory"}\n`, place };
  },
  cat: ([given = ""], { files, place }) => {
    const path = resolvePath(place, given);
    const found = files.find(path);
    if (found?.kind === "file") return { text: found.data.toString("utf8"), place };
    return { text: `cat: ${path}: ${found === undefined ? "No such file or directory" : "Is a directory"}\n`, place };
  },
};

/** Runs one line of the simulated shell. */
export function runLine(line: string, context: Context): Outcome {
  const [name = "", ...words] = line
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
  if (name === "") return { text: "", place: context.place };
  const run = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (run !== undefined) return run(words, context);
  return { text: `${name}: a simulated instance has no such program; type help\n`, place: context.place };
}

function resolvePath(place: string, given = "."): string {
  return posix.resolve(place, given.replace(/^~(?=\/|$)/, "/root"));
}
