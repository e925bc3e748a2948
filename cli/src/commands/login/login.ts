import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { ApiError, createClient, type Client } from "../../../../sdk/src/client.ts";
import { userShow } from "../../../../sdk/src/operations.ts";
import { addressesOf, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { loginFile, writeLogin } from "../../login-file.ts";
import { printLine } from "../../output.ts";

/** Keeps an address and a key after the server has accepted the key. */
export async function login(options: ConnectionOptions): Promise<void> {
  const baseUrl = addressesOf(options);
  const key = options.key ?? (await readKey());
  if (key === "")
    throw new UserError("The key is missing.", "Give it with --key, or pipe it in: berth login < file", 2);
  const email = await emailOf(createClient({ baseUrl, apiKey: key }));
  const url = baseUrl.join(",");
  writeLogin({ url, key });
  printLine(`You are signed in at ${url}${email === undefined ? "" : ` as ${email}`}. The key is in ${loginFile()}.`);
}

/** The account of the key; undefined for a key that works but may not read its account. Other keys are refused. */
async function emailOf(client: Client): Promise<string | undefined> {
  try {
    return (await userShow(client)).email;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return undefined;
    throw error;
  }
}

/** The key from standard input, where no other user of the machine can read it; a terminal does not show it. */
async function readKey(): Promise<string> {
  if (!process.stdin.isTTY) return readFileSync(0, "utf8").trim();
  process.stderr.write("API key: ");
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: unseen, terminal: true });
  const left = new AbortController();
  for (const event of ["SIGINT", "close"] as const) terminal.once(event, () => left.abort());
  try {
    return (await terminal.question("", { signal: left.signal })).trim();
  } catch (error) {
    if (left.signal.aborted) return "";
    throw error;
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}
