import path from "node:path";
import { parseServerUrl } from "../../../protocol/index.ts";
import { NANOS_PER_DOLLAR, parseDollars, type Nanos } from "../base/money.ts";
import { GB_PRICE_DOLLARS_MAX } from "../base/price-limits.ts";
import type { AccountLimits } from "../domains/people/accounts/for-assembly.ts";
import type { BrowserSettings, SmsSettings, SsoSettings } from "../domains/people/sign-in/index.ts";
import { UNNAMED_SELLER, type Seller, type TaxRule, type TaxTable } from "../domains/money/invoices/index.ts";
import type { PriceCeilings } from "../base/price-ceilings.ts";
import type { TrafficRules } from "../domains/supply/hosts/index.ts";
import { CARD_HOLD_DAYS, type PaymentSettings } from "../domains/money/payments/for-assembly.ts";
import { parseTrustedProxies, type TrustedProxies } from "../http/trusted-proxies.ts";
import { readSignUp } from "./sign-up-setting.ts";
import { readBackupSettings } from "./backup-settings.ts";
import { ConfigError } from "./config-error.ts";
import { readLimits } from "./limit-settings.ts";
import { readMail } from "./mail-settings.ts";
import { readPortNames, readTlsSettings, type PortNameSettings, type TlsSettings } from "./names-settings.ts";
import { readSsoSettings } from "./sso-settings.ts";
import type { BackupSettings } from "../domains/rental/backups/index.ts";
import type { Limits } from "../http/rate-limit.ts";

export type Config = {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** An external PostgreSQL; undefined runs the embedded one. */
  readonly databaseUrl: string | undefined;
  /** The same PostgreSQL past a pooler: for notifications and migrations. Undefined where nothing is in between. */
  readonly databaseDirectUrl: string | undefined;
  /** Simulated hosts in place of this machine; undefined offers this machine. */
  readonly simulatedHosts: number | undefined;
  readonly hasAgent: boolean;
  readonly declaredGpus: string | undefined;
  readonly logLevel: string;
  /** True to write a line for each request. */
  readonly hasRequestLog: boolean;
  readonly limits: Limits;
  readonly trustedProxies: TrustedProxies;
  /**
   * Milliseconds for which a host may be cut off from the server before it stops its instances and the server may sell
   * it again.
   */
  readonly leaseMs: number;
  /** Milliseconds after an eviction notice in which an instance runs on to save its work. */
  readonly noticeMs: number;
  /** Milliseconds that an evicted instance waits before it resumes, and for which no other bid evicts a resumed one. */
  readonly minSliceMs: number;
  /** Ports of this machine that lead to instances without ports of their own; undefined turns the proxy off. */
  readonly proxyPorts: { readonly first: number; readonly last: number } | undefined;
  /** The name or address that renters are told for this machine; undefined means its own address. */
  readonly proxyHost: string | undefined;
  /** The issuer of invoices, and the tax in the prices. */
  readonly seller: Seller;
  /** How cards are charged and hosts are paid. */
  readonly payments: PaymentSettings;
  /** The URL at which other servers of this database reach this one; undefined means the address it listens on. */
  readonly internalUrl: string | undefined;
  /** Addresses of this server as agents are told them; an empty list leaves each agent at the server that it joined. */
  readonly agentAddresses: readonly string[];
  /**
   * True to go on with another secret, after that of this database was lost, without the texts that the lost one
   * encrypted.
   */
  readonly isSecretReplaced: boolean;
  /**
   * True to make the settings of this start those of all servers of this database, although others run with different
   * ones.
   */
  readonly areSettingsReplaced: boolean;
  /** False when the database is migrated by `berth migrate` alone, and not by a start. */
  readonly mayMigrate: boolean;
  readonly agentUpgradePercent: number;
  /** Milliseconds for which a server that is asked to stop still answers, while others take its requests over. */
  readonly drainMs: number;
  /** True to make a new administrator's key; the one before stops working. */
  readonly isAdminKeyReplaced: boolean;
  /** The highest prices that hosts may ask for traffic and storage. */
  readonly priceCeilings: PriceCeilings;
  /** The most that traffic of an instance may cost while its renter has set no limit. */
  readonly trafficRules: TrafficRules;
  /** Worth of storage that an account may keep unpaid beyond the least time, in nano-dollars. */
  readonly arrearsLimit: bigint;
  /** How many instances and volumes one account may have at a time. */
  readonly accountLimits: AccountLimits;
  /** True when anybody who reaches the server may make an account. */
  readonly isSignupOpen: boolean;
  /** True when this server builds and serves the web console. */
  readonly hasConsole: boolean;
  readonly signUp: BrowserSettings["signUp"];
  readonly smsProvider: SmsSettings | undefined;
  /** The issuer of single sign-on; undefined for none. */
  readonly sso: SsoSettings | undefined;
  /** The name of this server with its certificates; undefined serves no TLS. */
  readonly tls: TlsSettings | undefined;
  /** Host names of instances' ports; undefined for none. */
  readonly portNames: PortNameSettings | undefined;
  /** The folder of backups and their limits; undefined makes none. */
  readonly backups: BackupSettings | undefined;
  readonly notifications: {
    /** The mail server for notifications, and their sender's address; undefined sends no mail. */
    readonly mail: { readonly smtpUrl: string; readonly from: string } | undefined;
    /** True when webhooks may be called on this network, and without TLS. */
    readonly isPrivateAllowed: boolean;
  };
};

