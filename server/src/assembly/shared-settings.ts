import { formatDollars, nanos, NANOS_PER_DOLLAR } from "../base/money.ts";
import type { Config } from "./config.ts";
import type { SharedSettings } from "../domains/servers/index.ts";

const PPM_PER_PERCENT = 10_000;
const BYTES_PER_GB = 1_000_000_000;

/** Settings that must be alike on all servers of one database, since each of them acts for all. Secrets are left out. */
export function sharedSettings(config: Config): SharedSettings {
  const { proxyPorts, payments, notifications, seller, backups } = config;
  return {
    BERTH_LEASE_SECONDS: String(config.leaseMs / 1000),
    BERTH_NOTICE_SECONDS: String(config.noticeMs / 1000),
    BERTH_MIN_SLICE_SECONDS: String(config.minSliceMs / 1000),
    BERTH_PROXY_PORTS: proxyPorts === undefined ? "off" : `${proxyPorts.first}-${proxyPorts.last}`,
    BERTH_PLATFORM_FEE_PERCENT: String(payments.feePpm / PPM_PER_PERCENT),
    BERTH_GRANTED_EARNINGS: String(payments.grantedAfterDays ?? "held"),
    BERTH_CARD_HOLD_DAYS: String(payments.cardHoldDays),
    BERTH_TRAFFIC_PRICE_MAX: formatDollars(config.priceCeilings.trafficNanosPerGb),
    BERTH_STORAGE_PRICE_MAX: formatDollars(config.priceCeilings.storageNanosPerGbMonth),
    BERTH_TRAFFIC_LIMIT_BASE: formatDollars(nanos(config.trafficRules.baseNanos)),
    BERTH_TRAFFIC_LIMIT_PERCENT: String(config.trafficRules.sharePermille / 10),
    BERTH_ARREARS_LIMIT: String(config.arrearsLimit / NANOS_PER_DOLLAR),
    BERTH_INSTANCES_MAX: String(config.accountLimits.instances),
    BERTH_VOLUMES_MAX: String(config.accountLimits.volumes),
    BERTH_STRIPE_SECRET_KEY: payments.stripe === undefined ? "" : "set",
    BERTH_SMTP_URL: notifications.mail === undefined ? "" : "set",
    BERTH_SMS_URL: config.smsProvider === undefined ? "" : "set",
    BERTH_OIDC_ISSUER: config.sso?.issuer.href ?? "",
    BERTH_OIDC_CLIENT_ID: config.sso?.clientId ?? "",
    BERTH_OIDC_GROUPS_CLAIM: config.sso?.groupsClaim ?? "",
    BERTH_OIDC_GROUP_ROLES: config.sso === undefined ? "" : JSON.stringify([...config.sso.groupRoles]),
    BERTH_BACKUP_DIR: backups === undefined ? "" : "set",
    BERTH_BACKUP_LIMIT_GB: backups === undefined ? "" : String(backups.limitBytes / BYTES_PER_GB),
    BERTH_BACKUP_DAYS: backups === undefined ? "" : String(backups.keptDays),
    BERTH_DOMAIN: config.tls?.domain ?? "",
    BERTH_PORTS_DOMAIN: config.portNames?.domain ?? "",
    BERTH_OPEN_SIGNUP: config.isSignupOpen ? "1" : "0",
    BERTH_SIGN_UP: config.signUp,
    BERTH_TAX_PERCENT: String(seller.taxPpm / PPM_PER_PERCENT),
    BERTH_SELLER_NAME: seller.name,
    BERTH_INVOICE_PREFIX: seller.numberPrefix,
    BERTH_SELF_BILLING: seller.isSelfBilling ? "1" : "0",
  };
}
