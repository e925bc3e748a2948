import { sql, type RawBuilder } from "kysely";
import { invariant } from "../../../../base/invariant.ts";
import type { ColumnTypes, Filter } from "../../../../base/filters/filter.ts";
import type { ApiKeyId, UserId } from "../../../../base/ids.ts";
import { conditionSql, type SqlColumn } from "../../../../db/filter-sql.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { AuditRecord } from "./store.ts";

/** The newest events of an account that a search covers, so that it ends. */
const SEARCHED_MAX = 100_000;
/** Values of one kind in a list of filters. */
const VALUES_MAX = 1_000;

/** Columns by which events can be found. */
export const EVENT_COLUMNS = {
  id: { type: "integer" },
  user_id: { type: "integer" },
  api_key_id: { type: "integer" },
  ip_address: { type: "text" },
  api_route: { type: "text" },
  created_at: { type: "time" },
} as const satisfies ColumnTypes;

const EXPRESSIONS: Readonly<Record<keyof typeof EVENT_COLUMNS, RawBuilder<unknown>>> = {
  id: sql`e.id`,
  user_id: sql`e.actor_id`,
  api_key_id: sql`e.api_key_id`,
  ip_address: sql`e.ip_address`,
  api_route: sql`e.action`,
  created_at: sql`extract(epoch from e.created_at)::float8`,
};

/** The kind of a key: of a person, of a member of a team, or inside an instance. */
export type KeyType = "api" | "team" | "instance";

/** The key of an event: the part that is kept for display, its kind, and whether it opens anything. */
export type EventKey = { readonly shown: string; readonly type: KeyType; readonly isLive: boolean };

/** An event with the person behind it, and the key, if there was one. */
export type EventFound = AuditRecord & {
  readonly id: bigint;
  readonly actorId: UserId;
  readonly key: EventKey | undefined;
  readonly email: string;
  readonly name: string;
};

/** SQL: the newest events of an account as `e`, each with the person who acted: in a team the key's member. */
const eventsOf = (userId: UserId) => sql`(
  select newest.*, k.key_prefix, k.deleted_at as key_deleted_at, coalesce(k.member_id, newest.user_id) as actor_id,
    case when k.id is null then null when k.instance_id is not null then 'instance'
      when k.member_id is not null then 'team' else 'api' end as key_type
  from (
    select id, user_id, api_key_id, ip_address, action, arguments, created_at from audit_events
    where user_id = ${userId}::integer order by id desc limit ${SEARCHED_MAX}::integer
  ) as newest
  left join api_keys k on k.id = newest.api_key_id
) as e`;

/** One page of an account's events after a place, and the number of all that match. */
export async function searchAuditEvents(
  db: Reader,
  userId: UserId,
  query: {
    readonly filters: readonly Filter[];
    readonly isNewestFirst: boolean;
    readonly after: bigint | undefined;
    readonly limit: number;
  },
): Promise<{ readonly events: readonly EventFound[]; readonly total: number }> {
  const conditions = query.filters.map((filter) => conditionSql(filter, columnOf(filter.column)));
  const matches = conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
  const [comparison, direction] = query.isNewestFirst ? [sql`<`, sql`desc`] : [sql`>`, sql`asc`];
  const { rows } = await sql<{
    readonly id: bigint;
    readonly actor_id: UserId;
    readonly api_key_id: ApiKeyId | null;
    readonly key_prefix: string | null;
    readonly key_type: KeyType | null;
    readonly key_deleted_at: Date | null;
    readonly ip_address: string;
    readonly action: string;
    readonly arguments: AuditRecord["args"];
    readonly created_at: Date;
    readonly email: string;
    readonly name: string;
  }>`
    select e.*, u.email, coalesce(nullif(u.fullname, ''), u.username) as name
    from ${eventsOf(userId)} join users u on u.id = e.actor_id
    where ${matches} and (${query.after ?? null}::bigint is null or e.id ${comparison} ${query.after ?? null}::bigint)
    order by e.id ${direction}
    limit ${query.limit}::integer
  `.execute(db);
  const counted = await sql<{ total: number }>`
    select count(*)::integer as total from ${eventsOf(userId)} where ${matches}
  `.execute(db);
  const events = rows.map((row): EventFound => ({
    id: row.id,
    actorId: row.actor_id,
    apiKeyId: row.api_key_id ?? undefined,
    key: keyOf(row),
    ipAddress: row.ip_address,
    action: row.action,
    args: row.arguments,
    createdAt: row.created_at,
    email: row.email,
    name: row.name,
  }));
  return { events, total: counted.rows[0]?.total ?? 0 };
}

const SHOWN_CHARACTERS = 6;

function keyOf(row: {
  readonly key_prefix: string | null;
  readonly key_type: KeyType | null;
  readonly key_deleted_at: Date | null;
}): EventKey | undefined {
  if (row.key_type === null) return undefined;
  const shown = (row.key_prefix ?? "").slice(-SHOWN_CHARACTERS);
  return { shown, type: row.key_type, isLive: row.key_deleted_at === null };
}

/** The values by which an account's events can be told apart. */
export type EventValues = {
  readonly actors: readonly {
    readonly id: UserId;
    readonly email: string;
    readonly name: string;
    readonly keyIds: readonly ApiKeyId[];
  }[];
  readonly keys: readonly (EventKey & { readonly id: ApiKeyId })[];
  readonly actions: readonly string[];
  readonly ipAddresses: readonly string[];
};

/** The different values of an account's newest events, each kind in its order and at most a thousand. */
export async function listEventValues(db: Reader, userId: UserId): Promise<EventValues> {
  const { rows: keys } = await sql<{
    readonly id: ApiKeyId | null;
    readonly actor_id: UserId;
    readonly key_prefix: string | null;
    readonly key_type: KeyType | null;
    readonly key_deleted_at: Date | null;
    readonly email: string;
    readonly name: string;
  }>`
    select distinct e.api_key_id as id, e.actor_id, e.key_prefix, e.key_type, e.key_deleted_at, u.email,
      coalesce(nullif(u.fullname, ''), u.username) as name
    from ${eventsOf(userId)} join users u on u.id = e.actor_id
    order by e.actor_id, e.api_key_id limit ${VALUES_MAX}::integer
  `.execute(db);
  const textsOf = async (column: "action" | "ip_address") => {
    const { rows } = await sql<{ readonly value: string }>`
      select distinct e.${sql.ref(column)} collate "C" as value from ${eventsOf(userId)}
      order by 1 limit ${VALUES_MAX}::integer
    `.execute(db);
    return rows.map(({ value }) => value);
  };
  const [actions, ipAddresses] = [await textsOf("action"), await textsOf("ip_address")];
  return {
    actors: [...Map.groupBy(keys, (row) => row.actor_id)].map(([id, own]) => ({
      id,
      email: own[0]?.email ?? "",
      name: own[0]?.name ?? "",
      keyIds: own.flatMap((row) => row.id ?? []),
    })),
    keys: keys.flatMap((row) => {
      const key = keyOf(row);
      return key === undefined || row.id === null ? [] : [{ ...key, id: row.id }];
    }),
    actions,
    ipAddresses,
  };
}

function columnOf(name: string): SqlColumn {
  const column = Object.keys(EXPRESSIONS).find((known) => known === name) as keyof typeof EXPRESSIONS | undefined;
  invariant(column !== undefined, `${name} is not a column of the audit log`);
  return { type: EVENT_COLUMNS[column].type, expression: EXPRESSIONS[column] };
}