/** The most hosts that one agent process takes. */
const SIMULATED_HOSTS_MAX = 10_000;
const NOTICE_SECONDS_MAX = 3_600;
const SLICE_SECONDS_MAX = 86_400;
const [UPGRADE_PERCENT, DRAIN_SECONDS_MAX] = ["BERTH_AGENT_UPGRADE_PERCENT", 600];
const FEE_PPM_MAX = 500_000;
const ARREARS_DOLLARS_MAX = 10_000;
const ACCOUNT_COUNT_MAX = 100_000;
const CARD_HOLD_DAYS_MAX = 365;
const TAX_PPM_MAX = 500_000;
/** Addresses of one server: its own, and those of load balancers in front of it. */
const AGENT_ADDRESSES_MAX = 4;
const [LEASE_SECONDS_MIN, LEASE_SECONDS_MAX] = [20, 86_400];

/** Reads the settings of `berth up` from the environment; the command line sets the same variables. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const simulate = environment["BERTH_SIMULATE"];
  const tls = readTlsSettings(environment);
  return {
    host: environment["BERTH_HOST"] || "127.0.0.1",
    port: readInteger("BERTH_PORT", environment["BERTH_PORT"] || "8080", 65_535),
    dataDir: path.resolve(environment["BERTH_DATA_DIR"] || ".berth"),
    ...readDatabase(environment),
    simulatedHosts: simulate ? readInteger("BERTH_SIMULATE", simulate, SIMULATED_HOSTS_MAX) : undefined,
    hasAgent: environment["BERTH_NO_AGENT"] !== "1",
    declaredGpus: environment["BERTH_DECLARE_GPUS"] || undefined,
    logLevel: readLogLevel(environment["BERTH_LOG_LEVEL"] || "warn"),
    hasRequestLog: readSwitch("BERTH_LOG_REQUESTS", environment["BERTH_LOG_REQUESTS"] || "0"),
    limits: readLimits(environment["BERTH_RATE_LIMITS"]),
    trustedProxies: readProxies(environment["BERTH_TRUST_PROXY"] ?? ""),
    leaseMs: readLease(environment["BERTH_LEASE_SECONDS"] || "600"),
    noticeMs:
      readInteger("BERTH_NOTICE_SECONDS", environment["BERTH_NOTICE_SECONDS"] || "30", NOTICE_SECONDS_MAX) * 1000,
    minSliceMs:
      readInteger("BERTH_MIN_SLICE_SECONDS", environment["BERTH_MIN_SLICE_SECONDS"] || "60", SLICE_SECONDS_MAX) * 1000,
    proxyPorts: readPorts("BERTH_PROXY_PORTS", environment["BERTH_PROXY_PORTS"] || "10000-19999"),
    proxyHost: environment["BERTH_PROXY_HOST"] || tls?.domain,
    seller: readSeller(environment),
    payments: readPayments(environment, tls?.url),
    tls,
    portNames: readPortNames(environment, tls),
    internalUrl: readUrl("BERTH_INTERNAL_URL", environment["BERTH_INTERNAL_URL"])?.replace(/\/+$/, ""),
    agentAddresses: readAgentAddresses(environment["BERTH_AGENT_URLS"]),
    isSecretReplaced: environment["BERTH_REPLACE_SECRET"] === "1",
    areSettingsReplaced: environment["BERTH_REPLACE_SETTINGS"] === "1",
    mayMigrate: readSwitch("BERTH_MIGRATE", environment["BERTH_MIGRATE"] || "1"),
    agentUpgradePercent: readInteger(UPGRADE_PERCENT, environment["BERTH_AGENT_UPGRADE_PERCENT"] || "0", 100),
    drainMs: readInteger("BERTH_DRAIN_SECONDS", environment["BERTH_DRAIN_SECONDS"] || "5", DRAIN_SECONDS_MAX) * 1000,
    isAdminKeyReplaced: environment["BERTH_REPLACE_ADMIN_KEY"] === "1",
    priceCeilings: {
      trafficNanosPerGb: readCeiling("BERTH_TRAFFIC_PRICE_MAX", environment["BERTH_TRAFFIC_PRICE_MAX"] || "0.15"),
      storageNanosPerGbMonth: readCeiling("BERTH_STORAGE_PRICE_MAX", environment["BERTH_STORAGE_PRICE_MAX"] || "1"),
    },
    trafficRules: {
      baseNanos: readCeiling("BERTH_TRAFFIC_LIMIT_BASE", environment["BERTH_TRAFFIC_LIMIT_BASE"] || "2"),
      sharePermille:
        readInteger("BERTH_TRAFFIC_LIMIT_PERCENT", environment["BERTH_TRAFFIC_LIMIT_PERCENT"] || "400", 100_000) * 10,
    },
    arrearsLimit:
      BigInt(readInteger("BERTH_ARREARS_LIMIT", environment["BERTH_ARREARS_LIMIT"] || "10", ARREARS_DOLLARS_MAX)) *
      NANOS_PER_DOLLAR,
    accountLimits: {
      instances: readInteger("BERTH_INSTANCES_MAX", environment["BERTH_INSTANCES_MAX"] || "1000", ACCOUNT_COUNT_MAX),
      volumes: readInteger("BERTH_VOLUMES_MAX", environment["BERTH_VOLUMES_MAX"] || "1000", ACCOUNT_COUNT_MAX),
    },
    hasConsole: readSwitch("BERTH_CONSOLE", environment["BERTH_CONSOLE"] || "1"),
    ...readSignUp(environment),
    smsProvider: readSms(environment["BERTH_SMS_URL"], environment["BERTH_SMS_TOKEN"]),
    sso: readSsoSettings(environment),
    backups: readBackupSettings(environment),
    notifications: {
      mail: readMail(environment["BERTH_SMTP_URL"], environment["BERTH_MAIL_FROM"]),
      isPrivateAllowed: environment["BERTH_WEBHOOKS_ALLOW_PRIVATE"] === "1",
    },
  };
}

function readDatabase(
  environment: Readonly<Record<string, string | undefined>>,
): Pick<Config, "databaseUrl" | "databaseDirectUrl"> {
  const databaseUrl = readDatabaseUrl("DATABASE_URL", environment["DATABASE_URL"]);
  const databaseDirectUrl = readDatabaseUrl("BERTH_DATABASE_DIRECT_URL", environment["BERTH_DATABASE_DIRECT_URL"]);
  if (databaseDirectUrl !== undefined && databaseUrl === undefined) {
    throw new ConfigError("BERTH_DATABASE_DIRECT_URL needs DATABASE_URL, which leads to the same database by a pooler");
  }
  return { databaseUrl, databaseDirectUrl };
}

/** No message repeats the URL: it may hold a password. */
function readDatabaseUrl(name: string, text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (/^postgres(ql)?:\/\/./.test(text)) return text;
  throw new ConfigError(`${name} must be such as postgresql://user:password@host:5432/database`);
}

