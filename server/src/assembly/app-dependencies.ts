import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Database } from "../db/connect.ts";
import type { RandomBytes } from "../domains/people/accounts/index.ts";
import type { BrowserSettings, SmsSender, SsoSettings } from "../domains/people/sign-in/index.ts";
import type { Seller } from "../domains/money/invoices/index.ts";
import type { PaymentSettings } from "../domains/money/payments/for-assembly.ts";
import type { BackupSettings } from "../domains/rental/backups/index.ts";
import type { NameSettings } from "../domains/names/index.ts";
import type { ThisServer } from "../domains/servers/index.ts";
import type { NotificationSettings } from "./notification-parts.ts";
import type { ConsoleFiles } from "../http/console.ts";
import type { Draining } from "../http/draining.ts";
import type { Limits } from "../http/rate-limit.ts";
import type { TrustedProxies } from "../http/trusted-proxies.ts";
import type { Outside } from "../base/pinned-request.ts";

/** The means and settings that a server is put together from. */
export type AppDependencies = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: RandomBytes;
  /** The secret from which instance keys are derived and with which secrets are encrypted; the same at every start. */
  readonly secret: Buffer;
  readonly limits: Limits;
  readonly trustedProxies: TrustedProxies;
  /** Milliseconds for which a host may be cut off before it stops its instances. */
  readonly leaseMs?: number;
  /** The number of hosts that this server simulates; absent when it offers real ones. */
  readonly simulatedHosts?: number | undefined;
  /** Milliseconds that a report without news may wait to be stored with others; none unless given. */
  readonly gatherMs?: number;
  /** Access to instances through this server: the address to listen on, and the name to tell. */
  readonly proxy: { readonly bindHost: string; readonly publicHost: string };
  /** Bytes left on the disk of the data directory; without it `/readyz` does not look. */
  readonly freeBytes?: () => Promise<number>;
  /** True to write a line for each request. */
  readonly hasRequestLog?: boolean;
  /** The number of this version's newest migration; without it `/readyz` does not look for missing ones. */
  readonly newestMigration?: number | undefined;
  /** The percentage of machines whose agents are offered this version of the agent; none unless given. */
  readonly agentUpgradePercent?: number;
  /** The notice that this server is about to stop; without it nothing is told before the end. */
  readonly draining?: Draining | undefined;
  /** The issuer of invoices; without it they name none. */
  readonly seller?: Seller;
  /** The way in which cards are charged and hosts are paid; without it only administrators do so by hand. */
  readonly payments?: PaymentSettings;
  /** The way in which notifications leave; without it webhooks go to public addresses only, and no mail is sent. */
  readonly notifications?: NotificationSettings;
  /** The folder of backups; without it none are made. */
  readonly backups?: BackupSettings | undefined;
  /** The way to container registries; without it that of webhooks. */
  readonly registries?: Outside;
  /** Sends text messages; without it none are sent. */
  readonly sms?: SmsSender | undefined;
  /** The issuer of single sign-on; without it there is none. */
  readonly sso?: SsoSettings | undefined;
  /** True, as by default, when anybody may make an account. */
  readonly isSignupOpen?: boolean;
  /** The environment that the settings come from, as administrators are shown them. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The build of the web console; without it its pages say that there is none. */
  readonly console?: ConsoleFiles | undefined;
  /** The way in which people without an account get one; without it that of `isSignupOpen`. */
  readonly signUp?: BrowserSettings["signUp"];
  /** Names that are served with certificates; without it no certificate is read or ordered. */
  readonly tls?: NameSettings | undefined;
  /** Host names of instances' ports; without it there are none. */
  readonly portNames?: { readonly domain: string; readonly suffix: string } | undefined;
  /** This process among the servers of its database; absent where it is the only one, as in tests. */
  readonly server?: ThisServer;
};
