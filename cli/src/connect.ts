import { readFileSync } from "node:fs";
import path from "node:path";
import { createClient, type Client } from "../../sdk/src/client.ts";
import { UserError } from "./failure.ts";
import { readLogin, type Login } from "./login-file.ts";

/** Options of every command that speaks to a server. */
export type ConnectionOptions = {
  readonly url?: string;
  readonly key?: string;
  /** Commands of administrators always have one; the login then counts for nothing. */
  readonly dataDir?: string;
};

const DATA_DIR = ".berth";

/**
 * A client of the servers that the options or the environment name, else a data directory that they name, else the
 * login, else the data directory here; a server writes `server.url` and `admin.key` there.
 */
export function connect(options: ConnectionOptions): Client {
  const login = loginFor(options);
  const baseUrl = addressesOf(options);
  const key = options.key ?? keyFor(baseUrl, login) ?? readServerFile(options, "admin.key");
  if (key === undefined) {
    throw new UserError(
      `No API key: there is no ${serverFile(options, "admin.key")}.`,
      "Give one with --key or BERTH_API_KEY, or keep one with `berth login`.",
    );
  }
  return createClient({ baseUrl, apiKey: key });
}

/** Addresses of the servers; more than one only when the caller named several. */
export function addressesOf(options: ConnectionOptions): readonly string[] {
  const url = options.url ?? loginFor(options)?.url ?? readServerFile(options, "server.url");
  if (url === undefined) {
    throw new UserError(
      `No server is running here: there is no ${serverFile(options, "server.url")}.`,
      "Start one with `berth up`, or name one with `berth login`, --url, --data-dir or BERTH_URL.",
    );
  }
  const addresses = splitAddresses(url);
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

function splitAddresses(url: string): readonly string[] {
  return url.split(",").map((part) => part.trim());
}

/** The login, for commands that it can matter to: a broken file must not disturb others. */
function loginFor({ url, key, dataDir }: ConnectionOptions): Login | undefined {
  const isNamed = dataDir !== undefined || (url !== undefined && key !== undefined);
  return isNamed ? undefined : readLogin();
}

/** The key of the login, which no server but those of the login may see. */
function keyFor(addresses: readonly string[], login: Login | undefined): string | undefined {
  if (login === undefined) return undefined;
  const known = new Set(splitAddresses(login.url).map(normalised));
  return addresses.every((address) => known.has(normalised(address))) ? login.key : undefined;
}

function normalised(address: string): string {
  return URL.canParse(address) ? new URL(address).href.replace(/\/$/, "") : address;
}

function serverFile({ dataDir = DATA_DIR }: ConnectionOptions, name: string): string {
  return path.join(dataDir, name);
}

function readServerFile(options: ConnectionOptions, name: string): string | undefined {
  const file = serverFile(options, name);
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
