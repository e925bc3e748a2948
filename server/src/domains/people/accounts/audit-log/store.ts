import { canonical } from "../../../../base/facts.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { ApiKeyId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** The actor: the identity of the request, or the user alone where no key was used. */
export type AuditActor = Pick<Identity, "userId"> & {
  readonly apiKeyId?: ApiKeyId;
  /** The member who acted, when the user is a team. */
  readonly memberId?: UserId | undefined;
};

/** One act. `args` never holds a secret: it names the objects of the act and does not copy the request. */
type AuditEvent = {
  readonly ipAddress: string;
  /** The operation, such as `api.user.update`. */
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
};

export type AuditRecord = AuditEvent & { readonly apiKeyId: ApiKeyId | undefined; readonly createdAt: Date };

/** The whole event as one text, for the digest in its fact. */
export function auditEventText(event: AuditRecord & { readonly userId: UserId }): string {
  const { userId, apiKeyId, ipAddress, action, args, createdAt } = event;
  return canonical([
    userId,
    apiKeyId ?? null,
    ipAddress,
    action,
    JSON.parse(JSON.stringify(args)),
    createdAt.toISOString(),
  ]);
}

/** Stores an act and its actor, in the transaction of the act. */
export async function recordAudit(tx: Tx, actor: AuditActor, { ipAddress, action, args }: AuditEvent): Promise<void> {
  const noted = actor.memberId === undefined ? args : { ...args, member_id: actor.memberId };
  const row = await tx.db
    .insertInto("audit_events")
    .values({
      user_id: actor.userId,
      api_key_id: actor.apiKeyId ?? null,
      ip_address: ipAddress,
      action,
      arguments: JSON.stringify(noted),
      created_at: tx.now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  const event = { userId: actor.userId, apiKeyId: actor.apiKeyId, ipAddress, action, args: noted, createdAt: tx.now };
  const content = { user: actor.userId, action, row: tx.digest(auditEventText(event)) };
  tx.noteFact({ kind: "audit_event", subject: String(row.id), content });
}

/** The newest `limit` events of the user, newest first. */
export async function listAuditEvents(db: Reader, userId: UserId, limit: number): Promise<readonly AuditRecord[]> {
  const rows = await db
    .selectFrom("audit_events")
    .select(["api_key_id", "ip_address", "action", "arguments", "created_at"])
    .where("user_id", "=", userId)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    apiKeyId: row.api_key_id ?? undefined,
    ipAddress: row.ip_address,
    action: row.action,
    args: row.arguments as AuditEvent["args"],
    createdAt: row.created_at,
  }));
}
