import { readFileSync } from "node:fs";
import path from "node:path";
import { createClient, type Client } from "../../sdk/src/client.ts";
import { UserError } from "./failure.ts";

/** Options of every command that speaks to a server. */
export type ConnectionOptions = {
  readonly url?: string;
  readonly key?: string;
  readonly dataDir: string;
};

/**
 * A client of the servers that the options, the environment or the data directory name, in this order; the server writes
 * `server.url` and `admin.key` there.
 */
export function connect(options: ConnectionOptions): Client {
  const baseUrl = addressesOf(options);
  const key = options.key ?? readServerFile(options.dataDir, "admin.key");
  if (key === undefined) {
    throw new UserError(
      `No API key: there is no ${path.join(options.dataDir, "admin.key")}.`,
      "Give one with --key or BERTH_API_KEY.",
    );
  }
  return createClient({ baseUrl, apiKey: key });
}

/** Addresses of the servers; more than one only when the caller named several. */
export function addressesOf(options: ConnectionOptions): readonly string[] {
  const url = options.url ?? readServerFile(options.dataDir, "server.url");
  if (url === undefined) {
    const file = path.join(options.dataDir, "server.url");
    throw new UserError(
      `No server is running here: there is no ${file}.`,
      "Start one with `berth up`, or name one with --url, --data-dir or BERTH_URL.",
    );
  }
  const addresses = url.split(",").map((part) => part.trim());
  for (const address of addresses) {
    if (URL.canParse(address)) continue;
    throw new UserError(`${address || "''"} is not an address.`, "Write it like http://127.0.0.1:8080.", 2);
  }
  if (new Set(addresses.map((address) => new URL(address).protocol)).size > 1) {
    const reason = "The key would travel unencrypted to the http addresses.";
    throw new UserError("Either all addresses of servers begin with https, or none of them.", reason, 2);
  }
  return addresses;
}

function readServerFile(dataDir: string, name: string): string | undefined {
  const file = path.join(dataDir, name);
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "EACCES")
      throw new UserError(`${file} cannot be read with your permissions.`, "Run this as the server's user.");
    throw error;
  }
}
