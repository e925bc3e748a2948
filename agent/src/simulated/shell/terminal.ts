import type { ServerChannel } from "ssh2";
import { GREETING, runLine } from "./commands.ts";
import type { SimulatedFiles } from "./file-system.ts";

export type ShellPlace = { readonly files: SimulatedFiles; readonly hostname: string };

const ESCAPE = String.fromCodePoint(27);
/** Sequences of arrow keys and the like, which this shell does not know. */
const KEY_SEQUENCES = new RegExp(`${ESCAPE}(?:\\[[0-9;]*[A-Za-z~]|O[A-Z])`, "g");
/** Characters of one line; more are not taken. */
const LINE_MAX = 1_024;

/** Serves a simulated shell on a channel: it echoes what is typed, as a terminal does, and runs whole lines. */
export function serveShell(channel: ServerChannel, place: ShellPlace): void {
  let folder = "/root";
  let line = "";
  let isOver = false;
  const print = (text: string) => channel.write(text.replaceAll("\n", "\r\n"));
  const prompt = () => print(`root@${place.hostname}:${folder}# `);
  const end = (code: number) => {
    isOver = true;
    channel.exit(code);
    channel.end();
  };
  const enter = () => {
    print("\n");
    const outcome = runLine(line, { ...place, place: folder });
    line = "";
    folder = outcome.place;
    print(outcome.text);
    if (outcome.exitCode === undefined) prompt();
    else end(outcome.exitCode);
  };
  const type = (key: string) => {
    if (key === "\r" || key === "\n") return enter();
    if (key === "\u0004" && line === "") return end(0);
    if (key === "\u0003") {
      line = "";
      print("^C\n");
      return prompt();
    }
    if (key === "\u007F" || key === "\b") {
      if (line === "") return undefined;
      line = Array.from(line).slice(0, -1).join("");
      return void print("\b \b");
    }
    if (key < " " || line.length >= LINE_MAX) return undefined;
    line += key;
    return void print(key);
  };
  print(GREETING);
  prompt();
  channel.on("data", (data: Buffer) => {
    const text = data.toString("utf8").replaceAll(KEY_SEQUENCES, "");
    for (const key of text) if (!isOver) type(key);
  });
  channel.on("end", () => {
    if (!isOver) end(0);
  });
}