function readSwitch(name: string, text: string): boolean {
  if (text === "1" || text === "0") return text === "1";
  throw new ConfigError(`${name} must be 1 or 0, not "${text}"`);
}

function readInteger(name: string, text: string, max: number): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) > max) {
    throw new ConfigError(`${name} must be a whole number from 0 to ${max}, not "${text}"`);
  }
  return Number(text);
}

/** A price limit in dollars, at most the highest price of all. */
function readCeiling(name: string, text: string): Nanos {
  const price = /^\d{1,4}(\.\d{1,9})?$/.test(text) ? parseDollars(Number(text)) : undefined;
  if (price === undefined || Number(text) > GB_PRICE_DOLLARS_MAX) {
    throw new ConfigError(`${name} must be dollars from 0 to ${GB_PRICE_DOLLARS_MAX} such as 0.15, not "${text}"`);
  }
  return price;
}

/** The seller from its settings; semicolons separate the lines of the address. */
function readSeller(environment: Readonly<Record<string, string | undefined>>): Seller {
  const numberPrefix = environment["BERTH_INVOICE_PREFIX"] || UNNAMED_SELLER.numberPrefix;
  if (!/^[A-Z0-9-]{0,16}$/.test(numberPrefix)) {
    throw new ConfigError(`BERTH_INVOICE_PREFIX must be up to 16 of A-Z, 0-9 and -, not "${numberPrefix}"`);
  }
  const taxPpm = readPercent("BERTH_TAX_PERCENT", environment["BERTH_TAX_PERCENT"] || "0", TAX_PPM_MAX);
  const country = environment["BERTH_SELLER_COUNTRY"] || UNNAMED_SELLER.country;
  if (!/^([A-Z]{2})?$/.test(country)) {
    throw new ConfigError(`BERTH_SELLER_COUNTRY must be two letters of ISO 3166 such as DE, not "${country}"`);
  }
  const taxTable = readTaxTable(environment["BERTH_TAX_TABLE"]);
  if (country === "" && [...taxTable.values()].some(({ isReverseCharged }) => isReverseCharged)) {
    throw new ConfigError("BERTH_TAX_TABLE has reverse_charge, so BERTH_SELLER_COUNTRY must say where the seller is");
  }
  const address = (environment["BERTH_SELLER_ADDRESS"] ?? "").split(";").map((line) => line.trim());
  return {
    name: environment["BERTH_SELLER_NAME"] || UNNAMED_SELLER.name,
    address: address.filter((line) => line !== ""),
    taxId: environment["BERTH_SELLER_TAX_ID"] || UNNAMED_SELLER.taxId,
    country,
    taxTable,
    taxPpm,
    taxNote: environment["BERTH_TAX_NOTE"] ?? (taxPpm === 0 ? UNNAMED_SELLER.taxNote : ""),
    isSelfBilling: environment["BERTH_SELF_BILLING"] === "1",
    numberPrefix,
  };
}

