import { execFile } from "node:child_process";

/** A DNS change may take minutes until all servers of a zone have it. */
const LIMIT_MS = 300_000;
const OUTPUT_BYTES_MAX = 65_536;
const SAID_MAX = 300;

export type DnsRecord = { readonly name: string; readonly value: string };

/**
 * Runs the operator's program as `PROGRAM add|remove NAME VALUE`, without a shell. Throws, with the last line that it
 * wrote, when it fails or takes too long. It gets this process's environment without the settings of Berth, which hold
 * secrets.
 */
export async function runDnsHook(
  program: string,
  action: "add" | "remove",
  { name, value }: DnsRecord,
  signal: AbortSignal,
): Promise<void> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([variable]) => !/^(BERTH_|DATABASE_URL$|PG)/.test(variable)),
  );
  await new Promise<void>((resolve, reject) => {
    const options = { env, signal, timeout: LIMIT_MS, maxBuffer: OUTPUT_BYTES_MAX };
    execFile(program, [action, name, value], options, (error, stdout, stderr) => {
      if (error === null) return resolve();
      const said = lastLine(stderr) || lastLine(stdout) || error.message;
      reject(new Error(`the DNS program failed to ${action} the record ${name}: ${said}`, { cause: error }));
    });
  });
}

function lastLine(text: string): string {
  return (text.trimEnd().split("\n").at(-1) ?? "").slice(0, SAID_MAX);
}
