import path from "node:path";
import { DEFAULT_LIMITS, type Limit, type Limits } from "./http/rate-limit.ts";

export type Config = {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** An external PostgreSQL; undefined runs the embedded one. */
  readonly databaseUrl: string | undefined;
  /** Simulated hosts in place of this machine; undefined offers this machine. */
  readonly simulatedHosts: number | undefined;
  readonly hasAgent: boolean;
  readonly declaredGpus: string | undefined;
  readonly logLevel: string;
  readonly limits: Limits;
  readonly isProxyTrusted: boolean;
  /** How long a host may be cut off from the server before it stops what it runs, and the server may sell it again. */
  readonly leaseMs: number;
  /** How long what is displaced may run on, to save its work. */
  readonly noticeMs: number;
  /** For so long a displaced instance waits before it resumes, and one that has resumed is spared by other bids. */
  readonly minSliceMs: number;
  /** Ports of this machine through which instances are reached that have none of their own; undefined for no such way. */
  readonly proxyPorts: { readonly first: number; readonly last: number } | undefined;
  /** The name or address of this machine that renters are told for it; undefined is the one that it has anyway. */
  readonly proxyHost: string | undefined;
};

/** A setting that cannot be used; the message names it and says what it should be. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** As many as one agent process takes. */
const SIMULATED_HOSTS_MAX = 10_000;
const NOTICE_SECONDS_MAX = 3_600;
const SLICE_SECONDS_MAX = 86_400;
const [LEASE_SECONDS_MIN, LEASE_SECONDS_MAX] = [20, 86_400];

/** Reads the settings of `berth up` from the environment; the command line sets the same variables. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const simulate = environment["BERTH_SIMULATE"];
  return {
    host: environment["BERTH_HOST"] || "127.0.0.1",
    port: readInteger("BERTH_PORT", environment["BERTH_PORT"] || "8080", 65_535),
    dataDir: path.resolve(environment["BERTH_DATA_DIR"] || ".berth"),
    databaseUrl: environment["DATABASE_URL"] || undefined,
    simulatedHosts: simulate ? readInteger("BERTH_SIMULATE", simulate, SIMULATED_HOSTS_MAX) : undefined,
    hasAgent: environment["BERTH_NO_AGENT"] !== "1",
    declaredGpus: environment["BERTH_DECLARE_GPUS"] || undefined,
    logLevel: readLogLevel(environment["BERTH_LOG_LEVEL"] || "warn"),
    limits: readLimits(environment["BERTH_RATE_LIMITS"]),
    isProxyTrusted: environment["BERTH_TRUST_PROXY"] === "1",
    leaseMs: readLease(environment["BERTH_LEASE_SECONDS"] || "600"),
    noticeMs:
      readInteger("BERTH_NOTICE_SECONDS", environment["BERTH_NOTICE_SECONDS"] || "30", NOTICE_SECONDS_MAX) * 1000,
    minSliceMs:
      readInteger("BERTH_MIN_SLICE_SECONDS", environment["BERTH_MIN_SLICE_SECONDS"] || "60", SLICE_SECONDS_MAX) * 1000,
    proxyPorts: readPorts("BERTH_PROXY_PORTS", environment["BERTH_PROXY_PORTS"] || "10000-19999"),
    proxyHost: environment["BERTH_PROXY_HOST"] || undefined,
  };
}

function readInteger(name: string, text: string, max: number): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) > max) {
    throw new ConfigError(`${name} must be a whole number from 0 to ${max}, not "${text}"`);
  }
  return Number(text);
}

/** Shorter than a few heartbeats, a lease would end between two of them. */
function readLease(text: string): number {
  const seconds = readInteger("BERTH_LEASE_SECONDS", text, LEASE_SECONDS_MAX);
  if (seconds < LEASE_SECONDS_MIN) {
    throw new ConfigError(`BERTH_LEASE_SECONDS must be at least ${LEASE_SECONDS_MIN}, not ${seconds}`);
  }
  return seconds * 1000;
}

/** Two ports joined by a dash; `off` for none. */
function readPorts(name: string, text: string) {
  if (text === "off") return undefined;
  const [, first, last] = (/^(\d{1,5})-(\d{1,5})$/.exec(text) ?? []).map(Number);
  const isRange = first !== undefined && last !== undefined && first >= 1 && first < last && last <= 65_535;
  if (!isRange) throw new ConfigError(`${name} must be two ports such as 10000-19999, or off, not "${text}"`);
  return { first, last };
}

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

function readLogLevel(text: string): string {
  if (LOG_LEVELS.includes(text)) return text;
  throw new ConfigError(`BERTH_LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}, not "${text}"`);
}

/** `{"default": {"per_second": 20, "burst": 60}, "api.instance.create": {…}}`; what is not named keeps its default. */
function readLimits(text: string | undefined): Limits {
  if (text === undefined || text === "") return DEFAULT_LIMITS;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new ConfigError("BERTH_RATE_LIMITS must be a JSON object of limits");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw new ConfigError("BERTH_RATE_LIMITS must be a JSON object");
  const named = new Map(Object.entries(parsed).map(([name, value]) => [name, readLimit(name, value)]));
  const take = (name: "default" | "keys" | "money") => {
    const limit = named.get(name) ?? DEFAULT_LIMITS[name];
    named.delete(name);
    return limit;
  };
  const [byDefault, keys, money] = [take("default"), take("keys"), take("money")];
  const operations = { ...DEFAULT_LIMITS.operations, ...Object.fromEntries(named) };
  return { default: byDefault, keys, money, operations };
}

function readLimit(name: string, value: unknown): Limit {
  const { per_second: perSecond, burst } = (value ?? {}) as { per_second?: unknown; burst?: unknown };
  const isPositive = (number: unknown): number is number => typeof number === "number" && number > 0;
  if (!isPositive(perSecond) || !isPositive(burst)) {
    throw new ConfigError(`BERTH_RATE_LIMITS: ${name} needs a positive per_second and burst`);
  }
  return { perSecond, burst };
}
