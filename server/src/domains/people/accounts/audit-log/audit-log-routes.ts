import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { ACCOUNT_TAGS, type AccountPorts } from "../route-ports.ts";
import { AUDIT_LOG_ENTRY } from "../schema.ts";
import { viewAuditRecord } from "../views.ts";
import { planAuditPage, writeAuditToken } from "./search-plan.ts";
import { listEventValues, searchAuditEvents, type EventFound, type EventKey } from "./search-store.ts";

const Text = Type.Optional(Type.String());
const key = Type.String({
  description: "The six characters of the key that are kept for display; empty without a key",
  examples: ["Ab3xYz"],
});
const keyType = Type.String({
  description: "`api`, `team` for a member's key of a team, or `instance`; empty without a key",
  examples: ["api"],
});

const AuditPageQuery = Type.Object({
  limit: Type.Optional(Type.Number()),
  after_token: Text,
  order_by: Text,
  select_cols: Text,
  select_filters: Text,
});
const AuditPageRow = model("AuditLogRow", {
  id: Type.Integer({ description: "Id of the entry", examples: [90_211] }),
  user_id: Type.Integer({ description: "Id of the person who acted", examples: [7] }),
  ...AUDIT_LOG_ENTRY,
  key,
  key_type: keyType,
  key_status: Type.String({
    description: "`active`, or `deleted` for a key that opens nothing any more; empty without a key",
    examples: ["active"],
  }),
  email: Type.String({ description: "E-mail address of the person who acted", examples: ["renter@example.com"] }),
  name: Type.String({ description: "Name of the person who acted", examples: ["Ada Example"] }),
});
const AuditPageResponse = Type.Object({
  success: Type.Literal(true),
  total_logs: Type.Integer({ description: "Number of entries on all pages", examples: [120] }),
  logs_found: Type.Integer({ description: "Number of entries on this page", examples: [25] }),
  audit_logs: Type.Array(Type.Partial(AuditPageRow, { title: "AuditLogRow" }), {
    description: "Entries, the newest first by default; with `select_cols` only some of their fields",
  }),
  next_token: Type.Union([Type.String(), Type.Null()]),
});

const AuditFiltersResponse = model("AuditLogFilters", {
  success: Type.Boolean({ description: "True when the log has entries", examples: [true] }),
  msg: Type.Optional(Type.String({ description: "A sentence when the log has no entries" })),
  users: Type.Record(
    Type.String(),
    model("AuditLogUser", {
      email: Type.String(),
      name: Type.String({ description: "Name of the person", examples: ["Ada Example"] }),
      apikey_ids: Type.Array(Type.Integer(), { description: "Ids of the person's keys", examples: [[5]] }),
    }),
    { description: "The people who acted, by their ids" },
  ),
  keys: Type.Record(Type.String(), model("AuditLogKey", { key, key_type: keyType }), {
    description: "The keys that were used, by their ids",
  }),
  api_routes: Type.Array(Type.String(), { description: "Operations, in order", examples: [["api.apikey.create"]] }),
  ip_addresses: Type.Array(Type.String(), { description: "IP addresses, in order", examples: [["203.0.113.7"]] }),
});

/** Routes for the audit log of the caller: its pages, and the values by which it can be filtered. */
export function auditLogRoutes({ app, database }: HttpScope, { actLog }: Pick<AccountPorts, "actLog">): void {
  app.get(
    "/api/v1/audit_logs/",
    {
      config: { access: { operation: "api.audit_log.page", permission: "misc" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Show the audit log of own account, page by page",
        querystring: AuditPageQuery,
        response: { 200: AuditPageResponse },
      },
    },
    async (request) => {
      await actLog.flush();
      const { columns, ...plan } = planAuditPage(request.query);
      const query = { ...plan, limit: plan.limit + 1 };
      const { events, total } = await searchAuditEvents(database.kysely, identityOf(request).userId, query);
      const page = events.slice(0, plan.limit);
      const last = page.at(-1);
      return {
        success: true as const,
        total_logs: total,
        logs_found: page.length,
        audit_logs: page.map(viewEvent).map((row) => (columns === undefined ? row : pick(row, columns))),
        next_token: events.length > plan.limit && last !== undefined ? writeAuditToken(last.id) : null,
      };
    },
  );
  app.get(
    "/api/v0/audit_log_filters/",
    {
      config: { access: { operation: "api.audit_log.filters", permission: "misc" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Show the values by which own audit log can be filtered",
        response: { 200: AuditFiltersResponse },
      },
    },
    async (request) => {
      await actLog.flush();
      const { actors, keys, actions, ipAddresses } = await listEventValues(database.kysely, identityOf(request).userId);
      const people = actors.map(({ id, email, name, keyIds }) => [id, { email, name, apikey_ids: [...keyIds] }]);
      return {
        success: actors.length > 0,
        ...(actors.length > 0 ? {} : { msg: "Nothing was logged for this account yet." }),
        users: Object.fromEntries(people),
        keys: Object.fromEntries(keys.map((one) => [one.id, { key: one.shown, key_type: one.type }])),
        api_routes: [...actions],
        ip_addresses: [...ipAddresses],
      };
    },
  );
}

function viewEvent(event: EventFound): Static<typeof AuditPageRow> {
  return {
    id: Number(event.id),
    user_id: event.actorId,
    ...viewAuditRecord(event),
    ...viewKey(event.key),
    email: event.email,
    name: event.name,
  };
}

function viewKey(used: EventKey | undefined) {
  if (used === undefined) return { key: "", key_type: "", key_status: "" };
  return { key: used.shown, key_type: used.type, key_status: used.isLive ? "active" : "deleted" };
}

function pick(row: Static<typeof AuditPageRow>, columns: ReadonlySet<string>) {
  return Object.fromEntries(Object.entries(row).filter(([name]) => columns.has(name)));
}
