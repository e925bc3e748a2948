// Writes cli/help.txt: the help of every command, which `./berth` shows while nothing is installed yet. With --check it only
// says whether the file is up to date.
import path from "node:path";
import type { Command } from "commander";
import { writeOrCheck } from "./generated-file.ts";

/** The help must not depend on who makes it: commander shows values that variables give. */
for (const name of Object.keys(process.env)) if (name.startsWith("BERTH_")) delete process.env[name];
const { createProgram } = await import("../cli/src/program.ts");

const COLUMNS = 100;

/** Commands of the project itself, which are programs of their own. `./berth` shows this help for them at all times. */
const OF_THE_PROJECT: Readonly<Record<string, string>> = {
  test: `Usage: berth test [FILE|FOLDER…]

Proves that everything works, from format to end-to-end; a quarter of an hour on two cores. With files or folders: the quick
checks and the tests of those, each time with other random cases. CONTRIBUTING.md lists the variables.`,
  check: `Usage: berth check [--since COMMIT | --all | FILE…]

Format, lint and imports of the files that differ from the main branch, committed or not, the types of the whole tree, and
the house rules. With --since: that differ from where this branch left COMMIT. With files: of those alone.`,
  bench: `Usage: berth bench [NAME [arguments]]

Lists the benchmarks, or runs one; docs/run.md says what each measures.`,
  month: `Usage: berth month [--out FOLDER]

Plays a month of a small market, and shows what each paid. With --out: puts the invoices into FOLDER.`,
  package: `Usage: berth package [FOLDER]

Makes the npm packages of the SDK and of the command, and puts them into FOLDER.`,
  images: `Usage: berth images [FOLDER] [--only server|agent]

Makes the container images of the server and of the agent, and puts them into FOLDER, else into images. It needs mmdebstrap and
Debian's archive; docs/operate/packages.md says how to run them.`,
  drill: `Usage: berth drill [--hosts N] [--part NAME…] [--no-restore] [--seed N]

Starts three servers, a PostgreSQL that fails over, proxies and N simulated hosts (1,000) on this machine, kills each part under
load, restores a backup, and prints what was lost and how long each took; docs/operate/drill.md.`,
  pictures: `Usage: berth pictures [FOLDER]

Takes pictures of the console with a real browser, and puts them into FOLDER, else into docs/pictures.`,
};

const [PROGRAM, PROJECT] = ["@", "@@"];

type Section = { readonly words: string; readonly text: string };

function sectionsOf(command: Command, words: readonly string[]): readonly Section[] {
  let text = "";
  command
    .configureOutput({
      writeOut: (part) => (text += part),
      getOutHelpWidth: () => COLUMNS,
      getOutHasColors: () => false,
    })
    .outputHelp();
  // Hidden commands have no line in the help of their parent either.
  const visible = command.createHelp().visibleCommands(command);
  const children = command.commands.filter((child) => visible.includes(child));
  return [
    { words: words.join(" "), text },
    ...children.flatMap((child) => sectionsOf(child, [...words, child.name()])),
  ];
}

/** The whole file: each section begins with a line of its mark and the words of its command. */
export function renderHelp(): string {
  const program = sectionsOf(createProgram(), []).map((section) => ({ ...section, mark: PROGRAM }));
  const project = Object.entries(OF_THE_PROJECT).map(([words, text]) => ({ words, text: `${text}\n`, mark: PROJECT }));
  const sections = [...program, ...project].map(({ mark, words, text }) => {
    if (/^@/m.test(text)) throw new Error(`the help of ${words} has a line that begins with @`);
    return `${mark} ${words}`.trimEnd() + `\n${text}`;
  });
  return sections.join("");
}

if (import.meta.main) writeOrCheck(path.resolve(import.meta.dirname, "../cli/help.txt"), renderHelp());
