import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const main = path.resolve(import.meta.dirname, "main.ts");
const NODE = [process.execPath, "--disable-warning=ExperimentalWarning", main] as const;

async function berth(...args: readonly string[]): Promise<string> {
  const [node, ...rest] = NODE;
  const { stdout } = await run(node, [...rest, ...args]);
  return stdout;
}

async function complete(...words: readonly string[]): Promise<readonly string[]> {
  const lines = (await berth("complete", "--", ...words)).split("\n").slice(0, -1);
  return lines.map((line) => line.split("\t")[0] ?? "");
}

/** The words that bash finds for the last one, by the script that it read. */
async function inBash(t: TestContext, words: readonly string[]): Promise<readonly string[]> {
  const directory = mkdtempSync(path.join(tmpdir(), "berth-completion-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const program = path.join(directory, "berth");
  writeFileSync(program, `#!/bin/sh\nexec ${NODE.join(" ")} "$@"\n`);
  chmodSync(program, 0o755);
  const script = `
    source <(berth completion bash)
    [[ $(complete -p berth) == *_berth* ]] || exit 9
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _berth
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { PATH = "" } = process.env;
  const { stdout } = await run("bash", ["--norc", "-c", script, "bash", ...words], {
    env: { PATH: `${directory}:${PATH}` },
  });
  return stdout.split("\n").filter((line) => line !== "");
}

test("commands, their subcommands, options and fixed values are completed", async () => {
  assert.deepEqual(await complete("insta"), ["instances"]);
  assert.deepEqual(await complete("queue", ""), ["add", "list", "show", "cancel", "help"]);
  assert.deepEqual(await complete("admin", "key", "c"), ["create"]);
  assert.deepEqual(await complete("search", "--r"), ["--raw", "--reserved"]);
  assert.deepEqual(await complete("completion", ""), ["bash", "zsh", "fish"]);
  assert.deepEqual(await complete("admin", "verify-machine", "7", "v"), ["verified"]);
});

test("the value of an option is no command, and where any text may stand nothing is suggested", async () => {
  assert.deepEqual(await complete("audit", "--against", "export", "v"), ["verify"]);
  assert.deepEqual(await complete("search", "--order", ""), []);
  assert.deepEqual(await complete("search", "gpu"), []);
  assert.ok(!(await complete("")).includes("complete"));
});

test("bash completes with the script that it was given", async (t) => {
  assert.deepEqual(await inBash(t, ["berth", "volume", "un"]), ["unlist"]);
  assert.deepEqual(await inBash(t, ["berth", "search", "--int"]), ["--interruptible"]);
  assert.deepEqual(await inBash(t, ["berth", "search", "gpu"]), []);
});

test("there is a script for each shell, and another shell is refused with their names", async () => {
  assert.match(await berth("completion", "zsh"), /^#compdef berth\n/);
  assert.match(await berth("completion", "fish"), /\ncomplete -c berth /);
  await assert.rejects(berth("completion", "tcsh"), /Allowed choices are bash, zsh, fish/);
});