/**
 * A tax table such as `{"DE": {"percent": 19, "name": "VAT"}, "FR": {"percent": 20, "reverse_charge": true}, "*":
 * {"percent": 0}}`.
 */
function readTaxTable(text: string | undefined): TaxTable {
  if (text === undefined || text === "") return UNNAMED_SELLER.taxTable;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new ConfigError("BERTH_TAX_TABLE must be a JSON object of countries");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new ConfigError("BERTH_TAX_TABLE must be a JSON object of countries");
  }
  return new Map(Object.entries(parsed).map(([country, value]) => [country, readTaxRule(country, value)]));
}

function readTaxRule(country: string, value: unknown): TaxRule {
  if (!/^([A-Z]{2}|\*)$/.test(country)) {
    throw new ConfigError(`BERTH_TAX_TABLE: a country is two letters of ISO 3166 such as DE, or *, not "${country}"`);
  }
  const name = `BERTH_TAX_TABLE: percent of ${country}`;
  const {
    percent,
    name: called = "Tax",
    note = "",
    reverse_charge: isReverseCharged = false,
    ...unknown
  } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const [stray] = Object.keys(unknown);
  if (stray !== undefined) throw new ConfigError(`BERTH_TAX_TABLE: ${country} has no setting "${stray}"`);
  if (typeof called !== "string" || typeof note !== "string" || typeof isReverseCharged !== "boolean") {
    throw new ConfigError(`BERTH_TAX_TABLE: name and note of ${country} are text, and reverse_charge is true or false`);
  }
  const text = typeof percent === "string" || typeof percent === "number" ? String(percent) : "";
  const ppm = readPercent(name, text, TAX_PPM_MAX);
  return { ppm, name: called, note, isReverseCharged };
}

const STRIPE_API_URL = "https://api.stripe.com";

