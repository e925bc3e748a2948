import type { SettingInForce } from "../domains/administration/index.ts";

type Setting = {
  readonly name: string;
  /** The value without the setting, in words where it is none. */
  readonly byDefault: string;
  readonly meaning: string;
  /** The option of `./berth up` that sets it. */
  readonly option?: string;
  /** True for a value that opens something, or may hold a password: it is never shown. */
  readonly isSecret?: true;
  /** True when all servers of one database must have the same value. */
  readonly isShared?: true;
};

const shared = { isShared: true } as const;
const secret = { isSecret: true } as const;

/**
 * Every setting that a server reads, as administrators see it. A test compares the table with the sources, so that a new
 * setting cannot be forgotten.
 */
export const SETTINGS: readonly Setting[] = [
  { name: "BERTH_PORT", byDefault: "8080", option: "--port", meaning: "Port of the API; 0 takes any free one" },
  { name: "BERTH_HOST", byDefault: "127.0.0.1", option: "--host", meaning: "Address that the server listens at" },
  { name: "BERTH_DATA_DIR", byDefault: ".berth", option: "--data-dir", meaning: "Folder of database, keys and agent" },
  {
    name: "DATABASE_URL",
    byDefault: "embedded",
    ...secret,
    meaning: "External PostgreSQL in place of the embedded one",
  },
  { name: "BERTH_MIGRATE", byDefault: "1", meaning: "0: only `berth migrate` changes the schema, and no start does" },
  {
    name: "BERTH_AGENT_UPGRADE_PERCENT",
    byDefault: "0",
    meaning: "Percentage of machines whose agents are offered this version, where their hosts allow it",
  },
  {
    name: "BERTH_DRAIN_SECONDS",
    byDefault: "5",
    meaning: "Seconds for which a server that stops still answers while others take over",
  },
  {
    name: "BERTH_DATABASE_DIRECT_URL",
    byDefault: "",
    ...secret,
    meaning: "The same PostgreSQL past a pooler such as PgBouncer, for notifications and migrations",
  },
  { name: "BERTH_SIMULATE", byDefault: "", option: "--simulate", meaning: "Number of simulated hosts" },
  { name: "BERTH_NO_AGENT", byDefault: "", option: "--no-agent", meaning: "1: this machine is no host" },
  {
    name: "BERTH_DECLARE_GPUS",
    byDefault: "",
    option: "--declare-gpus",
    meaning: "GPUs to offer that do not exist, for development",
  },
  { name: "BERTH_LOG_LEVEL", byDefault: "warn", meaning: "Least level of lines in the log" },
  { name: "BERTH_LOG_REQUESTS", byDefault: "0", meaning: "1: a line in the log for each request" },
  { name: "BERTH_RATE_LIMITS", byDefault: "", meaning: "Limits of requests as JSON" },
  { name: "BERTH_TRUST_PROXY", byDefault: "", meaning: "Proxies in front of the server: their number or addresses" },
  {
    name: "BERTH_LEASE_SECONDS",
    byDefault: "600",
    ...shared,
    meaning: "Seconds for which a host may be cut off before it stops its containers",
  },
  {
    name: "BERTH_NOTICE_SECONDS",
    byDefault: "30",
    ...shared,
    meaning: "Seconds for which an evicted instance runs on",
  },
  {
    name: "BERTH_MIN_SLICE_SECONDS",
    byDefault: "60",
    ...shared,
    meaning: "Seconds for which other bids spare an instance that has resumed",
  },
  {
    name: "BERTH_PROXY_PORTS",
    byDefault: "10000-19999",
    ...shared,
    meaning: "Ports through which instances are reached, or off",
  },
  { name: "BERTH_PROXY_HOST", byDefault: "", meaning: "Name of the server in renters' SSH addresses" },
  {
    name: "BERTH_STRIPE_SECRET_KEY",
    byDefault: "",
    ...secret,
    ...shared,
    meaning: "Secret key of Stripe, which takes card payments",
  },
  { name: "BERTH_STRIPE_WEBHOOK_SECRET", byDefault: "", ...secret, meaning: "Secret of Stripe's webhook" },
  { name: "BERTH_STRIPE_API_URL", byDefault: "https://api.stripe.com", meaning: "Address of Stripe's API" },
  {
    name: "BERTH_PUBLIC_URL",
    byDefault: "",
    meaning: "Address at which people and workers of endpoints reach the service",
  },
  {
    name: "BERTH_PLATFORM_FEE_PERCENT",
    byDefault: "0",
    ...shared,
    meaning: "Percent of hosts' earnings that the platform keeps",
  },
  {
    name: "BERTH_GRANTED_EARNINGS",
    byDefault: "held",
    ...shared,
    meaning: "When hosts are paid for granted credit: held, released, or after days",
  },
  {
    name: "BERTH_CARD_HOLD_DAYS",
    byDefault: "14",
    ...shared,
    meaning: "Days for which card payments are neither transferred nor paid out",
  },
  {
    name: "BERTH_TRAFFIC_PRICE_MAX",
    byDefault: "0.15",
    ...shared,
    meaning: "Most dollars per GB that hosts may ask for traffic",
  },
  {
    name: "BERTH_STORAGE_PRICE_MAX",
    byDefault: "1",
    ...shared,
    meaning: "Most dollars per GB and month that hosts may ask for storage",
  },
  {
    name: "BERTH_TRAFFIC_LIMIT_BASE",
    byDefault: "2",
    ...shared,
    meaning: "Dollars that traffic of an instance may cost without a limit of its renter",
  },
  {
    name: "BERTH_TRAFFIC_LIMIT_PERCENT",
    byDefault: "400",
    ...shared,
    meaning: "Percent of the hourly price that traffic may cost in each hour besides",
  },
  {
    name: "BERTH_INSTANCES_MAX",
    byDefault: "1000",
    ...shared,
    meaning: "Instances that one account may have at a time",
  },
  { name: "BERTH_VOLUMES_MAX", byDefault: "1000", ...shared, meaning: "Volumes that one account may have at a time" },
  {
    name: "BERTH_ARREARS_LIMIT",
    byDefault: "10",
    ...shared,
    meaning: "Dollars of storage that is kept unpaid beyond 48 hours",
  },
  { name: "BERTH_SELLER_NAME", byDefault: "Berth", ...shared, meaning: "Issuer of invoices" },
  { name: "BERTH_SELLER_ADDRESS", byDefault: "", meaning: "Address of the issuer; semicolons separate its lines" },
  { name: "BERTH_SELLER_TAX_ID", byDefault: "", meaning: "Tax id of the issuer" },
  { name: "BERTH_SELLER_COUNTRY", byDefault: "", meaning: "Country of the issuer, two letters" },
  {
    name: "BERTH_SELF_BILLING",
    byDefault: "0",
    ...shared,
    meaning: "1: statements of hosts are invoices in their name",
  },
  { name: "BERTH_TAX_PERCENT", byDefault: "0", ...shared, meaning: "Percent of tax that prices include" },
  { name: "BERTH_TAX_NOTE", byDefault: "No tax is charged.", meaning: "Sentence about tax on invoices" },
  { name: "BERTH_TAX_TABLE", byDefault: "", meaning: "Taxes by the customer's country as JSON" },
  { name: "BERTH_INVOICE_PREFIX", byDefault: "", ...shared, meaning: "Text before the year in numbers of invoices" },
  {
    name: "BERTH_OPEN_SIGNUP",
    byDefault: "1",
    ...shared,
    meaning: "1: everybody who reaches the server may make an account",
  },
  {
    name: "BERTH_SIGN_UP",
    byDefault: "open",
    ...shared,
    meaning: "How people get accounts: open, invitation or sso",
  },
  {
    name: "BERTH_PRINT_SIGN_IN_LINK",
    byDefault: "",
    meaning: "1: print the link that signs the administrator in, also where the output is no terminal",
  },
  { name: "BERTH_CONSOLE", byDefault: "1", option: "--no-console", meaning: "0: serve no web console" },
  { name: "BERTH_OIDC_ISSUER", byDefault: "", ...shared, meaning: "Issuer of single sign-on" },
  { name: "BERTH_OIDC_CLIENT_ID", byDefault: "", ...shared, meaning: "Name of this service at the issuer" },
  { name: "BERTH_OIDC_CLIENT_SECRET", byDefault: "", ...secret, meaning: "Secret of this service at the issuer" },
  { name: "BERTH_OIDC_NAME", byDefault: "the issuer's host", meaning: "Word on the button of single sign-on" },
  { name: "BERTH_OIDC_SCOPES", byDefault: "openid profile email", meaning: "Scopes that the issuer is asked for" },
  { name: "BERTH_OIDC_GROUPS_CLAIM", byDefault: "groups", ...shared, meaning: "Claim with a person's groups" },
  { name: "BERTH_OIDC_GROUP_ROLES", byDefault: "", ...shared, meaning: "Roles that groups give, as JSON" },
  {
    name: "BERTH_OIDC_ALLOW_PRIVATE",
    byDefault: "",
    meaning: "1: the issuer may be on a private network, and without TLS",
  },
  { name: "BERTH_SMTP_URL", byDefault: "", ...secret, ...shared, meaning: "Mail server for notifications" },
  { name: "BERTH_MAIL_FROM", byDefault: "", meaning: "Sender of mail" },
  {
    name: "BERTH_WEBHOOKS_ALLOW_PRIVATE",
    byDefault: "",
    meaning: "1: webhooks may go to private addresses, without TLS",
  },
  { name: "BERTH_SMS_URL", byDefault: "", ...secret, ...shared, meaning: "Provider of text messages" },
  { name: "BERTH_SMS_TOKEN", byDefault: "", ...secret, meaning: "Token for the provider of text messages" },
  { name: "BERTH_BACKUP_DIR", byDefault: "", ...shared, meaning: "Folder of backups" },
  { name: "BERTH_BACKUP_LIMIT_GB", byDefault: "10", ...shared, meaning: "Most GB of one backup" },
  { name: "BERTH_BACKUP_DAYS", byDefault: "30", ...shared, meaning: "Days for which a backup is kept" },
  {
    name: "BERTH_SECRET",
    byDefault: "a file in the data directory",
    ...secret,
    ...shared,
    meaning: "Secret that encrypts texts and derives keys",
  },
  { name: "BERTH_AGENT_URLS", byDefault: "", meaning: "Addresses under which agents reach the server" },
  {
    name: "BERTH_INTERNAL_URL",
    byDefault: "where it listens",
    meaning: "Address at which other servers of the database reach the server",
  },
  {
    name: "BERTH_DOMAIN",
    byDefault: "",
    ...shared,
    meaning: "Name at which the server serves HTTPS with certificates of its own",
  },
  {
    name: "BERTH_PORTS_DOMAIN",
    byDefault: "",
    ...shared,
    meaning: "Domain of the host names of instances' ports, such as 7-8080 below it",
  },
  { name: "BERTH_PORTS_PORT", byDefault: "", meaning: "Port without TLS for these names, for a proxy that ends TLS" },
  { name: "BERTH_HTTPS_PORT", byDefault: "443", meaning: "Port of HTTPS" },
  {
    name: "BERTH_HTTP_PORT",
    byDefault: "80",
    meaning: "Port without TLS that answers challenges and sends browsers to HTTPS, or off",
  },
  { name: "BERTH_TLS_HOST", byDefault: "every address", meaning: "Address that both of these ports listen at" },
  {
    name: "BERTH_TLS_CERT_FILE",
    byDefault: "",
    meaning: "Certificates in PEM in place of issued ones, apart by commas",
  },
  { name: "BERTH_TLS_KEY_FILE", byDefault: "", meaning: "Keys of these certificates in PEM, in the same order" },
  {
    name: "BERTH_ACME_URL",
    byDefault: "that of Let's Encrypt",
    meaning: "Directory of the ACME authority that issues certificates, or off",
  },
  { name: "BERTH_ACME_EMAIL", byDefault: "", meaning: "Address that the authority may write to" },
  { name: "BERTH_ACME_DNS_HOOK", byDefault: "", meaning: "Program that sets and removes TXT records for challenges" },
  { name: "BERTH_ACME_EAB_KID", byDefault: "", meaning: "Key id of an existing account at the authority" },
  { name: "BERTH_ACME_EAB_KEY", byDefault: "", ...secret, meaning: "Key with which that account is bound" },
  { name: "BERTH_REPLACE_SECRET", byDefault: "", meaning: "1: this start continued with another secret" },
  { name: "BERTH_REPLACE_SETTINGS", byDefault: "", meaning: "1: this start set the shared settings for all servers" },
  {
    name: "BERTH_REPLACE_ADMIN_KEY",
    byDefault: "",
    option: "--new-admin-key",
    meaning: "1: this start made a new key for the administrator",
  },
];

/** Settings as they are in force on a server that was started with this environment. */
export function settingsInForce(environment: Readonly<Record<string, string | undefined>>): readonly SettingInForce[] {
  return SETTINGS.map(({ name, byDefault, meaning, option, isSecret = false, isShared = false }) => {
    const given = environment[name] || undefined;
    return {
      ...{ name, meaning, option, isSecret, isShared, byDefault },
      isSet: given !== undefined,
      value: isSecret ? undefined : (given ?? byDefault),
    };
  });
}
