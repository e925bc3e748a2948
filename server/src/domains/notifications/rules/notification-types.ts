import type { NotificationKind } from "../notification-store.ts";

export type Channels = { readonly email: boolean; readonly webhooks: boolean };

/** A notification type as the list of types shows it. */
export type NotificationType = {
  readonly key: NotificationKind;
  readonly slug: string;
  readonly context: "client" | "host";
  readonly topic: string;
  readonly displayName: string;
  readonly defaults: Channels;
  /** Too important to be switched off. */
  readonly isEmailMandatory: boolean;
};

type Way = "mandatory" | "mail" | "quiet";

/**
 * Slugs beside their names, in the published groups. Quiet types go only to users who ask for them. A type that is
 * never sent is not listed: a user who chose it would wait for it.
 */
const CLIENT: readonly (readonly [topic: string, slug: string, displayName: string, way: Way])[] = [
  ["account", "team_invite", "Invitation to a team", "mandatory"],
  ["account", "team_ownership", "Ownership of a team", "mandatory"],
  ["account", "account_frozen", "Account frozen", "mandatory"],
  ["account", "account_unfrozen", "Freeze lifted", "mandatory"],
  ["account", "administrator_acted", "Act of an administrator, for administrators", "mail"],
  ["account", "account_seen", "Looked at by an administrator", "mandatory"],
  ["account", "session_reused", "Session ended, since its cookie was copied", "mandatory"],
  ["account", "email_lost", "Address proven by another account", "quiet"],
  ["account", "scheduled_job_failed", "Scheduled job failed or missed", "mail"],
  ["billing", "low_credit", "Low credit", "mail"],
  ["billing", "cap_nearly_reached", "Spending cap nearly reached", "mail"],
  ["billing", "traffic_limit_reached", "Traffic limit reached", "mandatory"],
  ["billing", "cap_reached", "Spending cap reached", "mail"],
  ["billing", "data_deletion_scheduled", "Data about to be deleted", "mandatory"],
  ["billing", "data_deleted", "Data deleted", "mandatory"],
  ["billing", "payment_receipt", "Payment receipt", "mail"],
  ["billing", "billing_failed", "Payment failed", "mandatory"],
  ["billing", "payment_taken_back", "Payment taken back", "mandatory"],
  ["billing", "account_corrected", "Correction booked", "mandatory"],
  ["billing", "credit_taken_back", "Credit taken back", "mandatory"],
  ["billing", "credit_transfer_received", "Credit received", "mail"],
  ["instance", "instance_created", "Instance created", "quiet"],
  ["instance", "instance_started", "Instance started", "quiet"],
  ["instance", "instance_stopped", "Instance stopped", "quiet"],
  ["instance", "instance_resumed", "Instance resumed", "quiet"],
  ["instance", "instance_deleted", "Instance deleted", "quiet"],
  ["instance", "outbid", "Outbid", "mail"],
  ["instance", "maintenance_scheduled", "Maintenance scheduled", "mail"],
  ["instance", "stopped_by_operator", "Stopped by an administrator", "mandatory"],
  ["instance", "move_asked", "Asked to move from a machine", "mandatory"],
  ["instance", "instance_offline", "Instance offline", "mail"],
  ["instance", "instance_online", "Instance online again", "mail"],
  ["instance", "expiring_soon", "Contract ends soon", "mail"],
  ["instance", "instance_credited", "Credited for a host's fault", "mail"],
  ["instance", "contract_extended", "Contract extended", "quiet"],
  ["instance", "workers_too_dear", "Worker group waits for a lower price", "mail"],
];

const HOST: typeof CLIENT = [
  ["machine", "machine_offline", "Machine offline", "mail"],
  ["machine", "machine_online", "Machine online again", "mail"],
  ["machine", "verification_failed", "Verification lost", "mail"],
  ["machine", "machine_error", "Machine error", "mail"],
  ["machine", "host_flagged", "Host flagged", "mandatory"],
  ["machine", "machine_unlisted", "Taken off the market by an administrator", "mandatory"],
  ["machine", "machine_reported", "Machine reported by a renter", "mail"],
  ["listing", "listing_lowered", "Listing brought down to a ceiling", "mail"],
  ["listing", "listing_ending", "Listing ends soon", "mail"],
  ["listing", "maintenance_scheduled", "Maintenance scheduled", "quiet"],
  ["billing", "payout_scheduled", "Payout scheduled", "mail"],
  ["billing", "payout_sent", "Payout sent", "mail"],
  ["billing", "payout_failed", "Payout failed", "mandatory"],
  ["billing", "payout_held", "Payouts held", "mandatory"],
  ["billing", "payout_released", "Payouts go on", "mail"],
  ["billing", "earnings_taken_back", "Earnings taken back", "mandatory"],
  ["billing", "earnings_released", "Earnings released", "mail"],
];

const typesOf = (context: "client" | "host", rows: typeof CLIENT): readonly NotificationType[] =>
  rows.map(([topic, slug, displayName, way]) => ({
    key: `${context}:${slug}`,
    slug,
    context,
    topic,
    displayName,
    defaults: { email: way !== "quiet", webhooks: false },
    isEmailMandatory: way === "mandatory",
  }));

export const NOTIFICATION_TYPES: readonly NotificationType[] = [...typesOf("client", CLIENT), ...typesOf("host", HOST)];

const BY_KEY: ReadonlyMap<string, NotificationType> = new Map(NOTIFICATION_TYPES.map((type) => [type.key, type]));

export function findNotificationType(key: string): NotificationType | undefined {
  return BY_KEY.get(key);
}

/** The part of a kind that receivers read: `low_credit` of `client:low_credit`. */
export function slugOf(kind: string): string {
  return kind.slice(kind.indexOf(":") + 1);
}
