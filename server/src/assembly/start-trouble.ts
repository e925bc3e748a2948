import { createServer } from "node:net";
import path from "node:path";
import { errorCode } from "../db/embedded/failure.ts";
import { MigrationError } from "../db/migration-files.ts";
import { isDatabaseTrouble } from "../db/sql-state.ts";
import type { Config } from "./config.ts";
import { hasFile } from "./files.ts";
import { FREE_BYTES_MIN, freeBytesOf } from "./health.ts";

/** The start cannot go on. The message is one sentence for the person at the terminal. */
export class StartTrouble extends Error {
  override readonly name = "StartTrouble";
}

const MEGABYTE = 1_048_576;
/** With less room than this left after a failure the full disk is its cause: PostgreSQL writes files of 16 MB. */
const FULL_BYTES_MAX = 16 * MEGABYTE;

/** Throws unless the ports can be had: setting up a database takes seconds, and is for nothing without them. */
export async function requirePorts(config: Pick<Config, "host" | "port" | "tls">): Promise<void> {
  for (const place of placesOf(config)) {
    const probe = createServer();
    try {
      await new Promise<void>((resolve, reject) => {
        probe.once("error", reject);
        probe.listen({ port: place.port, ...(place.host === undefined ? {} : { host: place.host }) }, resolve);
      });
    } catch (error) {
      throw new StartTrouble(portTrouble(error, place) ?? String(error), { cause: error });
    }
    await new Promise((resolve) => probe.close(resolve));
  }
}

/** A port that the server listens on, with the settings that choose it. */
type Place = {
  readonly host: string | undefined;
  readonly port: number;
  readonly portSetting: string;
  readonly hostSetting: string;
};

const API_PLACE = { portSetting: "--port (BERTH_PORT)", hostSetting: "--host (BERTH_HOST)" };

function placesOf({ host, port, tls }: Pick<Config, "host" | "port" | "tls">): readonly Place[] {
  const api = { host, port, ...API_PLACE };
  if (tls === undefined) return [api];
  const shared = { host: tls.host, hostSetting: "BERTH_TLS_HOST" };
  const https = { ...shared, port: tls.httpsPort, portSetting: "BERTH_HTTPS_PORT" };
  if (tls.httpPort === undefined) return [api, https];
  return [api, https, { ...shared, port: tls.httpPort, portSetting: "BERTH_HTTP_PORT" }];
}

/** True before the embedded database of this data directory was made. */
export async function isFirstStart({ databaseUrl, dataDir }: Config): Promise<boolean> {
  return databaseUrl === undefined && !(await hasFile(path.join(dataDir, "postgres/cluster/PG_VERSION")));
}

/** Throws before an embedded database is made on a disk that has no room for it. */
export async function requireRoom({ dataDir }: Pick<Config, "dataDir">): Promise<void> {
  const left = await freeBytesOf(dataDir);
  if (left >= FREE_BYTES_MIN) return;
  throw new StartTrouble(
    `the disk of ${dataDir} has ${toMegabytes(left)} MB left, and a new database needs ${toMegabytes(FREE_BYTES_MIN)} MB: ` +
      "make room, or choose another --data-dir",
  );
}

/** Why a start failed, in one sentence that names the setting or the thing to change. */
export async function explainStart(error: unknown, config: Config): Promise<string> {
  if (error instanceof StartTrouble || error instanceof MigrationError) return error.message;
  const sentence = portTrouble(error, { ...config, ...API_PLACE }) ?? fileTrouble(error, config);
  if (sentence !== undefined) return sentence;
  const left = await freeBytesOf(config.dataDir).catch(() => undefined);
  if (left !== undefined && left < FULL_BYTES_MAX) {
    return `the disk of ${config.dataDir} is full (${toMegabytes(left)} MB left): make room, and start again`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** A failure of the external database, with the setting that names it. The URL itself may hold a password. */
export function databaseTrouble(error: unknown, databaseUrl: string, variable = "DATABASE_URL"): unknown {
  const code = errorCode(error);
  if (!(error instanceof Error) || (code === undefined && !isDatabaseTrouble(error))) return error;
  const place = placeOf(databaseUrl);
  return new StartTrouble(`the database of ${variable}${place}: ${databaseReason(error, code)}`, { cause: error });
}

function databaseReason(error: Error, code: string | undefined): string {
  switch (code) {
    case undefined:
      return `no answer (${error.message}); check host, port and firewall`;
    case "ECONNREFUSED":
    case "ECONNRESET":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "ETIMEDOUT":
      return `nothing answers there (${code}); start PostgreSQL, or correct host and port`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `no such host is known (${code}); correct the host's name`;
    case "28000":
    case "28P01":
      return `${error.message}; correct user and password`;
    case "3D000":
      return `${error.message}; make it, or correct the name after the last slash`;
    default:
      return error.message;
  }
}

function placeOf(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) return "";
  const { hostname, port } = new URL(databaseUrl);
  return hostname === "" ? "" : ` at ${hostname}:${port === "" ? "5432" : port}`;
}

function portTrouble(error: unknown, { host, port, portSetting, hostSetting }: Place): string | undefined {
  const of = host === undefined ? "" : ` of ${host}`;
  switch (errorCode(error)) {
    case "EADDRINUSE":
      return `port ${port}${of} is taken: stop what listens there, or choose another ${portSetting}`;
    case "EADDRNOTAVAIL":
      return `${host} is no address of this machine: choose another ${hostSetting}`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return isListening(error) ? `${host} is no known address: choose another ${hostSetting}` : undefined;
    case "EACCES":
      return isListening(error)
        ? `port ${port} needs more rights than this user has: choose one from 1024 on by ${portSetting}, start as root, or ` +
            "give the service the capability CAP_NET_BIND_SERVICE"
        : undefined;
    default:
      return undefined;
  }
}

/** True for the refusal of a socket to listen, which has the same code as that of a file. */
function isListening(error: unknown): boolean {
  const syscall = error instanceof Error ? Reflect.get(error, "syscall") : undefined;
  return syscall === "listen" || syscall === "bind" || syscall === "getaddrinfo";
}

function fileTrouble(error: unknown, { dataDir }: Pick<Config, "dataDir">): string | undefined {
  const named: unknown = error instanceof Error ? Reflect.get(error, "path") : undefined;
  const file = typeof named === "string" ? named : dataDir;
  switch (errorCode(error)) {
    case "EACCES":
    case "EPERM":
      return `this user may not write ${file}: give it that right, or choose another --data-dir (BERTH_DATA_DIR)`;
    case "EROFS":
      return `${file} is on a disk that is read-only: choose another --data-dir (BERTH_DATA_DIR)`;
    case "ENOSPC":
    case "EDQUOT":
      return `the disk of ${file} is full: make room, and start again`;
    case "EEXIST":
    case "ENOTDIR":
      return `${file} is not a folder: choose another --data-dir (BERTH_DATA_DIR)`;
    default:
      return undefined;
  }
}

function toMegabytes(bytes: number): number {
  return Math.floor(bytes / MEGABYTE);
}
