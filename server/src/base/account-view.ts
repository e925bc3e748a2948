import type { RouteAccess } from "./access.ts";
import { forbidden, type AppError } from "./errors.ts";
import type { AccountView, Identity } from "./identity.ts";

/** Searches whose body has their conditions. Everything else that is no GET changes something. */
const SEARCHES: ReadonlySet<string> = new Set([
  "api.cluster.search",
  "api.network_volume.search",
  "api.offer.search",
  "api.offer.search_asks",
  "api.volume.search",
]);

/**
 * Reads of an account that an administrator may see. Reads that are not named here are refused: files, terminals and
 * backups, what opens something, and each new operation until somebody has thought about it.
 */
const SHOWN: ReadonlySet<string> = new Set(
  `
  announcement.list arrears.show audit_log.filters audit_log.list audit_log.page apikey.list benchmark.search
  billing.autobill billing.cards billing.charges billing.charges_chart billing.export_charges billing.export_invoices
  billing.invoices billing.list_all_documents billing.list_documents billing.list_invoices billing.payments
  billing.payout_method billing.payouts billing.returned billing.search_invoices billing.show_any_document
  billing.show_any_document_page billing.show_any_document_pdf billing.show_document billing.show_document_page
  billing.show_document_pdf billing.spend_days billing.spend_forecast cap.list cloud.integrations cloud.list cluster.list
  deployment.list deployment.show deployment.versions earnings.chart earnings.data earnings.page earnings.show
  earnings.summary endpoint.events endpoint.history endpoint.list endpoint.show endpoint.spend event.follow host.list
  host_flag.list host_token.list instance.count instance.counts instance.deposit instance.events instance.filters
  instance.list instance.list_price_increases instance.list_ssh_keys instance.lite instance.measurements instance.metrics
  instance.page instance.show instance.sparks machine.calendar machine.earnings machine.error_count machine.errors
  machine.list machine.maintenances machine.measurements machine.page machine.price_hint machine.reliability
  machine.reports machine.show machine.verification market.bid_history market.history metrics.gpu_current
  metrics.gpu_history metrics.gpu_locations metrics.gpu_prices network_disk.list notice.list notification_preference.show
  notification_type.list offer.bid_history offer.gpu_names offer.gpu_type offer.gpu_types offer.query offer.query_asks
  overlay.list passkey.list saved_search.list schedule.list schedule.runs secret.list session.list ssh_key.list
  standing_request.list standing_request.show subaccount.list team.list template.choices template.docker_tags
  template.for_workers template.library template.outlook template.page template.params template.recent template.search
  template.versions tfa.status user.ipaddrs user.settings user.show user.spend_rate volume.list webhook.list
  workergroup.list workergroup.spend
  `
    .trim()
    .split(/\s+/)
    .map((name) => `api.${name}`),
);

/** Members of answers that are a secret, or may hold one. They are blank in a view. */
const BLANKED: ReadonlySet<string> = new Set([
  ...["api_key", "args_str", "default_job", "docker_login_repo", "docker_login_user", "env", "extra_env"],
  ...[
    "image_args",
    "image_login",
    "jupyter_token",
    "key_params",
    "launch_args",
    "onstart",
    "request_body",
    "webhook_url",
  ],
]);

/** The refusal of what an administrator who sees an account as its person may not do, if any. */
export function refuseInView(
  { view }: Identity,
  { method, now }: { readonly method: string; readonly now: Date },
  { operation }: RouteAccess,
): AppError | undefined {
  if (view === undefined) return undefined;
  if (view.endsAt <= now) return viewOver(view);
  const isRead = method === "GET" || method === "HEAD" || SEARCHES.has(operation);
  if (!isRead) {
    const message = `You see account ${view.userId} as its person does, and nothing can be changed in this view. Leave it to act.`;
    return forbidden(message, "view_is_read_only");
  }
  if (SHOWN.has(operation) || SEARCHES.has(operation)) return undefined;
  const message = `You see account ${view.userId} as its person does. This is for its person alone, so the view does not show it.`;
  return forbidden(message, "not_in_view");
}

/** The answer without its secrets, as a view shows it. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isPlain(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    BLANKED.has(name) ? blank(member) : withoutSecrets(member),
  ]);
  return Object.fromEntries(members);
}

/** The time of a view is over; its session is not the administrator's own again until its browser has left the view. */
function viewOver({ userId }: AccountView): AppError {
  return forbidden(
    `Your view of account ${userId} has ended. Leave it, and begin another one if you need to.`,
    "view_over",
  );
}

/** An empty value of the same type, so that the answer keeps its shape. */
function blank(value: unknown): unknown {
  if (typeof value === "string") return "";
  if (Array.isArray(value)) return [];
  return isPlain(value) ? {} : null;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