function readPayments(
  environment: Readonly<Record<string, string | undefined>>,
  ownUrl: string | undefined,
): PaymentSettings {
  return {
    stripe: readStripe(environment),
    publicUrl: readUrl("BERTH_PUBLIC_URL", environment["BERTH_PUBLIC_URL"]) ?? ownUrl,
    feePpm: readPercent("BERTH_PLATFORM_FEE_PERCENT", environment["BERTH_PLATFORM_FEE_PERCENT"] || "0", FEE_PPM_MAX),
    grantedAfterDays: readGrantedRule(environment["BERTH_GRANTED_EARNINGS"] || "held"),
    cardHoldDays: readInteger(
      "BERTH_CARD_HOLD_DAYS",
      environment["BERTH_CARD_HOLD_DAYS"] || String(CARD_HOLD_DAYS),
      CARD_HOLD_DAYS_MAX,
    ),
  };
}

/** Days after which hosts are paid for granted credit; undefined for never by itself. */
function readGrantedRule(text: string): number | undefined {
  if (text === "held") return undefined;
  if (text === "released") return 0;
  const days = /^([1-9]\d{0,2}) days?$/.exec(text)?.[1];
  if (days === undefined) {
    throw new ConfigError(`BERTH_GRANTED_EARNINGS must be held, released, or such as "30 days", not "${text}"`);
  }
  return Number(days);
}

/** The keys of Stripe: both or neither. No message repeats a wrong one. */
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

/** The addresses in the form in which agents compare them: without a slash at the end. */
function readAgentAddresses(text: string | undefined): readonly string[] {
  if (!text) return [];
  const parts = text.split(",").map((part) => part.trim());
  const found = parts.flatMap((part) => (/^https?:/.test(part) ? (parseServerUrl(part)?.apiUrl ?? []) : []));
  if (found.length === parts.length && found.length <= AGENT_ADDRESSES_MAX) return [...new Set(found)];
  throw new ConfigError(
    `BERTH_AGENT_URLS must be up to ${AGENT_ADDRESSES_MAX} addresses such as https://one.example.com, apart by commas, not "${text}"`,
  );
}

/** A percentage in millionths: four decimal places count. */
function readPercent(name: string, text: string, maxPpm: number): number {
  const [, whole = "", fraction = ""] = /^(\d{1,2})(?:\.(\d{1,4}))?$/.exec(text) ?? [];
  const ppm = Number(whole) * 10_000 + Number(fraction.padEnd(4, "0"));
  if (whole !== "" && ppm <= maxPpm) return ppm;
  throw new ConfigError(`${name} must be a number from 0 to ${maxPpm / 10_000} such as 2.5, not "${text}"`);
}

/** The provider of text messages; undefined when none is set up. */
function readSms(url: string | undefined, token: string | undefined): SmsSettings | undefined {
  if (!url && token) throw new ConfigError("BERTH_SMS_TOKEN needs BERTH_SMS_URL as well");
  const address = readUrl("BERTH_SMS_URL", url);
  return address === undefined ? undefined : { url: address, token: token || undefined };
}

/** The lease from its setting. One shorter than a few heartbeats would end between two of them. */
function readLease(text: string): number {
  const seconds = readInteger("BERTH_LEASE_SECONDS", text, LEASE_SECONDS_MAX);
  if (seconds < LEASE_SECONDS_MIN) {
    throw new ConfigError(`BERTH_LEASE_SECONDS must be at least ${LEASE_SECONDS_MIN}, not ${seconds}`);
  }
  return seconds * 1000;
}

/** The first and last port of a range such as `20000-20999`; `off` turns the proxy off. */
function readPorts(name: string, text: string) {
  if (text === "off") return undefined;
  const [, first, last] = (/^(\d{1,5})-(\d{1,5})$/.exec(text) ?? []).map(Number);
  const isRange = first !== undefined && last !== undefined && first >= 1 && first < last && last <= 65_535;
  if (!isRange) throw new ConfigError(`${name} must be two ports such as 10000-19999, or off, not "${text}"`);
  return { first, last };
}

function readProxies(text: string): TrustedProxies {
  const proxies = parseTrustedProxies(text);
  if (proxies !== undefined) return proxies;
  throw new ConfigError(
    `BERTH_TRUST_PROXY must be a number of proxies such as 1, or addresses such as 10.0.0.0/8, 192.0.2.7, not "${text}"`,
  );
}

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

function readLogLevel(text: string): string {
  if (LOG_LEVELS.includes(text)) return text;
  throw new ConfigError(`BERTH_LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}, not "${text}"`);
}
