import { sql, type Selectable } from "kysely";
import { asId, type UserId, type WebhookId } from "../../../base/ids.ts";
import type { WebhooksTable } from "../../../db/tables.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { Webhook } from "./rules/webhook.ts";

const COLUMNS = ["id", "user_id", "name", "url", "event_types", "created_at", "updated_at"] as const;

/** Reserves the id of a webhook that is about to be inserted: its secret is encrypted for that id. */
export async function reserveWebhookId(tx: Tx): Promise<WebhookId> {
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence('webhooks', 'id'))::integer as id
  `.execute(tx.db);
  return asId<WebhookId>(rows[0]?.id ?? 0);
}

export type NewWebhook = Pick<Webhook, "id" | "userId" | "name" | "url" | "eventTypes"> & {
  readonly encryptedSecret: string;
};

export async function insertWebhook(tx: Tx, webhook: NewWebhook): Promise<Webhook> {
  const row = await tx.db
    .insertInto("webhooks")
    .values({
      id: webhook.id,
      user_id: webhook.userId,
      name: webhook.name ?? null,
      url: webhook.url,
      event_types: [...webhook.eventTypes],
      sealed_secret: webhook.encryptedSecret,
      created_at: tx.now,
      updated_at: tx.now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  return toWebhook(row);
}

/** A user's webhooks, the oldest first. */
export async function listWebhooks(db: Reader, userIds: readonly UserId[]): Promise<readonly Webhook[]> {
  const rows = await db
    .selectFrom("webhooks")
    .select(COLUMNS)
    .where("user_id", "=", sql<UserId>`any(${userIds}::integer[])`)
    .orderBy("user_id")
    .orderBy("id")
    .execute();
  return rows.map(toWebhook);
}

/** Changes a webhook; undefined when this user has none of this id. */
export async function updateWebhook(
  tx: Tx,
  {
    id,
    userId,
    ...changes
  }: Pick<Webhook, "id" | "userId"> & {
    readonly name?: string | null;
    readonly url?: string;
    readonly eventTypes?: readonly string[];
    readonly encryptedSecret?: string;
  },
): Promise<Webhook | undefined> {
  const { name, url, eventTypes, encryptedSecret } = changes;
  const row = await tx.db
    .updateTable("webhooks")
    .set({
      updated_at: tx.now,
      ...(name === undefined ? {} : { name }),
      ...(url === undefined ? {} : { url }),
      ...(eventTypes === undefined ? {} : { event_types: [...eventTypes] }),
      ...(encryptedSecret === undefined ? {} : { sealed_secret: encryptedSecret }),
    })
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row === undefined ? undefined : toWebhook(row);
}

/** Deletes a webhook with its open deliveries; false when this user has none of this id. */
export async function deleteWebhook(tx: Tx, userId: UserId, id: WebhookId): Promise<boolean> {
  const result = await tx.db
    .deleteFrom("webhooks")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** URLs of these webhooks, and the secrets that sign their requests. */
export async function listTargets(
  db: Reader,
  ids: readonly WebhookId[],
): Promise<
  ReadonlyMap<WebhookId, { readonly userId: UserId; readonly url: string; readonly encryptedSecret: string }>
> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("webhooks")
    .select(["id", "user_id", "url", "sealed_secret"])
    .where("id", "=", sql<WebhookId>`any(${ids}::integer[])`)
    .execute();
  return new Map(
    rows.map((row) => [row.id, { userId: row.user_id, url: row.url, encryptedSecret: row.sealed_secret }]),
  );
}

/** The context that a webhook's secret is encrypted for. */
export function encryptionContextOf(id: WebhookId): string {
  return `webhook ${id}`;
}

function toWebhook(row: Pick<Selectable<WebhooksTable>, (typeof COLUMNS)[number]>): Webhook {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name ?? undefined,
    url: row.url,
    eventTypes: row.event_types,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
