import path from "node:path";
import { UNNAMED_SELLER, type Seller } from "./domains/billing/index.ts";
import type { PaymentSettings } from "./domains/payments/index.ts";
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
  /** Who issues invoices, and what tax is in the prices. */
  readonly seller: Seller;
  /** How cards are charged and hosts are paid. */
  readonly payments: PaymentSettings;
  readonly notices: {
    /** The mail server for notices, and whom they come from; undefined for none. */
    readonly mail: { readonly smtpUrl: string; readonly from: string } | undefined;
    /** Webhooks may be called on this network, and without TLS. */
    readonly isPrivateAllowed: boolean;
  };
};

/** A setting that cannot be used; the message names it and says what it should be. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** As many as one agent process takes. */
const SIMULATED_HOSTS_MAX = 10_000;
const NOTICE_SECONDS_MAX = 3_600;
const SLICE_SECONDS_MAX = 86_400;
const FEE_PPM_MAX = 500_000;
const TAX_PPM_MAX = 500_000;
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
    seller: readSeller(environment),
    payments: readPayments(environment),
    notices: {
      mail: readMail(environment["BERTH_SMTP_URL"], environment["BERTH_MAIL_FROM"]),
      isPrivateAllowed: environment["BERTH_WEBHOOKS_ALLOW_PRIVATE"] === "1",
    },
  };
}

function readInteger(name: string, text: string, max: number): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) > max) {
    throw new ConfigError(`${name} must be a whole number from 0 to ${max}, not "${text}"`);
  }
  return Number(text);
}

/** The address is one line for each part between semicolons. */
function readSeller(environment: Readonly<Record<string, string | undefined>>): Seller {
  const numberPrefix = environment["BERTH_INVOICE_PREFIX"] || UNNAMED_SELLER.numberPrefix;
  if (!/^[A-Z0-9-]{0,16}$/.test(numberPrefix)) {
    throw new ConfigError(`BERTH_INVOICE_PREFIX must be up to 16 of A-Z, 0-9 and -, not "${numberPrefix}"`);
  }
  const taxPpm = readPercent("BERTH_TAX_PERCENT", environment["BERTH_TAX_PERCENT"] || "0", TAX_PPM_MAX);
  const address = (environment["BERTH_SELLER_ADDRESS"] ?? "").split(";").map((line) => line.trim());
  return {
    name: environment["BERTH_SELLER_NAME"] || UNNAMED_SELLER.name,
    address: address.filter((line) => line !== ""),
    taxId: environment["BERTH_SELLER_TAX_ID"] || UNNAMED_SELLER.taxId,
    taxPpm,
    taxNote: environment["BERTH_TAX_NOTE"] ?? (taxPpm === 0 ? UNNAMED_SELLER.taxNote : ""),
    numberPrefix,
  };
}

const STRIPE_API_URL = "https://api.stripe.com";

function readPayments(environment: Readonly<Record<string, string | undefined>>): PaymentSettings {
  return {
    stripe: readStripe(environment),
    publicUrl: readUrl("BERTH_PUBLIC_URL", environment["BERTH_PUBLIC_URL"]),
    feePpm: readPercent("BERTH_PLATFORM_FEE_PERCENT", environment["BERTH_PLATFORM_FEE_PERCENT"] || "0", FEE_PPM_MAX),
  };
}

/** Both keys or neither; neither is repeated when it is wrong. */
function readStripe(environment: Readonly<Record<string, string | undefined>>): PaymentSettings["stripe"] {
  const secretKey = environment["BERTH_STRIPE_SECRET_KEY"] || undefined;
  const webhookSecret = environment["BERTH_STRIPE_WEBHOOK_SECRET"] || undefined;
  if (secretKey === undefined && webhookSecret === undefined) return undefined;
  if (secretKey === undefined || !/^(sk|rk)_\w+$/.test(secretKey)) {
    throw new ConfigError("BERTH_STRIPE_SECRET_KEY must be a secret key of Stripe, which begins with sk_ or rk_");
  }
  if (webhookSecret === undefined || !/^whsec_\S+$/.test(webhookSecret)) {
    throw new ConfigError("BERTH_STRIPE_WEBHOOK_SECRET must be the secret of the webhook, which begins with whsec_");
  }
  const apiUrl = readUrl("BERTH_STRIPE_API_URL", environment["BERTH_STRIPE_API_URL"]) ?? STRIPE_API_URL;
  return { secretKey, webhookSecret, apiUrl };
}

function readUrl(name: string, text: string | undefined): string | undefined {
  if (!text) return undefined;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new ConfigError(`${name} must be an address such as https://gpu.example.com, not "${text}"`);
}

/** In millionths: four digits of a percent behind the point are counted. */
function readPercent(name: string, text: string, maxPpm: number): number {
  const [, whole = "", fraction = ""] = /^(\d{1,2})(?:\.(\d{1,4}))?$/.exec(text) ?? [];
  const ppm = Number(whole) * 10_000 + Number(fraction.padEnd(4, "0"));
  if (whole !== "" && ppm <= maxPpm) return ppm;
  throw new ConfigError(`${name} must be a number from 0 to ${maxPpm / 10_000} such as 2.5, not "${text}"`);
}

/** Both or neither: a server to hand mail to, and an address that it comes from. */
function readMail(smtpUrl: string | undefined, from: string | undefined) {
  if (!smtpUrl && !from) return undefined;
  if (!smtpUrl) throw new ConfigError("BERTH_MAIL_FROM needs BERTH_SMTP_URL as well");
  // It may hold a password, so it is not repeated.
  const isSmtp =
    URL.canParse(smtpUrl) && /^smtps?:$/.test(new URL(smtpUrl).protocol) && new URL(smtpUrl).hostname !== "";
  if (!isSmtp) throw new ConfigError("BERTH_SMTP_URL must look like smtp://user:password@mail.example.com:587");
  if (!from || !/^[^\p{Cc}]*@[A-Za-z0-9.-]+>?$/u.test(from)) {
    throw new ConfigError(`BERTH_MAIL_FROM must be an address such as Berth <berth@example.com>, not "${from ?? ""}"`);
  }
  return { smtpUrl, from };
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
